//! Combines commands of files with omp's own: omp's names win, but not their other names, and files that cannot be called are reported.

use std::collections::BTreeSet;
use std::sync::Arc;

use omp_session::{CommandSource, SlashCommand};

/// `/help` lists the other commands, so it is created last.
const HELP: &str = "help";

/// Adds the commands that can be called and returns a message for each of the others. `reserved` are names that a front end
/// reserves.
pub fn join(
    commands: &mut Vec<Arc<dyn SlashCommand>>,
    brought: Vec<Arc<dyn SlashCommand>>,
    reserved: &[&str],
) -> Vec<String> {
    let own = commands.iter().map(|command| command.name());
    let own: BTreeSet<String> = own.chain(reserved.iter().copied()).chain([HELP]).map(str::to_owned).collect();
    let mut taken = BTreeSet::new();
    let mut unreachable = Vec::new();
    for command in brought {
        let name = command.name();
        let why = match () {
            () if own.contains(name) => "omp has a command with this name",
            () if name.is_empty() || name.contains(|char: char| char.is_whitespace() || char.is_control()) => {
                "its name contains spaces"
            }
            () if taken.contains(name) => "another command has this name",
            () => {
                taken.insert(name.to_owned());
                commands.push(command);
                continue;
            }
        };
        let kind = if command.source() == CommandSource::Skill { "skill" } else { "file" };
        unreachable.push(format!("the {kind} command /{name} is not available: {why} · {}", command.description()));
    }
    unreachable
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;
    use omp_session::{Session, SlashReply};

    use super::*;

    struct Named(&'static str, CommandSource);

    impl SlashCommand for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn aliases(&self) -> &[&str] {
            if self.0 == "model" { &["models"] } else { &[] }
        }

        fn description(&self) -> &str {
            "about it"
        }

        fn source(&self) -> CommandSource {
            self.1
        }

        fn run<'a>(&'a self, _: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
            async { Err(String::new()) }.boxed()
        }
    }

    #[test]
    fn names_of_omps_own_win_and_the_rest_is_told() {
        let mut commands: Vec<Arc<dyn SlashCommand>> = vec![Arc::new(Named("model", CommandSource::Builtin))];
        let brought = ["review", "model", "models", "help", "exit", "two words", "review", "skill:pdf"];
        let brought = brought.map(|name| Arc::new(Named(name, CommandSource::File)) as Arc<dyn SlashCommand>);
        let told = join(&mut commands, brought.into(), &["exit"]);
        let names: Vec<&str> = commands.iter().map(|command| command.name()).collect();
        assert_eq!(names, ["model", "review", "models", "skill:pdf"]);
        let own = "omp has a command with this name";
        let whys = [own, own, own, "its name contains spaces", "another command has this name"];
        assert_eq!(told.len(), whys.len(), "{told:?}");
        assert_eq!(told[0], "the file command /model is not available: omp has a command with this name · about it");
        assert!(told.iter().zip(whys).all(|(told, why)| told.contains(why)), "{told:?}");
    }
}
