//! `/doctor`: checks this machine and this folder, like `omp doctor`.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply};

use crate::SessionFolder;

pub struct DoctorCommand {
    pub folder: Arc<dyn SessionFolder>,
}

impl SlashCommand for DoctorCommand {
    fn name(&self) -> &str {
        "doctor"
    }

    fn description(&self) -> &str {
        "Check settings, keys, shell, sandbox, terminal and git"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[local]")
    }

    fn takes_long(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let local = match arguments {
                "" => false,
                "local" => true,
                other => return Err(format!("unknown argument `{other}`\nhint: usage: /doctor [local]")),
            };
            Ok(SlashReply::Text(self.folder.examine(local).await?.trim_end().to_owned()))
        }
        .boxed()
    }
}
