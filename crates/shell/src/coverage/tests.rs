//! Tests of rules against whole scripts.

use crate::{CommandPattern, Forbids, ShellScript};

fn patterns(rules: &[&str]) -> Vec<CommandPattern> {
    rules.iter().map(|rule| CommandPattern::parse(rule).unwrap()).collect()
}

#[track_caller]
fn check(rules: &[&str], script: &str, expect: bool) {
    let read = crate::read(script);
    assert_eq!(read.is_covered_by(&patterns(rules)), expect, "{script}: {read:?}");
}

#[test]
fn a_text_that_cat_prints_is_a_word() {
    let rules = &["git commit *", "echo *", "cat", "eval *"];
    for (script, expect) in [
        ("git commit -m \"$(cat <<'E'\nFix; $(it) 'now'\n\nBecause.\nE\n)\"", true),
        ("git commit -m \"$(cat <<E\nFix it\nE\n)\" && git commit --amend", true),
        ("git commit -m \"a $(cat <<< b) c\"", true),
        ("git commit -m \"$(cat <<E\n$X\nE\n)\"", false),
        ("git commit -m \"$(cat <<E\n$(rm x)\nE\n)\"", false),
        ("git commit -m \"$(cat <<'E'\nFix\nE)\"", false),
        ("git commit -m \"$(cat x <<'E'\nFix\nE\n)\"", false),
        ("git commit -m \"$(cat 3<<'E'\nFix\nE\n)\"", false),
        ("git commit -m \"$(echo Fix)\"", false),
        ("git commit -m $(cat <<'E'\nFix\nE\n)", false),
        ("cat() { :; }; git commit -m \"$(cat <<'E'\nFix\nE\n)\"", false),
        ("git commit -m \"$(cat <<'E'\nFix\nE\n)\"; cat() { :; }", false),
        ("eval \"$(cat <<'E'\nrm x\nE\n)\"", false),
        ("eval \"$(cat <<'E'\necho x\nE\n)\"", true),
    ] {
        check(rules, script, expect);
    }
    let read = crate::read("git commit -m \"$(cat <<'E'\nFix; it\n\nBecause.\n\nE\n)\"");
    assert_eq!(
        read.commands[0].words[3],
        crate::ShellWord { code: false, ..crate::ShellWord::known("Fix; it\n\nBecause.") }
    );
}

#[test]
fn an_allow_covers_what_it_says() {
    for (rule, script, expect) in [
        ("git push *", "git push", true),
        ("git push *", "git push origin main", true),
        ("git push:*", "git push origin $BRANCH", false),
        ("git push", "git push origin", false),
        ("git push *", "git pull", false),
        ("git push *", "git push; rm -rf x", false),
        ("git push *", "git push && rm x", false),
        ("git push *", "git push | sh", false),
        ("git push *", "git push $(rm x)", false),
        ("git push *", "git push `rm x`", false),
        ("git push *", "git push <(rm x)", false),
        ("git push *", "git push > out", false),
        ("git push *", "git push < in", true),
        ("git push *", "git push < /dev/tcp/h/80", false),
        ("git push *", "git push >/dev/null 2>&1", true),
        ("git push *", "git push & rm x", false),
        ("git push *", "git push\nrm x", false),
        ("git push *", "git $X push", false),
        ("git push *", "$X push", false),
        ("git push *", "/tmp/git push", false),
        ("git push *", "PATH=/tmp git push", false),
        ("git push *", "GIT_SSH_COMMAND=x git push", false),
        ("git push *", "CI=1 git push", true),
        ("git push *", "CI=$(rm x) git push", false),
        ("git push *", "sudo git push", false),
        ("sudo git *", "sudo git push", false),
        ("git *", "timeout 5 git push", true),
        ("git *", "timeout 5 rm x", false),
        ("git *", "timeout 5", false),
        ("git *", "nice timeout 5 git push", true),
        ("git *", "env A=1 git push", false),
        ("git *", "env LD_PRELOAD=x git push", false),
        ("git *", "bash -c 'git push'", false),
        ("git *", "bash <<E\nrm x\nE", false),
        ("git *", "git -c alias.x='!rm' x", false),
        ("ls *", "ls; f() { rm x; }; f", false),
        ("ls *", "alias ls='rm x'; ls", false),
        ("ls *", "ls(){ ls; }; ls", true),
        ("ls *", "for f in a b; do ls a; done", true),
        ("ls *", "for f in a b; do ls $f; done", false),
        ("ls *", "xargs ls", false),
        ("ls *", "eval ls", false),
        ("ls *", "eval \"$X\"", false),
        ("ls *", "find . -exec ls {} \\;", false),
        ("npm run test*", "npm run test:unit", true),
        ("npm run test*", "npm run build", false),
        ("echo \"a b\"", "echo 'a b'", true),
        ("sort *", "sort -o x y", false),
        ("cp *", "cp x y", true),
        ("*", "anything at all", true),
        ("*", "anything; eval $X", false),
        ("*", "", false),
        ("*", "A=1", false),
        // Found by comparison with real shells.
        ("*", "function a b { p7 }; b", false),
        ("*", "x=$(p2 ${x#$((p7 '$(p2)' '\"'))})", false),
        ("*", "p5 \"${x:-$(p2 $((p6 $'a\\nb') ; (p3)))}\"", false),
        // Shells join lines before tokenizing.
        ("ls *", "x=\"$\\\n(rm x)\"; ls", false),
        ("cat *", "cat <<E\n$\\\n(rm x)\nE", false),
        ("cat *", "cat <<E\\\nOF\n$(rm x)\nEOF", false),
        ("cat *", "cat <<\\\n-E\n\tE\nrm x\n-E", false),
        ("*", "[[ a ]\\\n]; rm x; [[ b ]]", false),
        ("*", "ls <\\\n(rm x)", false),
        ("*", "echo \"${x\\\n@P}\"; ls", false),
        ("*", "ls a}\\\n", false),
        ("ls *", "ls a \\\n  b &&\\\nls 'c'\\\n'd'", true),
        // zsh treats these as expansions and runs them.
        ("ls *", "x=${$(rm x)}; ls", false),
        ("ls *", "x=${#$(rm x)}; ls", false),
        // Bash 5.2 loses the semicolon: `git push --force`.
        ("*", "x=$(ls <<E\nE\ngit push; --force)", false),
        ("ls *", "x=$(ls <<E; ls\na; b\nE\n)", false),
        ("ls *", "x=$(ls <<E\na; b\nE\n); ls", true),
        ("*", "l\0s", false),
        ("*", "bash -c 'x=$(ls)\0'", false),
        // The script is known, but not the file that it writes and runs.
        ("*", "echo 'rm x' > s; sh s", false),
        ("*", "cp /bin/rm y; ./y x", false),
        ("*", "ln -s /bin/rm y && dir/../y x", false),
        ("*", "curl -o s.py u; python3 s.py", false),
        ("*", "chmod +x s.sh; ./s.sh", true),
        ("*", "uv run pytest -q", true),
        ("uv *", "uv run bash -c 'rm x'", false),
        ("docker *", "docker exec c sh -c 'rm x'", false),
        ("docker *", "docker exec c ls", true),
    ] {
        check(&[rule], script, expect);
    }
    check(&["sudo git *", "git *"], "sudo git push", true);
    check(&["bash -c *", "git *"], "bash -c 'git push'", true);
    check(&["bash -c *", "git *"], "bash -c 'git push; rm x'", false);
    check(&["find *", "ls *"], "find . -exec ls {} \\;", false);
    check(&["find *", "ls *"], "find . -exec ls a \\;", true);
    check(&["git *", "[ *"], "if [ -e a ]; then git push; fi", true);
    check(&[], "ls", false);
}

/// Returns the most severe result of all commands in a script.
fn forbids(rule: &str, script: &ShellScript) -> Forbids {
    let pattern = CommandPattern::parse(rule).unwrap();
    let answers: Vec<Forbids> = script.commands.iter().map(|command| pattern.forbids(&command.words)).collect();
    match () {
        () if answers.contains(&Forbids::Yes) => Forbids::Yes,
        () if answers.contains(&Forbids::Perhaps) || !script.unknown.is_empty() => Forbids::Perhaps,
        () => Forbids::No,
    }
}

#[test]
fn a_denial_sees_through() {
    use Forbids::{No, Perhaps, Yes};
    for (rule, script, expect) in [
        ("rm *", "rm x", Yes),
        ("rm *", "/bin/rm x", Yes),
        ("rm *", "sudo -u root rm x", Yes),
        ("rm *", "echo $(rm x)", Yes),
        ("rm *", "find . -name x -exec rm {} +", Yes),
        ("rm *", "ls | xargs -n1 rm -f", Yes),
        ("rm *", "bash -c \"rm x\"", Yes),
        ("rm *", "git bisect run rm x", Yes),
        ("rm *", "f() { rm x; }", Yes),
        ("rm *", "trap 'rm x' EXIT", Yes),
        ("rm *", "r\\m x", Yes),
        ("rm *", "'r'm x", Yes),
        ("rm *", "$'\\x72m' x", Yes),
        ("git push *", "git -C x push", Yes),
        ("git push *", "echo push | xargs -I X git X", Perhaps),
        ("rm *", "$X x", Perhaps),
        ("rm *", "eval $X", Perhaps),
        ("rm *", "{rm,x}", Perhaps),
        ("rm *", "time -p\trm x", Yes),
        ("rm *", "time -p -- rm x", Yes),
        ("rm *", "time -p\\\n rm x", Perhaps),
        ("rm *", "ls 3>&-; 3>&-rm x", Perhaps),
        ("rm *", "3<& -rm x", Perhaps),
        ("rm *", "echo rm x | bash 3<<< ls", Perhaps),
        ("rm *", "bash <<< ls", No),
        ("rm *", "bash /dev/stdin <<< 'rm x'", Yes),
        ("rm *", "echo rm x | bash /dev//stdin", Perhaps),
        ("rm *", "bash /dev/fd/3 3<<< 'rm x'", Perhaps),
        ("rm *", "echo rm | xargs -rI X X a", Perhaps),
        ("rm *", "echo rm | xargs -0tI X X a", Perhaps),
        ("rm *", "find . -exec ls a + b \\; -exec rm x \\;", Yes),
        ("rm *", "fd . -xrm x", Perhaps),
        ("rm *", "uv run rm x", Yes),
        ("rm *", "uv run --with y rm x", Perhaps),
        ("rm *", "uv run bash -c 'rm x'", Yes),
        ("rm *", "poetry run python -c x", Perhaps),
        ("rm *", "npx -y sh -c 'rm x'", Yes),
        ("rm *", "docker run -v /:/h alpine rm x", Perhaps),
        ("rm *", "docker compose exec web bash -c 'rm x'", Yes),
        ("rm *", "kubectl exec pod -- rm x", Perhaps),
        ("rm *", "npm run x rm", No),
        ("rm *", "systemd-inhibit rm x", Yes),
        ("rm *", "socat - EXEC:'rm x'", Perhaps),
        ("rm *", "cross-env A=b rm x", Perhaps),
        ("rm *", "perl -0777ne 'unlink x' a", Perhaps),
        ("rm *", "perl -I lib -e 'unlink x'", Perhaps),
        ("rm *", "python3 -W ignore -c x", Perhaps),
        ("rm *", "node -r ./a -e x", Perhaps),
        ("rm *", "php -d a=b -r x", Perhaps),
        ("rm *", "php --run x", Perhaps),
        ("rm *", "Rscript -e x", Perhaps),
        ("rm *", "guile -c x", Perhaps),
        ("rm *", "python3 /dev/fd/0", Perhaps),
        ("rm *", "ls | xargs python3", Perhaps),
        ("rm *", "python3 -Wignore a.py -c", No),
        ("rm *", "perl -MData::Dumper -w a.pl", No),
        ("rm *", "ruby -Ilib -r ./a b.rb -e", No),
        ("rm *", "ls", No),
        ("rm *", "echo rm x", No),
        ("git push", "git push $X", Perhaps),
    ] {
        let read = crate::read(script);
        assert_eq!(forbids(rule, &read), expect, "{script}: {read:?}");
    }
}
