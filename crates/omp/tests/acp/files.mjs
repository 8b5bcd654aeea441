// The official TypeScript client with files of its own against the built binary. Started by tests/it/acp.rs.
// Environment: ACP_SDK (folder with node_modules), OMP (binary), OMP_ARGS (JSON list), PROJECT (working folder).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const sdk = join(process.env.ACP_SDK, "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js");
const acp = await import(pathToFileURL(sdk).href);
const { agent: to, client: from } = acp.methods;
// The folder under another name than its own: files are asked for by the name that the client gave.
const cwd = `${process.env.PROJECT}-link`;
symlinkSync(process.env.PROJECT, cwd);
const file = join(cwd, "a.txt");

const omp = spawn(process.env.OMP, JSON.parse(process.env.OMP_ARGS), { stdio: ["pipe", "pipe", "inherit"] });
const exit = new Promise((resolve) => omp.on("exit", (code, signal) => resolve(code ?? signal)));
const buffers = new Map([[file, "zero\none\ntwo\nthree\n"]]);
const written = [];
let session;

const app = acp.client({ name: "editor" });
app.onNotification(from.session.update, () => {});
app.onRequest(from.session.requestPermission, ({ params }) => {
  const option = params.options.find((it) => it.kind === "allow_once");
  return { outcome: { outcome: "selected", optionId: option.optionId } };
});
app.onRequest(from.fs.readTextFile, ({ params }) => {
  assert.equal(params.sessionId, session);
  return { content: buffers.get(params.path) ?? readFileSync(params.path, "utf8") };
});
app.onRequest(from.fs.writeTextFile, ({ params }) => {
  assert.equal(params.sessionId, session);
  written.push(params.path);
  buffers.set(params.path, params.content);
  writeFileSync(params.path, params.content);
  return {};
});
const stream = acp.ndJsonStream(Writable.toWeb(omp.stdin), Readable.toWeb(omp.stdout));
await app.connectWith(stream, async (ctx) => {
  const fs = { readTextFile: true, writeTextFile: true };
  // Both are sent at once: the session knows of the files although nobody waited for the first answer.
  const greeting = ctx.request(to.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: { fs } });
  const opened = ctx.request(to.session.new, { cwd, mcpServers: [] });
  assert.equal((await greeting).protocolVersion, acp.PROTOCOL_VERSION);
  session = (await opened).sessionId;
  const prompt = [{ type: "text", text: "change it" }];
  const done = await ctx.request(to.session.prompt, { sessionId: session, prompt });
  assert.equal(done.stopReason, "end_turn");
});
omp.stdin.end();
assert.equal(await exit, 0);
assert.deepEqual(written, [file, join(cwd, "new/b.txt")]);
assert.equal(readFileSync(file, "utf8"), "zero\none\n2\nthree\n");
assert.equal(readFileSync(join(cwd, "new/b.txt"), "utf8"), "b\n");
console.log("ok");
