# Runs cells one after the other in one namespace. Requests come as JSON lines on standard input; what a cell prints, and
# whether it failed, goes back as JSON lines on what was standard output. Cells and everything they start get a pipe of
# their own instead, so that nothing they print can be mistaken for an answer.
import ast, codecs, json, linecache, os, sys, threading, traceback

requests = os.fdopen(os.dup(0), "rb")
answers = os.fdopen(os.dup(1), "wb", buffering=0)
# No text begins like this.
end_mark = b"\xff" + os.urandom(15)
printed, printing = os.pipe()
nothing = os.open(os.devnull, os.O_RDONLY)
os.dup2(nothing, 0)
os.dup2(printing, 1)
os.dup2(printing, 2)
os.close(nothing)
os.close(printing)
sys.stdin = open(0, "r", closefd=False)
sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
outcome = {"failed": False}


def answer(frame):
    answers.write(json.dumps(frame).encode() + b"\n")


# How much of the end may be the beginning of a mark.
def begun_mark(data):
    sizes = range(min(len(data), len(end_mark) - 1), 0, -1)
    return next((size for size in sizes if end_mark.startswith(data[-size:])), 0)


def pass_on():
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    kept = b""
    while True:
        data = os.read(printed, 65536)
        if not data:
            return
        kept += data
        while True:
            text, mark, rest = kept.partition(end_mark)
            if not mark:
                safe = len(kept) - begun_mark(kept)
                text, kept = kept[:safe], kept[safe:]
                if text:
                    answer({"text": decoder.decode(text)})
                break
            answer({"text": decoder.decode(text, True), "done": True, "failed": outcome["failed"]})
            decoder.reset()
            kept = rest


def run(source, name, namespace):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), namespace)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        if value is not None:
            namespace["_"] = value
            print(repr(value))


def report():
    kind, error, trace = sys.exc_info()
    # The frames of this driver are nobody's business.
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<cell"):
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


def next_request():
    # An interrupt that comes after its cell has ended must not end everything.
    while True:
        try:
            return requests.readline()
        except KeyboardInterrupt:
            pass


def end_cell():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    os.write(1, end_mark)


def serve():
    namespace = {"__name__": "__main__", "__builtins__": __builtins__}
    sys.path.insert(0, "")
    threading.Thread(target=pass_on, daemon=True).start()
    number = 0
    while line := next_request():
        number += 1
        outcome["failed"] = False
        try:
            run(json.loads(line)["code"], f"<cell {number}>", namespace)
        except SystemExit as stop:
            outcome["failed"] = stop.code not in (None, 0)
        except BaseException:
            outcome["failed"] = True
            report()
        try:
            end_cell()
        except KeyboardInterrupt:
            end_cell()


serve()
