// A client as other programs have one: waits for `ready`, agrees on version 2, brings a tool, asks, reads, hangs up.
// Usage: node rpc_client.mjs <omp> [arguments]
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
const send = (frame) => child.stdin.write(`${JSON.stringify(frame)}\n`);

const waiting = new Map();
let number = 0;
const ask = (command) =>
  new Promise((resolve, reject) => {
    const id = `req_${++number}`;
    waiting.set(id, (frame) => (frame.success ? resolve(frame.data) : reject(new Error(frame.error))));
    send({ ...command, id });
  });

let ready;
let ended;
const isReady = new Promise((resolve) => (ready = resolve));
const isOver = new Promise((resolve) => (ended = resolve));

const chunks = [];
let text = "";

function handle(frame) {
  if (frame.type === "rpc_chunk") {
    chunks.push(Buffer.from(frame.data, "base64"));
    if (frame.index + 1 < frame.count) return;
    const whole = Buffer.concat(chunks.splice(0));
    if (whole.length !== frame.byteLength) throw new Error("chunks do not make up the frame");
    handle(JSON.parse(whole));
    return;
  }
  if (frame.type === "ready") ready(frame);
  if (frame.type === "response") waiting.get(frame.id)?.(frame);
  if (frame.type === "message_update" && frame.assistantMessageEvent.type === "text_delta") {
    text += frame.assistantMessageEvent.delta;
  }
  if (frame.type === "host_tool_call") {
    const content = [{ type: "text", text: `rain in ${frame.arguments.city}` }];
    send({ type: "host_tool_result", id: frame.id, result: { content } });
  }
  if (frame.type === "agent_end") ended();
}

createInterface({ input: child.stdout }).on("line", (line) => handle(JSON.parse(line)));
child.on("exit", (code) => {
  console.log(`exit ${code}`);
  process.exit(code === 0 ? 0 : 1);
});

await isReady;
await ask({ type: "negotiate_protocol", protocolVersion: 2 });
const parameters = { type: "object", properties: { city: { type: "string" } } };
await ask({ type: "set_host_tools", tools: [{ name: "weather", description: "Tells the weather", parameters }] });
await ask({ type: "prompt", message: "how is the weather?" });
await isOver;
const { messages } = await ask({ type: "get_messages" });
console.log(`text ${text}`);
console.log(`messages ${messages.map((message) => message.role).join(" ")}`);
console.log(`result ${messages[2].content[0].text}`);
child.stdin.end();
