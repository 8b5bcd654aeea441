# One command a line, in the order of a day. Each is a call of its own; the shell stays where the last one left it.
git status
git log --oneline | head -n 5
ls -la
cat README.md
grep -rn double src
grep -rn "not to be found" src
find . -name '*.rs' -not -path './target/*'
cargo --version
cargo build --offline
cargo test --offline
cargo run --offline --quiet
cargo check --offline
sed -i 's/2 \* x/x * 2/' src/lib.rs
cargo test --offline --quiet
git diff
git diff --stat
git add -A
git commit -m "Turn it round"
git show --stat HEAD | cat
cat checks.log
git config user.name "Some One Else"
git config user.name
git config --local core.autocrlf input
git config --global --list
git remote add origin ../remote.git
git remote -v
git fetch origin
git branch work
git branch -m work feature
git checkout feature
git branch --show-current
git checkout editor
test -x .husky/pre-push && grep -q 2 .envrc && git diff --quiet HEAD
git checkout feature
test ! -e .husky && git diff --quiet HEAD
git checkout -q editor && git rebase -q feature && git checkout -q feature
git switch -c topic
echo more >> README.md
git stash
git stash list
git stash pop
git commit -am "More"
git checkout feature
git merge topic
git branch -D topic
git tag v1
git tag --list
git worktree add .worktrees/side -b side
git worktree list
git -C .worktrees/side log --oneline | head -n 1
git worktree remove .worktrees/side
git -c protocol.file.allow=always submodule add ../sub vendor/sub
git submodule status
git commit -m "A library"
git branch --track tracking feature
git config branch.feature.description "What it is for"
git rebase HEAD~1
git cherry-pick --abort
git commit --amend --no-edit
git reset --soft HEAD~1
git commit -m "Again"
git restore README.md
git blame README.md | head -n 1
git gc --quiet
git fsck
git clean -nd
make build
make test
make clean
make nothing-like-that
npm --version
node --version
npm install ./packages/left
npm test
npm run build
npm ls
npm pack --silent
node -e "console.log(require('left')(41))"
test -f bundle.js
python3 --version
python3 -m venv .venv
. .venv/bin/activate
which python
python make_wheel.py
pip install --no-index ./greeter-1.0-py3-none-any.whl
pip list
pip install --no-index --find-links "$WHEELS" pytest
pytest -q tests
python -c "import greeter; print(greeter.greet('you'))"
python -m compileall -q pkg
deactivate
which pytest
python3 -m http.server "$PORT" --bind 127.0.0.1 > server.log 2>&1 & echo $! > server.pid
curl -sf --retry 20 --retry-connrefused --retry-delay 1 "http://127.0.0.1:$PORT/README.md"
curl -sf "http://127.0.0.1:$PORT/not-there"
ps -p "$(cat server.pid)" > /dev/null
kill "$(cat server.pid)"
python3 -m http.server "$PORT" --bind 127.0.0.1 > server.log 2>&1 &
curl -sf --retry 20 --retry-connrefused --retry-delay 1 "http://127.0.0.1:$PORT/Makefile"
pkill -f "http.server $PORT"
mkdir -p tmp && mktemp && cp src/lib.rs tmp/ && mv tmp/lib.rs tmp/other.rs && rm -r tmp
cd src
pwd
ls
cd ..
cd -
cd "$OLDPWD"
export STAGE=test
test "$STAGE" = test
for file in src/*.rs; do wc -l "$file"; done
seq 1 2000 | tail -n 1
printf 'a\nb\n' | sort -r | head -n 1
cat > notes.md <<< "a note"
test -s notes.md && rm notes.md
false
true && echo done
tar czf src.tgz src && tar tzf src.tgz
diff -u README.md README.md
du -sh . | cut -f2
date +%Y
id -un
env | grep -c PATH
git status --short
