//! The rows of the documentation, and how commands are found in scripts.

use super::*;

const PAGE: &str = include_str!("../../../../docs/approval.md");

fn found(script: &str) -> Option<&'static IrreversibleRow> {
    let rows =
        crate::read(script).commands.iter().filter_map(|command| irreversible(&command.words)).collect::<Vec<_>>();
    rows.iter().find(|row| row.is_warned).or(rows.first()).copied()
}

fn cell(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" ")
}

fn line(row: &IrreversibleRow) -> String {
    let verbs = match row.verbs {
        IrreversibleVerbs::Whole => "everything".to_owned(),
        IrreversibleVerbs::First(verbs) => cell(verbs),
        IrreversibleVerbs::Anywhere(verbs) => format!("{} anywhere", cell(verbs)),
        IrreversibleVerbs::NotReading => "all but reading".to_owned(),
    };
    let warned = if row.is_warned { "**warning:** " } else { "" };
    format!("| {} | {verbs} | {} | {warned}{} | {} |", cell(row.programs), cell(row.with), row.effect, cell(row.trials))
        .replace("|  |", "| |")
}

#[test]
fn the_documentation_has_the_same_rows() {
    let start = PAGE.find("| Program | Command |").expect("the table of docs/approval.md");
    let shown: Vec<&str> = PAGE[start..].lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    let wanted: Vec<String> = IRREVERSIBLE.iter().map(line).collect();
    assert_eq!(shown.join("\n"), wanted.join("\n"));
}

#[test]
fn a_command_is_found_however_it_is_started() {
    for script in [
        "git push",
        "git push origin main",
        "cd x && git push",
        "git -C x push",
        "git -c color.ui=never push origin HEAD",
        "git --no-pager push",
        "/usr/bin/git push",
        "sudo git push",
        "env X=y git push",
        "X=y git push",
        "timeout 60 git push",
        "sh -c 'git push'",
        "bash -c \"cd x; git push\"",
        "echo $(git push)",
        "echo main | xargs git push origin",
        "find . -name .git -execdir git push ';'",
        "(git push)",
        "if true; then git push; fi",
        "npx wrangler deploy",
        "npx --yes wrangler@3 deploy || npx wrangler deploy",
        "uv run twine upload dist/x",
        "npm exec -- vercel deploy",
        "cargo +nightly publish",
        "cargo -q publish --token x",
        "pnpm --filter x publish",
        "kubectl -n prod apply -f x",
        "kubectl --context prod delete pod x",
        "gh pr -R o/r merge 5",
        "gh -R o/r pr merge 5",
        "gh api -X DELETE repos/o/r",
        "docker build -t x --push .",
        "mvn -B clean deploy",
        "./gradlew :lib:publish",
        "aws --profile p ec2 terminate-instances --instance-ids i",
        "aws s3 cp x s3://bucket/x",
        "aws s3 rm s3://bucket/x",
        "gcloud compute instances delete list",
        "gcloud run deploy x",
        "az vm delete -n x",
        "gsutil rm gs://b/x",
        "terraform -chdir=x apply",
        "git push -o --dry-run",
        "git push -on origin",
        "git push --dry-run --no-dry-run",
        "kubectl apply --dry-run=none -f x",
        "npm publish --dry-run=false",
    ] {
        assert!(found(script).is_some(), "{script}");
    }
}

#[test]
fn what_overwrites_or_destroys_is_warned_about() {
    for (script, is_warned) in [
        ("git push", false),
        ("git push -u origin main", false),
        ("git push -f", true),
        ("git push -uf origin main", true),
        ("git push --force-with-lease=main", true),
        ("git push origin --delete x", true),
        ("git push origin :x", true),
        ("git push origin +main", true),
        ("git push --mirror", true),
        ("git push && git push -f", true),
        ("terraform apply", false),
        ("terraform destroy", true),
        ("terraform apply -destroy", true),
        ("kubectl delete pod x", true),
        ("gh repo delete o/r", true),
    ] {
        assert_eq!(found(script).map(|row| row.is_warned), Some(is_warned), "{script}");
    }
}

#[test]
fn trials_and_reading_do_not_ask() {
    for script in [
        "git push -n",
        "git push -nv origin",
        "git push --dry-run origin main",
        "git push --force --dry-run",
        "git push --help",
        "git pull",
        "git stash push",
        "git --no-pager stash push",
        "git log push",
        "npm publish --dry-run",
        "npm run publish:check",
        "npm install",
        "cargo publish --dry-run",
        "cargo publish -n",
        "cargo build",
        "terraform plan",
        "terraform init",
        "kubectl get pods",
        "kubectl apply --dry-run=client -f x",
        "kubectl -n prod logs x",
        "helm upgrade --dry-run x y",
        "docker build .",
        "docker run x",
        "docker compose up",
        "aws s3 ls",
        "aws ec2 describe-instances",
        "aws --profile x sts get-caller-identity",
        "aws s3 cp s3://bucket/x .",
        "aws configure",
        "gcloud compute instances list",
        "gcloud auth login",
        "az vm show -n x -g y",
        "az login",
        "gh pr view",
        "gh api repos/o/r",
        "ansible-playbook --check x.yml",
        "echo git push",
        "grep 'git push' x",
        "mvn test",
        "gradle build",
        "vercel dev",
    ] {
        assert_eq!(found(script), None, "{script}");
    }
}
