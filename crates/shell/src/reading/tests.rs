//! Which commands only read, as a script that a shell runs.

use super::*;

/// As the policy does: every command of the script has to be harmless, and nothing unknown.
fn reads(script: &str) -> bool {
    let read = crate::read(script);
    let harmless = |command: &crate::ShellCommand| only_reads(&command.words) || only_starts_others(&command.words);
    read.unknown.is_empty() && read.commands.iter().all(|command| harmless(command) && command.written().is_empty())
}

#[test]
fn reading_is_known_as_reading() {
    for script in [
        "ls",
        "ls -la src/*.rs",
        "cd src && ls | head -5",
        "cat $FILE",
        "git status",
        "git -C sub log --oneline -5",
        "git --no-pager diff HEAD~1 -- src",
        "git show HEAD:README.md | wc -l",
        "git branch",
        "git branch -a -v",
        "git branch --list 'x*'",
        "git tag -l",
        "git remote -v",
        "git stash list",
        "git config --get user.name",
        "git rev-parse --show-toplevel",
        "git blame src/lib.rs",
        "grep -rn foo src/*.rs",
        "grep -rn foo src | sort | uniq -c | sort -rn",
        "rg -n foo",
        "find . -name '*.rs' -type f",
        "find . -name '*.rs' | xargs grep -l foo",
        "sed -n 1,20p x",
        "cargo metadata --format-version 1",
        "cargo tree -d",
        "npm ls",
        "npm view react version",
        "docker ps -a",
        "docker logs x",
        "kubectl -n prod get pods",
        "kubectl describe pod x",
        "gh pr view 5",
        "gh pr list --state open",
        "node --version",
        "python3 --version",
        "test -f x && echo yes",
        "for f in a b; do cat $f; done",
        "ls 2>/dev/null",
        "timeout 5 ls",
        "bash -c 'ls; cat x'",
        "echo $(git rev-parse HEAD)",
        "aws s3 ls",
        "aws ec2 describe-instances",
        "jq .x package.json",
    ] {
        assert!(reads(script), "{script}: {:?}", crate::read(script).unknown);
    }
}

#[test]
fn what_writes_or_runs_something_is_not_reading() {
    for script in [
        "rm x",
        "touch x",
        "git diff --output=x",
        "git log --output x",
        "git -c core.pager=x log",
        "git -c core.fsmonitor=x status",
        "git diff --ext-diff",
        "git show --textconv x",
        "git grep -Ovim x",
        "git branch x",
        "git branch -D x",
        "git branch -m a b",
        "git tag v1",
        "git tag -d v1",
        "git remote add x y",
        "git stash",
        "git stash drop",
        "git config user.name x",
        "git commit -m x",
        "git fetch",
        "git checkout x",
        "git --exec-path=x status",
        "git --git-dir=x status",
        "GIT_EXTERNAL_DIFF=x git diff",
        "GIT_PAGER=x git log",
        "PATH=. ls",
        "LD_PRELOAD=x ls",
        "sort -o x y",
        "sort --output=x y",
        "sort *",
        "sort $X",
        "find . -exec rm {} ';'",
        "find . -delete",
        "find . -fprint x",
        "find . $X",
        "rg --pre x y",
        "rg $X",
        "fd -x rm",
        "sed -i s/a/b/ x",
        "sed 'w x' y",
        "sed 's/a/b/e' y",
        "awk '{print}' x",
        "tee x",
        "uniq a b",
        "xxd a b",
        "xargs rm",
        "ls | xargs rm",
        "./ls",
        "/tmp/ls",
        "$X",
        "bash script.sh",
        "bash -c 'rm x'",
        "python3 -c 1",
        "python3 x.py",
        "cargo build",
        "cargo run",
        "npm install",
        "npm run x",
        "npm audit --fix",
        "docker run x",
        "docker exec x ls",
        "kubectl exec x -- ls",
        "kubectl apply -f x",
        "kubectl --kubeconfig=x get pods",
        "gh pr merge",
        "gh pr view --web",
        "gh api repos/o/r",
        "curl x",
        "printf -v PATH x",
        "sudo ls",
        "yq -i .a=1 x",
        "tree -o x",
        "date -s x",
        "aws s3api get-object --bucket b --key k out",
        "aws s3 cp s3://b/k .",
        "aws ec2 run-instances",
        "make",
        "eval ls $X",
    ] {
        assert!(!reads(script), "{script}");
    }
}

#[test]
fn builds_and_tests_are_known_unless_they_change_sources() {
    let builds = |script: &str| crate::read(script).commands.iter().all(|command| only_builds(&command.words));
    for script in [
        "cargo test -p x",
        "cargo clippy --all-targets -- -D warnings",
        "npm test",
        "npm run build",
        "pytest -q",
        "go vet ./...",
    ] {
        assert!(builds(script), "{script}");
    }
    for script in
        ["cargo clippy --fix", "cargo run", "cargo fmt", "eslint --fix .", "npm run deploy", "make", "cargo test $X"]
    {
        assert!(!builds(script), "{script}");
    }
}
