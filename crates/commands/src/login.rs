//! `/login` and `/logout`: API keys of providers, stored in the agent folder.
//!
//! The terminal asks for a key in a dialog that does not show it. In other modes typed text may be stored by others (a
//! client's log, a shell's history), so there the command only explains how to provide a key.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply};
use omp_types::{PROVIDER_KEYS, is_served};

use crate::{KeyFile, ModelDirectory};

pub struct LoginCommand {
    pub keys: Arc<dyn KeyFile>,
}

impl SlashCommand for LoginCommand {
    fn name(&self) -> &str {
        "login"
    }

    fn description(&self) -> &str {
        "Add a provider's API key"
    }

    fn aliases(&self) -> &[&str] {
        &["setup", "providers"]
    }

    fn arguments(&self) -> Option<&str> {
        Some("[provider]")
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let variable = match arguments {
                "" | "providers" => "the provider's variable".to_owned(),
                name => variables(name)?.join(" or "),
            };
            Ok(SlashReply::Text(format!(
                "keys cannot be entered here\nhint: run `omp setup` in a terminal, use /login in the terminal app, or set {variable} in the environment or in {}",
                self.keys.shown_path()
            )))
        }
        .boxed()
    }
}

fn variables(provider: &str) -> Result<&'static [&'static str], String> {
    if !is_served(provider) {
        return Err(format!(
            "omp does not support `{provider}` yet\nhint: `omp --list-models` lists the providers it supports"
        ));
    }
    let known = PROVIDER_KEYS.iter().find(|(name, _)| *name == provider).map(|(_, variables)| *variables);
    known.ok_or_else(|| format!("unknown provider `{provider}`\nhint: `omp --list-models` lists the providers"))
}

pub struct LogoutCommand {
    pub keys: Arc<dyn KeyFile>,
    pub models: Arc<dyn ModelDirectory>,
}

impl SlashCommand for LogoutCommand {
    fn name(&self) -> &str {
        "logout"
    }

    fn description(&self) -> &str {
        "Remove a provider's API key"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[provider]")
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let file = self.keys.shown_path();
            if arguments.is_empty() {
                let kept = self.keys.providers();
                return Ok(SlashReply::Text(match kept.is_empty() {
                    true => format!("{file} has no keys"),
                    false => format!("{file} has keys for: {}\n`/logout <provider>` removes one", kept.join(", ")),
                }));
            }
            variables(arguments)?;
            let dropped = self.keys.drop_key(arguments)?;
            if dropped.variables.is_empty() {
                return Err(format!("{file} has no key for {arguments}"));
            }
            let mut told = format!("removed {} from {file}", dropped.variables.join(" and "));
            match dropped.outside {
                Some(variable) => told.push_str(&format!("; {variable} in your environment still holds a key")),
                None => self.models.forget_key(arguments).await,
            }
            Ok(SlashReply::Text(told))
        }
        .boxed()
    }
}
