// The official TypeScript client with terminals and forms against the built binary: commands and questions over there, a
// compacted session is told whole, a session is deleted. Started by tests/it/acp.rs; environment as for client.mjs, and
// OLD (id of a session that was compacted),
// HELD and HOLDER (id of a session that another process has open, and that process).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const sdk = join(process.env.ACP_SDK, "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js");
const acp = await import(pathToFileURL(sdk).href);
const { agent: to, client: from } = acp.methods;
const cwd = process.env.PROJECT;

const omp = spawn(process.env.OMP, JSON.parse(process.env.OMP_ARGS), { stdio: ["pipe", "pipe", "inherit"] });
const exit = new Promise((resolve) => omp.on("exit", (code, signal) => resolve(code ?? signal)));
const updates = [];
const terminals = new Map();
const released = [];

/** A command with the editor's own environment, in which there is a key. */
function open({ command, args, env, cwd, outputByteLimit }) {
  const given = Object.fromEntries(env.map((it) => [it.name, it.value]));
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, OPENAI_API_KEY: "sk-editor", ...given },
    detached: true,
  });
  const terminal = { output: "", limit: outputByteLimit };
  // As a terminal does it: everything that runs in it ends.
  terminal.kill = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch (error) {
      assert.equal(error.code, "ESRCH", "it has ended");
    }
  };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (terminal.output += data));
  terminal.ended = new Promise((resolve) =>
    child.on("close", (exitCode, signal) => resolve((terminal.exit = { exitCode, signal }))),
  );
  return terminal;
}

const app = acp.client({ name: "test" });
app.onNotification(from.session.update, ({ params }) => {
  updates.push(params.update);
  onUpdate?.(params.update);
});
let onUpdate;
app.onRequest(from.terminal.create, ({ params }) => {
  const terminalId = `terminal-${terminals.size + 1}`;
  terminals.set(terminalId, open(params));
  return { terminalId };
});
app.onRequest(from.terminal.output, ({ params }) => {
  const { output, exit } = terminals.get(params.terminalId);
  return { output, truncated: false, exitStatus: exit };
});
app.onRequest(from.terminal.waitForExit, ({ params }) => terminals.get(params.terminalId).ended);
app.onRequest(from.terminal.kill, ({ params }) => {
  terminals.get(params.terminalId).kill();
  return {};
});
app.onRequest(from.terminal.release, ({ params }) => {
  terminals.get(params.terminalId).kill();
  released.push(params.terminalId);
  return {};
});

const forms = [];
app.onRequest(from.elicitation.create, ({ params }) => {
  forms.push(params);
  return { action: "accept", content: { choice: ["right"], other: "and up" } };
});

const text = (text) => ({ type: "text", text });
const of = (kind) => updates.filter((it) => it.sessionUpdate === kind);
const said = (kind) => of(kind).map((it) => it.content.text);

const stream = acp.ndJsonStream(Writable.toWeb(omp.stdin), Readable.toWeb(omp.stdout));
await app.connectWith(stream, async (ctx) => {
  const hello = await ctx.request(to.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { terminal: true, elicitation: { form: {} } },
  });
  assert.ok(hello.agentCapabilities.sessionCapabilities.delete);

  // What was compacted away is told too, in order, calls with their results.
  await ctx.request(to.session.load, { sessionId: process.env.OLD, cwd, mcpServers: [] });
  assert.deepEqual(said("user_message_chunk"), ["the very first", "after the summary"]);
  assert.deepEqual(said("agent_message_chunk"), ["I looked."]);
  assert.deepEqual(said("agent_thought_chunk"), ["Hm."]);
  assert.deepEqual(of("tool_call").map((it) => [it.name ?? it.title, it.status]), [["bash", "completed"]]);
  assert.match(JSON.stringify(of("tool_call")[0].content), /old output/);
  await ctx.request(to.session.delete, { sessionId: process.env.OLD });
  await assert.rejects(ctx.request(to.session.load, { sessionId: process.env.OLD, cwd, mcpServers: [] }));
  // One that somebody else writes to stays.
  const held = ctx.request(to.session.delete, { sessionId: process.env.HELD });
  await assert.rejects(held, (error) => error.message.includes(process.env.HOLDER));

  const { sessionId } = await ctx.request(to.session.new, { cwd, mcpServers: [] });
  const prompt = (words) => ctx.request(to.session.prompt, { sessionId, prompt: [text(words)] });

  // Two commands, each in a terminal; the second goes on where the first has left.
  updates.length = 0;
  assert.equal((await prompt("run them")).stopReason, "end_turn");
  assert.deepEqual([...terminals.keys()], ["terminal-1", "terminal-2"]);
  assert.deepEqual(released, ["terminal-1", "terminal-2"]);
  assert.equal(terminals.get("terminal-2").output, "sub [] kept\n");
  const calls = of("tool_call").map((it) => it.toolCallId);
  const shown = of("tool_call_update").filter((it) => it.toolCallId === calls[1] && it.content?.[0]?.type === "terminal");
  assert.ok(shown.length >= 2, "shown while it runs and when it has ended");
  assert.equal(shown.at(-1).content[0].terminalId, "terminal-2");
  assert.match(shown.at(-1).rawOutput.output, /^sub \[\] kept\n/);

  // A question is a form with several options and room for more.
  await prompt("ask me");
  assert.equal(forms[0].message, "Which ways?");
  assert.deepEqual(forms[0].requestedSchema.properties.choice.items.anyOf.map((it) => it.const), ["left", "right"]);

  // Cancelled, a command is killed and its terminal given back.
  onUpdate = (update) => {
    if (update.content?.[0]?.type === "terminal") ctx.notify(to.session.cancel, { sessionId });
  };
  assert.equal((await prompt("wait for ever")).stopReason, "cancelled");
  assert.equal((await terminals.get("terminal-3").ended).signal, "SIGKILL");
  await ctx.request(to.session.close, { sessionId });
  assert.deepEqual(released.slice(2), ["terminal-3"]);
});
omp.stdin.end();
assert.equal(await exit, 0);
console.log("ok");
