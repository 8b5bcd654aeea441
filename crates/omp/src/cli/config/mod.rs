//! `omp config`: shows and changes settings from a shell. The crates that declare the settings know their meaning;
//! `omp-config` knows how to edit the file.

mod page;
mod schema;
mod sources;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use omp_commands::SettingsDesk;
use omp_config::{Choices, Dirs, Places, discover_chosen, told_complaints};
use omp_headless::Exit;
use omp_types::Env;

use crate::folder::unused::Unused;
use crate::folder::{FolderProblem, FolderSetup, working_folder};
use crate::output::{complain, print, print_quoted, warn};

pub use page::markdown;
#[cfg(test)]
pub use page::{PAGE_BEGIN, PAGE_END};

const EXAMPLES: &str = "\
Examples:
  omp config list --changed                  list settings that are set, and where
  omp config get tools.approvalMode          print one value
  omp config set tools.approvalMode ask-all  change your config.yml; comments are kept
  omp config set disabledProviders '[a, b]'  values are written in YAML
  omp config reset tools.approvalMode        go back to the default
  $EDITOR \"$(omp config path)\"               edit your config.yml
  omp config sources                         list the files omp found here, and what they are for
  omp config schema > config.schema.json     for completion in editors, see docs/config.md

Exit codes: 0 done, 1 the file could not be written, 2 unknown setting or invalid value.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,

    /// Print one JSON value
    #[arg(long, global = true)]
    json: bool,

    /// Read more settings from this file, which win over config.yml (repeatable)
    #[arg(long, global = true, value_name = "FILE")]
    config: Vec<PathBuf>,

    /// Use the settings of this folder instead of the current one
    #[arg(long, global = true, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
enum ConfigCommand {
    /// List every setting, its value and where it comes from
    List(ConfigListArgs),
    /// Print the value of a setting
    Get { key: String },
    /// Change a setting in your config.yml
    Set {
        key: String,
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from your config.yml, which restores its default
    Reset { key: String },
    /// Print the path of your config.yml; with --json, of every settings file in use
    Path,
    /// Print a JSON Schema of config.yml, for editors
    Schema,
    /// List rules, skills, commands, context files and servers found here, and which of them are not used
    Sources,
}

#[derive(Args, Debug)]
struct ConfigListArgs {
    /// Only settings that are set in some file
    #[arg(long)]
    changed: bool,

    /// Print the table of docs/settings.md
    #[arg(long, hide = true)]
    markdown: bool,
}

pub fn run(args: ConfigArgs, env: &Env) -> Result<Exit, FolderProblem> {
    let dirs = Dirs::from_env(env)?;
    let cwd = working_folder(args.cwd.as_deref())?;
    if let ConfigCommand::Schema = args.command {
        return print(&format!("{:#}\n", schema::schema(&crate::folder::settings_list::known())));
    }
    let file = dirs.settings_file();
    if let (ConfigCommand::Path, false) = (&args.command, args.json) {
        return print(&format!("{}\n", file.display()));
    }
    let (settings, mut warnings) = FolderSetup::settings(&dirs, &cwd, &args.config)?;
    warnings.extend(told_complaints(settings.complaints()));
    if let ConfigCommand::Sources = args.command {
        warn(&warnings);
        let places = Places { home: &dirs.home, agent: &dirs.agent, cwd: &cwd };
        let found = discover_chosen(&places, &Choices::read(&settings, &dirs.home).with_environment(env, &dirs.home));
        let unused = Unused::of(&found, &settings, &dirs.agent, &cwd);
        if args.json {
            return print(&format!("{:#}\n", sources::json(&found, &unused)));
        }
        warn(&found.warnings);
        return print_quoted(&sources::text(&found, &unused, &dirs.home));
    }
    let desk = SettingsDesk { settings, file, cwd, home: dirs.home, json: args.json };
    let told = match args.command {
        ConfigCommand::List(list) => {
            // Problems in the settings files are reported together with the list.
            warn(&warnings);
            match list.markdown {
                true => markdown(desk.settings.known().settings()),
                false => desk.list(list.changed),
            }
        }
        ConfigCommand::Get { key } => desk.get(&key)?,
        ConfigCommand::Set { key, value } => match desk.set(&key, &value)? {
            Ok(told) => warned(&desk, &key, told),
            Err(problem) => return Ok(complain(&problem, Exit::Failed)),
        },
        ConfigCommand::Reset { key } => match desk.reset(&key)? {
            Ok(told) => warned(&desk, &key, told),
            Err(problem) => return Ok(complain(&problem, Exit::Failed)),
        },
        ConfigCommand::Path | ConfigCommand::Schema | ConfigCommand::Sources => desk.files(),
    };
    print(&told)
}

/// Returns the message about the change, and warns if a stronger layer overrides the setting in this folder.
fn warned(desk: &SettingsDesk, key: &str, told: String) -> String {
    let key = desk.key(key).unwrap_or_else(|_| key.to_owned());
    warn(desk.stronger(&key).as_slice());
    told
}
