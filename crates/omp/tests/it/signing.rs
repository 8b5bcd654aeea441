//! Commits and tags of the model's commands are signed as the user's own git does it, with a real gpg, a real ssh-keygen and
//! real agents. No command can read a key, access an agent or sign anything else.

use omp_testkit::{Script, Turn};
use serde_json::{Value, json};

use crate::ordinary_user::NO_NAMESPACES;
use crate::ordinary_user::person::{Person, Who};

/// Dropping this ends the gpg-agent that the test started.
struct Signs(Person);

impl Drop for Signs {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.try_shell("gpgconf --kill gpg-agent");
    }
}

fn script(commands: &[&str]) -> Script {
    let calls = commands.iter().map(|command| Turn::call("bash", json!({"command": command})));
    Script::new(calls.chain([Turn::text("Done.")]))
}

async fn person(commands: &[&str]) -> Signs {
    let person = Person::new(Who::Ordinary, "omp-test-", script(commands)).await.unwrap();
    // All tests run as the same user, so each agent uses its own folder.
    let keys = person.home().join("keys").display().to_string();
    Signs(person.set("GNUPGHOME", &keys))
}

impl Signs {
    /// Adds a gpg key, and settings that enable signing.
    fn with_gpg(self, passphrase: &str) -> Self {
        self.0.shell(&format!(
            "mkdir -m 700 ~/keys; echo allow-preset-passphrase > ~/keys/gpg-agent.conf
             gpg --batch -q --pinentry-mode loopback --passphrase '{passphrase}' --quick-generate-key 'Some One <someone@example.com>' ed25519 sign never
             gpg -q --check-trustdb
             git config --global commit.gpgsign true; git config --global tag.gpgsign true"
        ));
        self
    }

    /// Adds an ssh key that only the agent can use, and settings that enable signing.
    fn with_ssh(self) -> Self {
        self.0.shell(
            "ssh-keygen -q -p -P '' -N sesame -f ~/.ssh/id_ed25519
             git config --global gpg.format ssh; git config --global user.signingkey ~/.ssh/id_ed25519.pub
             echo \"someone@example.com $(cat ~/.ssh/id_ed25519.pub)\" > ~/.ssh/allowed_signers
             git config --global gpg.ssh.allowedSignersFile '~/.ssh/allowed_signers'
             git config --global commit.gpgsign true; git config --global tag.gpgsign true",
        );
        self
    }

    fn without_namespaces(mut self) -> Self {
        let words = ["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c", NO_NAMESPACES, "sh"];
        self.0.behind = words.map(str::to_owned).to_vec();
        self
    }

    /// Returns the result of each call.
    async fn run(&self) -> Vec<String> {
        self.0.with_model(&["-p", "go"]).run().await.exits(0).prints("Done.\n");
        let request = self.0.scene.last_request().json().unwrap();
        let messages = request["messages"].as_array().unwrap();
        let results = messages.iter().filter(|message| message["role"] == "tool");
        results
            .map(|message| message["content"].as_str().map_or_else(|| text(&message["content"]), str::to_owned))
            .collect()
    }
}

fn text(content: &Value) -> String {
    content.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str()).collect()
}

/// Commits, an amended commit, tags, a merge, with the user's hooks.
const WORK: [&str; 5] = [
    "echo 1 > one && git add one && git commit -qm one",
    "git commit -q --amend -m amended && git tag -m v1 v1 && git tag -s -m v2 v2",
    "git checkout -qb side && echo 2 > two && git add two && git commit -qm side && git checkout -q main \
     && echo 3 > three && git add three && git commit -qm three && git merge -q --no-edit side",
    "git verify-commit HEAD HEAD~1 && git verify-tag v1 v2 && git log -1 --format='is %G?'",
    "env | grep -c ^GIT_CONFIG_; git config --list | grep -c omp-sign-; cat hooks-that-ran",
];

const HOOKS: &str = "
hook() { mkdir -p $1; printf '#!/bin/sh\\necho %s >> hooks-that-ran\\n' $2 > $1/$3; chmod +x $1/$3; }
echo hooks-that-ran >> .git/info/exclude
hook .git/hooks repository-commit pre-commit
hook .git/hooks repository-merge post-merge
hook ~/hooks global-commit pre-commit
";

#[track_caller]
fn all_is_signed(signs: &Signs, results: &[String], hooks: &str) {
    let shown = results.join("\n---\n");
    for result in results {
        assert!(!result.contains("exited with code") && !result.contains("Sandbox:"), "{shown}");
    }
    assert!(results[0].contains("omp signed a commit with the user's key "), "{shown}");
    assert!(results[1].contains("omp signed 2 tags with"), "{shown}");
    assert!(results[2].contains("omp signed 3 commits with"), "{shown}");
    assert!(results[3].contains("is G"), "{shown}");
    assert!(results[4].starts_with(&format!("3\n1\n{hooks}\n")), "{shown}");
    // The user's own git verifies it as well.
    let signed =
        signs.0.shell("git verify-commit HEAD HEAD~1 HEAD^2 && git verify-tag v1 v2; git log --format=%G? v1..HEAD");
    assert_eq!(signed, "G\nG\nG\n");
    assert_eq!(signs.0.shell("git log -1 --format='%G? %s' v1"), "G amended\n");
}

const OF_REPOSITORY: &str =
    "repository-commit\nrepository-commit\nrepository-commit\nrepository-commit\nrepository-merge\n";

#[tokio::test]
async fn gpg_signs_commits_tags_and_merges() {
    let signs = person(&WORK).await.with_gpg("");
    signs.0.shell(HOOKS);
    let results = signs.run().await;
    all_is_signed(&signs, &results, OF_REPOSITORY);
}

#[tokio::test]
async fn gpg_signs_without_namespaces() {
    let signs = person(&WORK).await.with_gpg("").without_namespaces();
    signs.0.shell(HOOKS);
    let results = signs.run().await;
    all_is_signed(&signs, &results, OF_REPOSITORY);
}

#[tokio::test]
async fn ssh_signs_with_the_key_of_an_agent() {
    let signs = person(&WORK).await.with_ssh();
    signs.0.shell(HOOKS);
    signs.0.shell("git config --global core.hooksPath ~/hooks");
    let results = signs.run().await;
    all_is_signed(&signs, &results, "global-commit\nglobal-commit\nglobal-commit\nglobal-commit\n");
}

#[tokio::test]
async fn ssh_signs_without_namespaces_with_a_key_that_stands_in_the_settings() {
    let signs = person(&WORK).await.with_ssh().without_namespaces();
    signs.0.shell(HOOKS);
    signs.0.shell("git config --global user.signingkey \"key::$(cat ~/.ssh/id_ed25519.pub)\"");
    let results = signs.run().await;
    all_is_signed(&signs, &results, OF_REPOSITORY);
}

/// Tries to get keys, agents, and signatures of anything else. `$K` is the signing program configured in git.
const TRICKS: [&str; 9] = [
    "ls -A ~/.ssh ~/keys 2>&1 | sort; ssh-add -l; gpg --list-secret-keys; echo listed",
    "K=$(git config gpg.program); printf challenge | $K --status-fd=2 -bsau someone@example.com; echo code $?",
    "K=$(git config gpg.program); git cat-file commit HEAD | $K --status-fd=2 -bsau 'Other <x@y>'; echo code $?",
    "K=$(git config gpg.program); git cat-file commit HEAD | $K -bsau 'Some One <someone@example.com>'; echo code $?",
    "K=$(git config gpg.program); head -c 2000000 /dev/zero | $K --status-fd=2 -bsau x; echo code $?",
    "K=$(git config gpg.program); echo x | $K --clearsign; $K --export-secret-keys | wc -c; echo code $?",
    "git config user.email other@example.com; git commit --allow-empty -m local; git config --unset user.email; echo code $?",
    "printf '#!/bin/sh\\ntouch ~/outside\\nexec gpg \"$@\"\\n' > evil; chmod +x evil
     git -c gpg.program=$PWD/evil commit --allow-empty -m other; mkdir -p r && cd r && git init -q \
     && printf '[gpg]\\n\\tprogram = ../evil\\n' >> .git/config && git commit --allow-empty -m other; echo code $?",
    "S=$(dirname $(git config gpg.program))/s; python3 -c 'import socket,sys
s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b\"\\xff\"*4); print(s.recv(9999))' $S",
];

#[tokio::test]
async fn nothing_but_commits_is_signed_and_no_key_is_seen() {
    let signs = person(&TRICKS).await.with_gpg("");
    let results = signs.run().await;
    let shown = results.join("\n---\n");
    assert!(!shown.contains("BEGIN PGP") && !shown.contains("omp signed"), "{shown}");
    let (listed, _) = results[0].split_once("listed").unwrap();
    assert!(!listed.contains("private-keys") && !listed.contains("id_ed25519"), "{shown}");
    assert!(results[1].contains("only commits and tags are signed") && results[1].contains("hint: "), "{shown}");
    assert!(results[2].contains("keys in the user's git settings, and `Other <x@y>` is not one of them"), "{shown}");
    assert!(results[3].contains("only requests from git itself are signed"), "{shown}");
    assert!(results[4].contains("may have 1048576 bytes"), "{shown}");
    assert!(results[5].contains("\n0\ncode 0"), "{shown}");
    assert!(results[6].contains("`Some One <other@example.com>` is not one of them"), "{shown}");
    assert!(results[8].contains("may have 1048576 bytes"), "{shown}");
    assert!(!signs.0.home().join("outside").exists(), "{shown}");
    assert_eq!(signs.0.shell("git log --oneline | wc -l").trim(), "1", "{shown}");
}

#[tokio::test]
async fn a_passphrase_that_nobody_types_is_told_and_one_that_the_agent_knows_is_enough() {
    let commit = "git commit -q --allow-empty -m one";
    let mut signs = person(&[commit]).await.with_gpg("sesame");
    signs.0.shell("gpgconf --kill gpg-agent");
    let results = signs.run().await;
    let parts = ["omp did not sign: ", "hint: a key with a passphrase must be unlocked first"];
    assert!(parts.iter().all(|part| results[0].contains(part)), "{results:?}");
    assert!(!results[0].contains("sockets:"), "{results:?}");

    signs.0.scene.answers(script(&[commit, "git log -1 --format='is %G?'"])).await;
    // As a terminal of the user leaves it.
    signs.0.shell("gpg --batch -q --pinentry-mode loopback --passphrase sesame -s < /dev/null > /dev/null");
    let results = signs.run().await;
    assert!(results[0].contains("omp signed a commit") && results[1].contains("is G"), "{results:?}");
}

#[tokio::test]
async fn an_agent_is_started_where_none_runs() {
    let commit = "git commit -q --allow-empty -m one";
    let signs = person(&[commit, commit]).await.with_gpg("");
    signs.0.shell("gpgconf --kill gpg-agent");
    let results = signs.run().await;
    assert!(results.iter().all(|result| result.contains("omp signed a commit")), "{results:?}");
}

/// A project's own tests may sign with their own keys.
#[tokio::test]
async fn keys_that_a_project_makes_for_itself_work_in_the_cage() {
    let tests = "export GNUPGHOME=$PWD/test-keys; mkdir -m 700 test-keys
        gpg --batch -q --passphrase '' --quick-generate-key 'Test <test@example.com>' ed25519 sign never 2>/dev/null
        git init -q t && cd t && git -c user.signingkey=test@example.com commit -q --allow-empty -m one && git verify-commit HEAD
        code=$?; gpgconf --kill gpg-agent; echo code $code";
    let ssh = "ssh-keygen -q -t ed25519 -N '' -f test-key; git init -q s && cd s \
        && git -c gpg.format=ssh -c user.signingkey=$PWD/../test-key.pub commit -q --allow-empty -m one; \
        git cat-file commit HEAD | grep -c 'SSH SIGNATURE'";
    let signs = person(&[tests, ssh]).await.with_gpg("");
    let results = signs.run().await;
    assert!(results[0].contains("code 0") && results[0].contains("Good signature from \"Test"), "{results:?}");
    assert!(results[1].starts_with("2\n"), "{results:?}");
    assert!(!results.concat().contains("omp signed"), "{results:?}");
}

#[tokio::test]
async fn the_users_setting_switches_it_off_and_a_projects_does_not() {
    let commands = ["git commit -q --allow-empty -m one; git config --list | grep -c omp-sign-"];
    let signs = person(&commands).await.with_gpg("");
    let config = signs.0.scene.workspace.agent_dir().join("config.yml");
    let before = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{before}containment: {{ signing: false }}\n")).unwrap();
    let results = signs.run().await;
    assert!(results[0].contains("gpg failed to sign the data") && results[0].contains("\n0\n"), "{results:?}");

    let signs = person(&commands).await.with_gpg("");
    signs.0.shell("mkdir .omp; echo 'containment: { signing: false }' > .omp/config.yml");
    let results = signs.run().await;
    assert!(results[0].contains("omp signed a commit"), "{results:?}");
}

#[tokio::test]
async fn commits_are_signed_without_a_network() {
    let signs = person(&["git commit -q --allow-empty -m one; curl -s http://127.0.0.1:9; echo $?"]).await.with_gpg("");
    let config = signs.0.scene.workspace.agent_dir().join("config.yml");
    let before = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{before}containment: {{ network: 'off' }}\n")).unwrap();
    let results = signs.run().await;
    assert!(results[0].contains("omp signed a commit"), "{results:?}");
}

/// Without signing in the user's configuration, nothing is set up.
#[tokio::test]
async fn nothing_is_set_up_unless_the_user_signs() {
    let signs = person(&["git commit -q --allow-empty -m one; env | grep -c ^GIT_CONFIG_"]).await;
    let results = signs.run().await;
    assert!(results[0].starts_with("0\n") && !results[0].contains("omp signed"), "{results:?}");
}
