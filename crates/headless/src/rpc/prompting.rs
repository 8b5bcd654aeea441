//! Commands that start or stop the model's work.

use std::sync::Arc;

use omp_session::{Called, Command, CommandSource, Obeyed, Prompt, TypedPrompt};
use omp_types::Content;
use omp_wire::{NewsFrame, PromptReply, PromptRequest, StreamingBehavior};
use serde_json::Value;

use super::current::Current;
use super::frame::{DONE, Outcome, Refusal, data, response};
use super::input::Request;
use super::server::Server;

const BUSY: &str = "Agent is already processing. Use steer() or followUp() to queue messages, or wait for completion.";

fn content(said: PromptRequest) -> Vec<Content> {
    let images = said.images.into_iter().map(Content::Image);
    std::iter::once(Content::text(said.message)).chain(images).collect()
}

/// Whether a `prompt` calls a slash command that runs without blocking other commands.
pub fn takes_long(current: &Current, request: &Request) -> bool {
    let said: Result<PromptRequest, _> = request.fields();
    said.is_ok_and(|said| {
        current.session.commands().find(&said.message).is_some_and(|(command, _)| command.takes_long())
    })
}

/// Responds to a `prompt` before its work begins.
pub async fn prompt(server: &Server, current: Arc<Current>, request: &Request) {
    let said: PromptRequest = match request.fields() {
        Ok(said) => said,
        Err(refusal) => return server.answer(request, Err(refusal)),
    };
    let behavior = said.streaming_behavior;
    let command = match current.session.obey(TypedPrompt::last_text(content(said))).await {
        Err(problem) => return server.answer(request, Err(problem.into())),
        Ok(Obeyed::Send(Command::Retry)) if current.activity.works() => {
            return server.answer(request, Err(BUSY.into()));
        }
        Ok(Obeyed::Send(command)) => command,
        Ok(Obeyed::Show { text, .. }) => {
            server.output.frame(&NewsFrame::CommandOutput { text: text.as_str().into() });
            return server.answer(request, data(&PromptReply { agent_invoked: false }));
        }
        Ok(Obeyed::Switch(wish)) => {
            // The old session is awaited until it ends, so no reference may be held here.
            drop(current);
            let gone_over = server.go_over(wish).await;
            return server.answer(request, gone_over.and_then(|()| data(&PromptReply { agent_invoked: false })));
        }
    };
    server.answer(request, DONE);
    let sent = match (command, behavior) {
        (command, _) if !current.activity.works() => ask(&current, command, request.id.clone(), "prompt").await,
        (Command::Prompt(prompt), Some(StreamingBehavior::Steer)) => send(&current, Command::Steer(prompt)).await,
        (Command::Prompt(prompt), Some(StreamingBehavior::FollowUp)) => send(&current, Command::FollowUp(prompt)).await,
        _ => Err(BUSY.into()),
    };
    late(server, request.id.as_ref(), "prompt", sent);
}

pub async fn steer(current: &Current, request: &Request) -> Outcome {
    let prompt = message(current, request.fields()?).await?;
    send(current, Command::Steer(prompt)).await
}

pub async fn follow_up(current: &Current, request: &Request) -> Outcome {
    let prompt = message(current, request.fields()?).await?;
    send(current, Command::FollowUp(prompt)).await
}

pub async fn abort_and_prompt(server: &Server, current: &Current, request: &Request) {
    let said: Result<PromptRequest, Refusal> = request.fields();
    let prompt = match said {
        Ok(said) => message(current, said).await,
        Err(refusal) => Err(refusal),
    };
    let prompt = match prompt {
        Ok(prompt) => prompt,
        Err(refusal) => return server.answer(request, Err(refusal)),
    };
    current.abort().await;
    server.answer(request, DONE);
    let sent = ask(current, Command::Prompt(prompt), request.id.clone(), "abort_and_prompt").await;
    late(server, request.id.as_ref(), "abort_and_prompt", sent);
}

/// Returns the prompt for a message, or for a command of a file or a skill. Other commands need `prompt`.
async fn message(current: &Current, said: PromptRequest) -> Result<Prompt, Refusal> {
    let called = match current.session.commands().read(&said.message, &[]) {
        Called::Message => return Ok(content(said).into()),
        Called::Refused(why) => return Err(why.into()),
        Called::Command(called) => called,
    };
    let name = called.name().to_owned();
    if called.source() != CommandSource::Builtin
        && let Obeyed::Send(Command::Prompt(prompt)) = called.run(&current.session, said.images.into()).await?
    {
        return Ok(prompt);
    }
    Err(format!("/{name} is not a message\nhint: send it with `prompt`").into())
}

async fn ask(current: &Current, said: Command, id: Option<Value>, command: &'static str) -> Outcome {
    current.activity.asked(id, command);
    send(current, said).await
}

pub async fn send(current: &Current, command: Command) -> Outcome {
    current.session.send(command).await.map_err(|error| Refusal::from(error.to_string()))?;
    DONE
}

/// Reports a failure after the acknowledgement.
fn late(server: &Server, id: Option<&Value>, command: &str, outcome: Outcome) {
    if outcome.is_err() {
        server.output.frame(&response(id, command, &outcome));
    }
}
