//! `/plan`: starts plan mode, and then executes the plan.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Command, PLAN_APPROVED, PLAN_FILE, Session, SlashCommand, SlashReply};
use omp_types::Content;

pub struct PlanCommand;

impl SlashCommand for PlanCommand {
    fn name(&self) -> &str {
        "plan"
    }

    fn description(&self) -> &str {
        "Turn plan mode on or off; `go` runs the plan"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[prompt|go]")
    }

    fn takes_attachments(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let plans = session.snapshot().plans;
            match arguments {
                "" => {
                    set(session, !plans).await?;
                    Ok(SlashReply::Text(if plans { switched_off() } else { switched_on() }))
                }
                "go" if !plans => Err("there is no plan to run\nhint: start one with /plan".to_owned()),
                "go" => {
                    set(session, false).await?;
                    Ok(SlashReply::Prompt(vec![Content::text(PLAN_APPROVED.trim())].into()))
                }
                prompt => {
                    set(session, true).await?;
                    Ok(SlashReply::Prompt(vec![Content::text(prompt)].into()))
                }
            }
        }
        .boxed()
    }
}

async fn set(session: &Session, on: bool) -> Result<(), String> {
    session.send(Command::SetPlanMode(on)).await.map_err(|closed| closed.to_string())?;
    session.until(|state| state.plans == on).await.map_err(|closed| closed.to_string())
}

fn switched_on() -> String {
    format!(
        "Plan mode is on: the model reads the project and writes a plan to {PLAN_FILE}, without changing any files. Run the plan with /plan go, leave plan mode with /plan."
    )
}

fn switched_off() -> String {
    "Plan mode is off.".to_owned()
}
