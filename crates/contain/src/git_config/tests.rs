//! Tests of what is put back in a changed configuration, and what stays.

use std::path::{Path, PathBuf};

use super::*;

const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";

fn verdict(before: &str, now: &str) -> ConfigVerdict {
    let roots = [PathBuf::from("/w")];
    judge(before, now, &ConfigFilePlace { folder: Path::new("/w/.git/modules/sub"), roots: &roots })
}

#[test]
fn ordinary_work_of_git_stays() {
    for added in [
        "",
        "[remote \"origin\"]\n\turl = https://host/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\tpushurl = git@host:a\n",
        "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n\tvscode-merge-base = origin/main\n",
        "[branch \"a \\\"b\\\" \\\\ c\"]\n\tremote = .\n",
        "[user]\n\tname = \"A # B\" ; note\n\temail = a@b\n\tsigningkey = ABC\n[commit]\n\tgpgsign\n[gpg]\n\tformat = ssh\n",
        "[submodule \"lib\"]\n\tactive = true\n\turl = ../lib\n\tupdate = rebase\n",
        "[core]\n\tworktree = ../../../sub\n\tfsmonitor = true\n\tautocrlf = input\n\teol=lf\n",
        "[extensions]\n\tworktreeConfig = true\n[pull]\n\trebase = true\n[color]\n\tpager = true\n[advice]\n\tignoredHook = false\n",
        "[alias]\n\tst = status -sb\n\tlg = log --oneline --graph --pretty=format:%h\n",
        "[lfs]\n\trepositoryformatversion = 0\n[lfs \"https://h/a.git/info/lfs\"]\n\taccess = basic\n",
        "[pack]\n\tthreads = 1\n[merge]\n\ttool = meld\n[http]\n\tpostBuffer = 524288000\n[x]\n\ty = a \\\n  b\n",
    ] {
        assert_eq!(verdict(PLAIN, &format!("{PLAIN}{added}")), ConfigVerdict::Fine, "{added}");
    }
}

/// Text that a command adds, with the name of the key that is put back.
#[test]
fn what_runs_something_goes_and_the_rest_stays() {
    for (added, key) in [
        ("[core]\n\tfsmonitor = evil\n", "core.fsmonitor"),
        ("[Core]\n\tFSMonitor = evil\n", "core.fsmonitor"),
        ("[core] hooksPath = evil\n", "core.hookspath"),
        ("[core]\n\tsshCommand = evil\n", "core.sshcommand"),
        ("[core]\n\tpager = evil\n", "core.pager"),
        ("[core]\n\teditor = evil\n", "core.editor"),
        ("[core]\n\taskPass = evil\n", "core.askpass"),
        ("[core]\n\tworktree = /etc\n", "core.worktree"),
        ("[core]\n\tworktree = ../../../../../etc\n", "core.worktree"),
        ("[core]\n\tattributesFile = evil\n", "core.attributesfile"),
        ("[sequence]\n\teditor = evil\n", "sequence.editor"),
        ("[diff]\n\texternal = evil\n", "diff.external"),
        ("[diff \"x\"]\n\tcommand = evil\n", "diff.x.command"),
        ("[diff \"x\"]\n\ttextconv = evil\n", "diff.x.textconv"),
        ("[merge \"x\"]\n\tdriver = evil\n", "merge.x.driver"),
        ("[filter \"x\"]\n\tclean = evil\n", "filter.x.clean"),
        ("[filter \"x\"]\n\tprocess = evil\n", "filter.x.process"),
        ("[alias]\n\tst = !evil\n", "alias.st"),
        ("[alias]\n\tst = -c core.pager=evil log\n", "alias.st"),
        ("[alias]\n\tst = \"rebase --exec evil\"\n", "alias.st"),
        ("[credential]\n\thelper = evil\n", "credential.helper"),
        ("[credential \"https://h\"]\n\thelper = evil\n", "credential.https://h.helper"),
        ("[gpg]\n\tprogram = evil\n", "gpg.program"),
        ("[gpg \"ssh\"]\n\tdefaultKeyCommand = evil\n", "gpg.ssh.defaultkeycommand"),
        ("[include]\n\tpath = evil\n", "include.path"),
        ("[includeIf \"gitdir:/\"]\n\tpath = evil\n", "includeif.gitdir:/.path"),
        ("[remote \"o\"]\n\turl = ext::sh -c evil\n", "remote.o.url"),
        ("[remote \"o\"]\n\tuploadpack = evil\n", "remote.o.uploadpack"),
        ("[remote \"o\"]\n\treceivepack = evil\n", "remote.o.receivepack"),
        ("[remote \"o\"]\n\tvcs = evil\n", "remote.o.vcs"),
        ("[remote \"o\"]\n\tproxy = evil\n", "remote.o.proxy"),
        ("[url \"https://h/\"]\n\tinsteadOf = https://evil/\n", "url.https://h/.insteadof"),
        ("[protocol \"ext\"]\n\tallow = always\n", "protocol.ext.allow"),
        ("[submodule \"x\"]\n\tupdate = !evil\n", "submodule.x.update"),
        ("[pager]\n\tlog = evil\n", "pager.log"),
        ("[interactive]\n\tdiffFilter = evil\n", "interactive.difffilter"),
        ("[init]\n\ttemplateDir = evil\n", "init.templatedir"),
        ("[uploadpack]\n\tpackObjectsHook = evil\n", "uploadpack.packobjectshook"),
        ("[gc]\n\trecentObjectsHook = evil\n", "gc.recentobjectshook"),
        ("[trailer \"x\"]\n\tcmd = evil\n", "trailer.x.cmd"),
        ("[tar \"x\"]\n\tcommand = evil\n", "tar.x.command"),
        ("[difftool \"x\"]\n\tcmd = evil\n", "difftool.x.cmd"),
        ("[mergetool \"x\"]\n\tpath = evil\n", "mergetool.x.path"),
        ("[browser \"x\"]\n\tcmd = evil\n", "browser.x.cmd"),
        ("[man \"x\"]\n\tcmd = evil\n", "man.x.cmd"),
        ("[hook \"x\"]\n\tevent = pre-commit\n", "hook.x.event"),
        ("[lfs \"customtransfer.x\"]\n\tpath = evil\n", "lfs.customtransfer.x.path"),
        ("[http]\n\tsslVerify = false\n", "http.sslverify"),
        ("[http \"https://h\"]\n\tproxy = evil\n", "http.https://h.proxy"),
        ("[other]\n\tthing = !evil\n", "other.thing"),
        ("[core]\n\tbare = false \\\n\n\tfsmonitor = ev\\\nil\n", "core.fsmonitor"),
    ] {
        let now = format!("{PLAIN}[branch \"a\"]\n\tremote = o\n{added}[user]\n\tname = me\n");
        let ConfigVerdict::Mended(text, keys) = verdict(PLAIN, &now) else {
            panic!("{added}: {:?}", verdict(PLAIN, &now))
        };
        assert_eq!(keys, [key], "{added}");
        assert!(!text.contains("evil") && text.contains("name = me") && text.contains("remote = o"), "{added}: {text}");
        assert_eq!(verdict(PLAIN, &text), ConfigVerdict::Fine, "{text}");
    }
}

#[test]
fn what_the_user_had_is_as_it_was() {
    let own = format!("{PLAIN}[alias]\n\tx = \"!mine # x\"\n[credential]\n\thelper =\n\thelper = store # note\n");
    for (now, keys) in [
        (own.replace("mine", "evil"), vec!["alias.x"]),
        (own.replace("\thelper = store # note\n", ""), vec!["credential.helper"]),
        (own.replace("\thelper =\n", ""), vec!["credential.helper"]),
        (format!("{own}[credential]\n\thelper = evil\n"), vec!["credential.helper"]),
        (format!("{PLAIN}[user]\n\tname = me"), vec!["alias.x", "credential.helper"]),
        (String::new(), vec!["alias.x", "credential.helper"]),
    ] {
        let ConfigVerdict::Mended(text, found) = verdict(&own, &now) else { panic!("{now}") };
        assert_eq!(found, keys, "{now}");
        assert_eq!(verdict(&own, &text), ConfigVerdict::Fine, "{text}");
        assert!(text.contains("!mine") && text.contains("store") && !text.contains("evil"), "{text}");
        assert_eq!(text.contains("name = me"), now.contains("name = me"), "{text}");
    }
}

#[test]
fn what_cannot_be_read_is_hostile() {
    for now in [
        "[core",
        "[core]\n\t= x\n",
        "x = y\n",
        "[a \"b]\nc = d\n",
        "[core]\n\ta = \"b\n",
        "[core]\n\ta = \\q\n",
        "[c]\n\ta b\n",
        "[a.b \"c\"]\n",
    ] {
        assert_eq!(verdict(PLAIN, now), ConfigVerdict::Hostile, "{now}");
    }
    assert_eq!(verdict("[core", "[core"), ConfigVerdict::Fine);
    assert_eq!(verdict("[core", PLAIN), ConfigVerdict::Hostile);
}
