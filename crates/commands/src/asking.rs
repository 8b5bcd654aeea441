//! `/btw`, `/force` and `/fast`: other ways to send a prompt.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply};
use omp_types::{Content, ServiceTier};

use crate::ModelDirectory;

pub struct BtwCommand;

impl SlashCommand for BtwCommand {
    fn name(&self) -> &str {
        "btw"
    }

    fn description(&self) -> &str {
        "Ask a side question; it is not saved in the session"
    }

    fn arguments(&self) -> Option<&str> {
        Some("<question>")
    }

    fn takes_long(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            if arguments.is_empty() {
                return Err("no question given\nhint: usage: /btw <question>".to_owned());
            }
            session.ask_aside(arguments).await.map(SlashReply::Text)
        }
        .boxed()
    }
}

pub struct ForceCommand;

impl SlashCommand for ForceCommand {
    fn name(&self) -> &str {
        "force"
    }

    fn description(&self) -> &str {
        "Make the next answer call a given tool"
    }

    fn arguments(&self) -> Option<&str> {
        Some("<tool> [prompt]")
    }

    fn takes_attachments(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let (tool, prompt) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
            if tool.is_empty() {
                return Err("no tool given\nhint: usage: /force <tool> [prompt]".to_owned());
            }
            let tools = session.tools();
            let names: Vec<&str> = tools.specs().iter().map(|spec| spec.name.as_str()).collect();
            if !names.contains(&tool) {
                return Err(format!("unknown tool `{tool}`\nhint: the tools are {}", names.join(", ")));
            }
            if session.works().await {
                return Err(crate::WORKING.to_owned());
            }
            session.force_tool(Some(tool));
            Ok(match prompt.trim() {
                "" => SlashReply::Text(format!("the next answer must call `{tool}`")),
                prompt => SlashReply::Prompt(vec![Content::text(prompt)].into()),
            })
        }
        .boxed()
    }
}

pub struct FastCommand {
    pub models: Arc<dyn ModelDirectory>,
}

impl SlashCommand for FastCommand {
    fn name(&self) -> &str {
        "fast"
    }

    fn description(&self) -> &str {
        "Use the priority tier: faster, at a higher price"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[on|off|status]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let is_fast = session.service_tier() == Some(ServiceTier::Priority);
            let wanted = match arguments {
                "" => !is_fast,
                "on" => true,
                "off" => false,
                "status" => return Ok(SlashReply::Text(self.status(session))),
                other => return Err(format!("unknown argument `{other}`\nhint: usage: /fast [on|off|status]")),
            };
            if wanted != is_fast {
                session.set_service_tier(wanted.then_some(ServiceTier::Priority));
            }
            Ok(SlashReply::Text(self.status(session)))
        }
        .boxed()
    }
}

impl FastCommand {
    fn status(&self, session: &Session) -> String {
        let model = session.snapshot().model.clone();
        let told = match session.service_tier() {
            Some(ServiceTier::Priority) => "fast mode is on (service tier priority)".to_owned(),
            Some(other) => format!("fast mode is off (service tier {})", other.as_str()),
            None => "fast mode is off".to_owned(),
        };
        match session.service_tier().is_some() && !self.models.takes_service_tier(&model) {
            true => format!("{told}; {} has no service tiers, so this has no effect", model.selector()),
            false => told,
        }
    }
}
