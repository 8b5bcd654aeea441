// Plays recordings into xterm.js and tells which rows it shows differently.
const { Terminal } = require(process.env.XTERM);

const plain = (text) => text.replace(/[\u0300-\u036f]/g, "").trimEnd();

async function play({ events, rows }) {
  const [width, height] = events[0].resize;
  const terminal = new Terminal({ cols: width, rows: height, scrollback: 100000, allowProposedApi: true });
  for (const { write, resize } of events.slice(1)) {
    if (resize) terminal.resize(...resize);
    else await new Promise((done) => terminal.write(write, done));
  }
  const buffer = terminal.buffer.active;
  const shown = Array.from({ length: buffer.length }, (_, at) => plain(buffer.getLine(at).translateToString(true)));
  const count = Math.max(shown.length, rows.length);
  for (let at = 0; at < count; at++) {
    const [found, wanted] = [shown[at] ?? "", plain(rows[at] ?? "")];
    if (found !== wanted) return `row ${at} is ${JSON.stringify(found)} rather than ${JSON.stringify(wanted)}`;
  }
}

async function main() {
  const recordings = JSON.parse(require("fs").readFileSync(0, "utf8"));
  for (const recording of recordings) {
    const wrong = await play(recording);
    if (wrong) console.log(`seed ${recording.seed}: ${wrong}`);
  }
  console.log(`${recordings.length} played`);
}

main();
