// The official TypeScript client against the built binary. Started by tests/it/acp.rs, which scripts the model.
// Environment: ACP_SDK (folder with node_modules), OMP (binary), OMP_ARGS (JSON list), PROJECT (working folder).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const sdk = join(process.env.ACP_SDK, "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js");
const acp = await import(pathToFileURL(sdk).href);
const { agent: to, client: from } = acp.methods;
const cwd = process.env.PROJECT;
const file = join(cwd, "a.txt");

/** Runs `work` as a client of a new omp; resolves when omp has ended, well. */
async function connected(work) {
  const omp = spawn(process.env.OMP, JSON.parse(process.env.OMP_ARGS), { stdio: ["pipe", "pipe", "inherit"] });
  const exit = new Promise((resolve) => omp.on("exit", (code, signal) => resolve(code ?? signal)));
  const seen = { updates: [], permissions: [] };
  seen.answer = () => ({ outcome: { outcome: "cancelled" } });
  const app = acp.client({ name: "test" });
  app.onNotification(from.session.update, ({ params }) => {
    seen.updates.push(params);
    seen.onUpdate?.(params.update);
  });
  app.onRequest(from.session.requestPermission, ({ params }) => {
    seen.permissions.push(params);
    return seen.answer(params);
  });
  const stream = acp.ndJsonStream(Writable.toWeb(omp.stdin), Readable.toWeb(omp.stdout));
  await app.connectWith(stream, async (ctx) => {
    const hello = await ctx.request(to.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
    await work(ctx, seen, hello);
  });
  omp.stdin.end();
  assert.equal(await exit, 0, "omp ends with 0 when its input is closed");
}

const text = (text) => ({ type: "text", text });
const of = (seen, kind) => seen.updates.map((it) => it.update).filter((it) => it.sessionUpdate === kind);
const said = (seen, kind) => of(seen, kind).map((it) => it.content.text).join("");
const diffs = (seen) => seen.updates.flatMap((it) => it.update.content ?? []).filter((it) => it.type === "diff");
const clear = (seen) => (seen.updates.length = seen.permissions.length = 0);
const pick = (kind) => (params) => {
  const option = params.options.find((it) => it.kind === kind);
  return { outcome: { outcome: "selected", optionId: option.optionId } };
};

let first;

await connected(async (ctx, seen, hello) => {
  assert.equal(hello.protocolVersion, 1);
  assert.equal(hello.agentInfo.name, "omp");
  assert.equal(hello.agentCapabilities.loadSession, true);
  assert.deepEqual(hello.agentCapabilities.promptCapabilities, { image: true, audio: false, embeddedContext: true });
  assert.ok(hello.agentCapabilities.sessionCapabilities.list);
  await ctx.request(to.authenticate, { methodId: hello.authMethods[0].id });
  await assert.rejects(ctx.request(to.authenticate, { methodId: "magic" }));

  const session = await ctx.request(to.session.new, { cwd, mcpServers: [] });
  first = session.sessionId;
  assert.equal(session.modes.currentModeId, "ask-all");
  assert.deepEqual(session.modes.availableModes.map((it) => it.id), ["ask-all", "ask-writes", "auto"]);
  assert.deepEqual(session.configOptions.map((it) => it.id), ["mode", "model", "thinking"]);
  const prompt = (...blocks) => ctx.request(to.session.prompt, { sessionId: first, prompt: blocks });

  // Text, an image, a file and a link; thoughts and words stream back.
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";
  const done = await prompt(
    text("what is this?"),
    { type: "image", mimeType: "image/png", data: png },
    { type: "resource", resource: { uri: pathToFileURL(join(cwd, "b.rs")).href, text: "fn b() {}\n" } },
    { type: "resource_link", uri: pathToFileURL(file).href, name: "a.txt" },
  );
  assert.equal(done.stopReason, "end_turn");
  assert.equal(said(seen, "agent_message_chunk"), "A file and a picture.");
  assert.equal(said(seen, "agent_thought_chunk"), "Let me see.");
  assert.ok(of(seen, "available_commands_update")[0].availableCommands.some((it) => it.name === "todo"));

  // A call that is rejected changes nothing.
  clear(seen);
  seen.answer = pick("reject_once");
  assert.equal((await prompt(text("change it"))).stopReason, "end_turn");
  assert.equal(seen.permissions.length, 1);
  const call = of(seen, "tool_call")[0];
  assert.equal(call.kind, "edit");
  assert.equal(seen.permissions[0].toolCall.toolCallId, call.toolCallId);
  assert.equal(of(seen, "tool_call_update").at(-1).status, "failed");
  assert.equal(readFileSync(file, "utf8"), "one\ntwo\nthree\n");

  // Allowed, it is shown as a diff before it runs, and its place is known.
  clear(seen);
  seen.answer = (params) => {
    assert.equal(readFileSync(file, "utf8"), "one\ntwo\nthree\n");
    assert.equal(diffs(seen).at(-1).newText, "one\n2\nthree\n");
    return pick("allow_once")(params);
  };
  await prompt(text("change it, please"));
  assert.equal(readFileSync(file, "utf8"), "one\n2\nthree\n");
  const last = of(seen, "tool_call_update").at(-1);
  assert.equal(last.status, "completed");
  assert.deepEqual(last.content, [{ type: "diff", path: file, oldText: "one\ntwo\nthree\n", newText: "one\n2\nthree\n" }]);
  assert.deepEqual(last.locations, [{ path: file, line: 2 }]);

  // In another mode nobody is asked; output of commands arrives.
  clear(seen);
  await ctx.request(to.session.setMode, { sessionId: first, modeId: "yolo" });
  await assert.rejects(ctx.request(to.session.setMode, { sessionId: first, modeId: "brave" }));
  await prompt(text("run it"));
  assert.equal(seen.permissions.length, 0);
  const ran = of(seen, "tool_call_update").at(-1);
  assert.match(JSON.stringify(ran.content), /hello from bash/);
  assert.equal(of(seen, "tool_call")[0].kind, "execute");

  // A plan, made by the model and then changed by a command.
  clear(seen);
  await prompt(text("plan it"));
  assert.deepEqual(of(seen, "plan").at(-1).entries.map((it) => it.content), ["look", "leap"]);
  await prompt(text("/todo done look"));
  assert.equal(of(seen, "plan").at(-1).entries[0].status, "completed");

  // Settings, by the same command as everywhere.
  clear(seen);
  await prompt(text("/settings compaction.keepRecentTokens 5000"));
  await prompt(text("/settings compaction.keepRecentTokens"));
  assert.match(said(seen, "agent_message_chunk"), /compaction\.keepRecentTokens = 5000 \(user/);

  // Cancelled while the model talks.
  clear(seen);
  seen.onUpdate = (update) => {
    if (update.sessionUpdate === "agent_message_chunk") ctx.notify(to.session.cancel, { sessionId: first });
  };
  assert.equal((await prompt(text("talk for ever"))).stopReason, "cancelled");
  seen.onUpdate = undefined;

  // Errors leave the connection alone.
  await assert.rejects(prompt({ type: "image", mimeType: "image/png", data: "***" }));
  await assert.rejects(ctx.request(to.session.prompt, { sessionId: "nobody", prompt: [text("hi")] }));
  await assert.rejects(ctx.request(to.session.new, { cwd: "relative", mcpServers: [] }));
  await assert.rejects(ctx.request("_nothing/like/that", {}));

  // A second session beside the first.
  const second = await ctx.request(to.session.new, { cwd, mcpServers: [] });
  assert.notEqual(second.sessionId, first);
  clear(seen);
  await ctx.request(to.session.prompt, { sessionId: second.sessionId, prompt: [text("hi")] });
  assert.ok(seen.updates.every((it) => it.sessionId === second.sessionId));
});

// Another process finds both sessions and tells the first one again.
await connected(async (ctx, seen) => {
  const listed = await ctx.request(to.session.list, { cwd });
  assert.equal(listed.sessions.length, 2);
  assert.ok(listed.sessions.some((it) => it.sessionId === first && it.cwd === cwd));
  await assert.rejects(ctx.request(to.session.load, { sessionId: "nobody", cwd, mcpServers: [] }));
  await ctx.request(to.session.load, { sessionId: first, cwd, mcpServers: [] });
  assert.match(said(seen, "user_message_chunk"), /^what is this\?/);
  assert.match(said(seen, "agent_message_chunk"), /^A file and a picture\./);
  const statuses = of(seen, "tool_call").map((it) => it.status);
  assert.deepEqual(statuses.slice(0, 3), ["failed", "completed", "completed"]);
  assert.equal(diffs(seen)[0].newText, "one\n2\nthree\n");
  clear(seen);
  await ctx.request(to.session.prompt, { sessionId: first, prompt: [text("still there?")] });
  assert.equal(said(seen, "agent_message_chunk"), "Still here.");
});

console.log("ok");
