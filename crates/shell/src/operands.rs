//! Finds the subcommand of a program behind its options.

use crate::ShellWord;

/// Options of git before its verb that take the next word.
pub(crate) const GIT_WITH_VALUE: &[&str] = &[
    "-c",
    "-C",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
    "--attr-source",
    "--super-prefix",
];

/// Options that take the next word as their value, by program. Options that are not listed are taken for flags.
const WITH_VALUE: &[(&[&str], &[&str])] = &[
    (&["git"], GIT_WITH_VALUE),
    (&["git"], &["-o", "--push-option", "--repo", "--receive-pack", "--exec"]),
    (
        &["npm", "pnpm", "yarn", "bun"],
        &[
            "--prefix",
            "-C",
            "--dir",
            "--cwd",
            "-w",
            "--workspace",
            "-F",
            "--filter",
            "--registry",
            "--tag",
            "--otp",
            "--access",
            "--userconfig",
            "--cache",
            "--loglevel",
        ],
    ),
    (
        &["cargo"],
        &[
            "--config",
            "-C",
            "-Z",
            "--color",
            "--manifest-path",
            "-p",
            "--package",
            "--registry",
            "--index",
            "--token",
            "--target",
            "--target-dir",
            "-j",
            "--jobs",
        ],
    ),
    (
        &["kubectl", "oc", "helm"],
        &[
            "-n",
            "--namespace",
            "--context",
            "--kube-context",
            "--cluster",
            "--user",
            "--kubeconfig",
            "-s",
            "--server",
            "--token",
            "--as",
            "--as-group",
            "--request-timeout",
            "-f",
            "--filename",
            "-o",
            "--output",
            "-l",
            "--selector",
            "-v",
        ],
    ),
    (
        &["aws"],
        &[
            "--profile",
            "--region",
            "--endpoint-url",
            "--output",
            "--query",
            "--color",
            "--ca-bundle",
            "--cli-input-json",
        ],
    ),
    (
        &["gcloud", "gsutil"],
        &[
            "--project",
            "--account",
            "--configuration",
            "--format",
            "--verbosity",
            "--billing-project",
            "--impersonate-service-account",
            "--region",
            "--zone",
            "--filter",
            "--limit",
            "-h",
            "-o",
        ],
    ),
    (&["az"], &["--subscription", "-o", "--output", "--query", "-g", "--resource-group", "-n", "--name"]),
    (&["docker", "podman", "nerdctl"], &["-H", "--host", "-c", "--context", "--config", "-l", "--log-level", "-f"]),
    (&["gh", "glab"], &["-R", "--repo", "--hostname"]),
    (&["fly", "flyctl", "heroku", "railway"], &["-a", "--app", "-c", "--config", "-r", "--remote"]),
    (&["vercel", "netlify", "wrangler"], &["-A", "--local-config", "--cwd", "--token", "--scope", "-c", "--config"]),
    (&["mvn", "gradle", "gradlew"], &["-f", "--file", "-P", "-p", "--project-dir", "-b", "-pl", "-s", "--settings"]),
    (&["pulumi"], &["-C", "--cwd", "-s", "--stack", "--color"]),
    (&["go"], &["-C"]),
];

/// Whether the option takes the next word as its value.
pub(crate) fn takes_value(program: &str, option: &str) -> bool {
    let rows = WITH_VALUE.iter().filter(|(programs, _)| programs.contains(&program));
    rows.into_iter().any(|(_, options)| options.contains(&option))
}

/// The words after the program that are neither options nor their values.
pub(crate) fn operands<'a>(program: &str, words: &'a [ShellWord]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        if word.text == "--" {
            found.extend(rest.map(|word| word.text.as_str()));
            break;
        }
        match word.text.starts_with('-') && word.text.len() > 1 {
            true if takes_value(program, &word.text) => drop(rest.next()),
            true => {}
            // `cargo +nightly publish`
            false if program == "cargo" && word.text.starts_with('+') => {}
            false => found.push(word.text.as_str()),
        }
    }
    found
}
