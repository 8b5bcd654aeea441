# A project with Rust, JavaScript and Python in it, a remote and a library beside it, and a copy of all that in ~/plain.
cd ~
git init -q --bare remote.git
git init -q sub
(cd sub && echo library > lib.txt && git add . && git commit -qm library)
cd ~/project
mkdir -p src tests packages/left pkg/greeter
cat > Cargo.toml <<'T'
[package]
name = "sample"
version = "0.1.0"
edition = "2021"
T
printf 'pub fn double(x: i32) -> i32 {\n    2 * x\n}\n\n#[test]\nfn doubles() {\n    assert_eq!(double(2), 4);\n}\n' > src/lib.rs
printf 'fn main() {\n    println!("{}", sample::double(21));\n}\n' > src/main.rs
printf '{"name":"sample","version":"1.0.0","scripts":{"test":"node test.js","build":"node build.js"}}\n' > package.json
printf 'const left = require("left");\nif (left(1) !== 2) process.exit(1);\nconsole.log("tested");\n' > test.js
printf 'require("fs").writeFileSync("bundle.js", "// built\\n");\n' > build.js
printf '{"name":"left","version":"1.0.0","main":"index.js"}\n' > packages/left/package.json
printf 'module.exports = (x) => x + 1;\n' > packages/left/index.js
printf 'def greet(name):\n    return f"hello {name}"\n' > pkg/greeter/__init__.py
printf 'from greeter import greet\n\ndef test_greet():\n    assert greet("you") == "hello you"\n' > tests/test_greeter.py
cat > make_wheel.py <<'T'
import zipfile
with zipfile.ZipFile("greeter-1.0-py3-none-any.whl", "w") as wheel:
    wheel.write("pkg/greeter/__init__.py", "greeter/__init__.py")
    wheel.writestr("greeter-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: greeter\nVersion: 1.0\n")
    wheel.writestr("greeter-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("greeter-1.0.dist-info/RECORD", "")
T
printf 'build:\n\tmkdir -p out && cp src/*.rs out/\ntest: build\n\ttest -f out/lib.rs\nclean:\n\trm -rf out\n' > Makefile
printf 'target/\nnode_modules/\n.venv/\nout/\n.worktrees/\n__pycache__/\n*.whl\n*.log\n*.pid\n*.tgz\n' > .gitignore
printf '#!/bin/sh\necho checked >> checks.log\n' > .git/hooks/pre-commit
printf '#!/bin/sh\ngrep -q . "$1"\n' > .git/hooks/commit-msg
chmod +x .git/hooks/pre-commit .git/hooks/commit-msg
mkdir .vscode && echo '{"a": 1}' > .vscode/settings.json && echo 'export A=1' > .envrc
git add . && git commit -qm sample
git checkout -q -b editor
mkdir .husky && echo true > .husky/pre-push && chmod +x .husky/pre-push
echo '{"a": 2}' > .vscode/settings.json && echo 'export A=2' > .envrc
git add . && git commit -qm editor && git checkout -q -
mkdir ~/plain
cp -a ~/project ~/remote.git ~/sub ~/plain/
