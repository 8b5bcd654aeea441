//! The table. `docs/approval.md` has the same rows; a test compares them.

use super::IrreversibleRow;
use super::IrreversibleVerbs::{self, Anywhere, First, NotReading, Whole};

const DRY_RUN: &[&str] = &["--dry-run"];
const DRY_RUN_KUBE: &[&str] = &["--dry-run", "--dry-run=client", "--dry-run=server"];
const KUBE: &[&str] = &["kubectl", "oc"];
const PACKERS: &[&str] = &["npm", "pnpm", "yarn", "bun"];
const CONTAINERS: &[&str] = &["docker", "podman", "nerdctl"];
const TERRAFORM: &[&str] = &["terraform", "tofu", "terragrunt"];

const fn row(programs: &'static [&'static str], verbs: IrreversibleVerbs, effect: &'static str) -> IrreversibleRow {
    IrreversibleRow { programs, verbs, with: &[], trials: &[], effect, is_warned: false }
}

impl IrreversibleRow {
    const fn with(mut self, with: &'static [&'static str]) -> Self {
        self.with = with;
        self
    }

    const fn trials(mut self, trials: &'static [&'static str]) -> Self {
        self.trials = trials;
        self
    }

    const fn warned(mut self) -> Self {
        self.is_warned = true;
        self
    }
}

const OVERWRITES: &[&str] = &[
    "-f",
    "--force",
    "--force-with-lease",
    "--force-if-includes",
    "-d",
    "--delete",
    "--mirror",
    "--prune",
    "+REF",
    ":REF",
];

/// Rows with a warning come before the rows that they are part of.
pub const IRREVERSIBLE: &[IrreversibleRow] = &[
    row(&["git"], First(&["push"]), "overwrites or deletes what the remote repository has")
        .with(OVERWRITES)
        .trials(&["-n", "--dry-run"])
        .warned(),
    row(
        &["git"],
        First(&["push", "lfs push", "subtree push", "svn dcommit", "p4 submit", "send-email"]),
        "sends commits to others",
    )
    .trials(&["-n", "--dry-run"]),
    row(&["hg"], First(&["push"]), "sends commits to others"),
    row(&["jj"], First(&["git push"]), "sends commits to others").trials(DRY_RUN),
    row(&["svn"], First(&["commit", "ci"]), "sends commits to others"),
    row(PACKERS, First(&["unpublish"]), "unpublishes a package").trials(DRY_RUN).warned(),
    row(PACKERS, First(&["publish", "npm publish", "deprecate", "dist-tag add"]), "publishes a package")
        .trials(DRY_RUN),
    row(&["cargo"], First(&["publish", "yank"]), "publishes a package").trials(&["-n", "--dry-run"]),
    row(&["twine"], First(&["upload"]), "publishes a package"),
    row(&["poetry", "uv", "hatch", "flit", "pdm", "maturin"], First(&["publish", "upload"]), "publishes a package")
        .trials(DRY_RUN),
    row(&["gem"], First(&["push", "yank"]), "publishes a package"),
    row(&["mvn", "mvnw"], Anywhere(&["deploy", "perform", "deploy-file"]), "publishes a package"),
    row(&["gradle", "gradlew"], Anywhere(&["publish", "publishPlugins", "uploadArchives"]), "publishes a package")
        .trials(&["-m", "--dry-run"]),
    row(&["dotnet"], First(&["nuget push", "nuget delete"]), "publishes a package"),
    row(&["gh", "glab"], First(&["repo delete", "repo archive", "release delete"]), "deletes what others use").warned(),
    row(&["gh"], First(&["release create", "release edit", "release upload"]), "publishes a release"),
    row(&["glab"], First(&["release create", "release upload"]), "publishes a release"),
    row(&["gh"], First(&["pr merge"]), "merges a pull request"),
    row(&["glab"], First(&["mr merge"]), "merges a merge request"),
    row(
        &["gh"],
        First(&["repo create", "repo edit", "repo rename", "repo sync", "secret set", "secret delete", "workflow run"]),
        "changes a repository on GitHub",
    ),
    row(&["gh", "glab"], First(&["api"]), "changes something on the server").with(&[
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
        "-XPOST",
        "-XPUT",
        "-XPATCH",
        "-XDELETE",
        "--method=POST",
        "--method=PUT",
        "--method=PATCH",
        "--method=DELETE",
    ]),
    row(CONTAINERS, First(&["push", "image push", "compose push", "manifest push"]), "publishes an image"),
    row(CONTAINERS, First(&["build", "buildx build", "buildx bake", "compose build"]), "publishes an image")
        .with(&["--push"]),
    row(TERRAFORM, First(&["destroy", "state rm", "workspace delete"]), "destroys infrastructure").warned(),
    row(TERRAFORM, First(&["apply"]), "destroys infrastructure").with(&["-destroy"]).warned(),
    row(
        TERRAFORM,
        First(&[
            "apply",
            "import",
            "taint",
            "untaint",
            "refresh",
            "force-unlock",
            "state mv",
            "state push",
            "state replace-provider",
            "run-all",
        ]),
        "changes infrastructure",
    ),
    row(&["pulumi"], First(&["destroy", "stack rm", "state delete"]), "destroys infrastructure").warned(),
    row(&["pulumi"], First(&["up", "update", "import", "refresh", "cancel"]), "changes infrastructure"),
    row(KUBE, First(&["delete", "drain"]), "deletes from a cluster").trials(DRY_RUN_KUBE).warned(),
    row(
        KUBE,
        First(&[
            "apply",
            "create",
            "patch",
            "replace",
            "scale",
            "autoscale",
            "edit",
            "set",
            "label",
            "annotate",
            "taint",
            "cordon",
            "uncordon",
            "expose",
            "run",
            "exec",
            "cp",
            "debug",
            "rollout undo",
            "rollout restart",
            "rollout pause",
            "rollout resume",
        ]),
        "changes a cluster",
    )
    .trials(DRY_RUN_KUBE),
    row(&["helm"], First(&["uninstall", "delete", "un", "del"]), "deletes from a cluster")
        .trials(DRY_RUN_KUBE)
        .warned(),
    row(&["helm"], First(&["install", "upgrade", "rollback"]), "changes a cluster").trials(DRY_RUN_KUBE),
    row(&["helm"], First(&["push"]), "publishes a chart"),
    row(&["argocd"], First(&["app sync", "app set", "app rollback", "app create", "app delete"]), "changes a cluster"),
    row(&["aws"], NotReading, "changes something in the cloud").trials(&["--dry-run", "--dryrun"]),
    row(&["gcloud", "gsutil", "az"], NotReading, "changes something in the cloud"),
    row(
        &["cdk", "serverless", "sls", "sam", "eb"],
        First(&["deploy", "destroy", "remove", "delete", "terminate"]),
        "changes infrastructure",
    ),
    row(&["eksctl"], First(&["create", "delete", "scale", "upgrade"]), "changes infrastructure"),
    row(
        &["fly", "flyctl", "railway"],
        First(&[
            "deploy",
            "launch",
            "up",
            "down",
            "scale",
            "secrets set",
            "secrets unset",
            "apps destroy",
            "volumes destroy",
        ]),
        "deploys or changes a running service",
    ),
    row(
        &["vercel"],
        First(&["deploy", "promote", "rollback", "remove", "rm", "env add", "env rm"]),
        "deploys or changes a running service",
    ),
    row(&["vercel"], Whole, "deploys or changes a running service").with(&["--prod"]),
    row(
        &["netlify", "firebase", "wrangler"],
        First(&["deploy", "publish", "delete", "rollback", "secret put"]),
        "deploys or changes a running service",
    )
    .trials(DRY_RUN),
    row(
        &["heroku"],
        First(&[
            "container:release",
            "releases:rollback",
            "apps:destroy",
            "config:set",
            "config:unset",
            "pg:reset",
            "pg:promote",
            "ps:scale",
            "ps:restart",
            "run",
        ]),
        "deploys or changes a running service",
    ),
    row(&["ansible-playbook"], Whole, "changes other machines").trials(&[
        "-C",
        "--check",
        "--syntax-check",
        "--list-hosts",
        "--list-tasks",
        "--list-tags",
    ]),
];
