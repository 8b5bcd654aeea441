//! The page around the conversation: content security policy, session data, and navigation.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use omp_stdx::format::plural;
use omp_store::LoadedSession;
use omp_types::{Secrets, Tally};
use sha2::{Digest, Sha256};

use crate::SystemContext;
use crate::agents::AgentSections;
use crate::entry::usage_text;
use crate::markup::Html;
use crate::sidebar::sidebar;
use crate::talk::SidebarOutline;

/// The start of every export; a file that starts differently is not overwritten.
pub(crate) const BEGINNING: &str = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"omp session export\">\n";
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Data in the head of a page.
pub(crate) struct PageHead<'a> {
    pub session: &'a LoadedSession,
    pub secrets: &'a Secrets,
    pub tally: &'a Tally,
    pub told: Option<&'a SystemContext<'a>>,
    pub outline: &'a SidebarOutline,
    pub agents: &'a AgentSections,
}

/// Writes everything before the conversation.
pub(crate) fn head(head: &PageHead<'_>) -> Html {
    let mut html = Html::default();
    let title = title_of(head);
    html.raw(BEGINNING).raw("<meta http-equiv=\"Content-Security-Policy\"").attr("content", &policy()).raw(">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
    html.raw("<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"robots\" content=\"noindex\">\n");
    html.element("<title>", &title, "</title>\n").raw("<style>").raw(STYLE).raw("</style></head>\n<body>\n");
    html.raw("<nav aria-label=\"Conversation\"><h2>Conversation</h2>");
    sidebar(&mut html, head.outline);
    list_agents(&mut html, head.agents);
    html.raw("</nav>\n<main>\n<header>").element("<h1>", &title, "</h1>");
    facts(&mut html, head);
    html.raw("<button id=\"theme\" type=\"button\" hidden>Light or dark</button>");
    html.raw("<button id=\"fold\" type=\"button\" hidden>Open or close details</button>");
    setup(&mut html, head);
    problems(&mut html, head);
    html.raw("</header>\n");
    html
}

/// Writes everything after the conversation.
pub(crate) fn foot() -> Html {
    let mut html = Html::default();
    html.raw("\n<footer>Exported by omp ").raw(env!("CARGO_PKG_VERSION")).raw("</footer>\n</main>\n");
    html.raw("<script>").raw(SCRIPT).raw("</script>\n</body></html>\n");
    html
}

/// Returns a policy under which nothing is loaded, and only this program's own scripts and styles run.
fn policy() -> String {
    let hash = |text: &str| BASE64.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn title_of(head: &PageHead<'_>) -> String {
    let first = || {
        let mentions = head.outline.mentions.iter().flat_map(|run| run.values());
        mentions.filter(|mention| mention.class == "user").map(|mention| mention.text.clone()).next()
    };
    let given = head.session.title().map(|title| head.secrets.redact(title).into_owned());
    given.or_else(first).filter(|title| !title.is_empty()).unwrap_or_else(|| format!("Session {}", head.session.id()))
}

fn facts(html: &mut Html, head: &PageHead<'_>) {
    let session = head.session.header();
    let tally = head.tally;
    html.raw("<dl class=\"facts\">");
    let mut fact = |name: &'static str, value: &str| {
        if !value.is_empty() {
            html.raw("<dt>").raw(name).raw("</dt>").element("<dd>", &head.secrets.redact(value), "</dd>");
        }
    };
    let counts = format!(
        "{} by the user, {} by the assistant, {}",
        tally.user_messages,
        tally.assistant_messages,
        plural(tally.tool_calls, "tool call", "tool calls")
    );
    let started = session.timestamp.get(..19).unwrap_or_default().replacen('T', " ", 1);
    let facts = [
        ("Session", session.id.as_str()),
        ("Folder", &session.cwd),
        ("Started", &started),
        ("Forked from", session.parent_session.as_deref().unwrap_or_default()),
        ("Messages", &counts),
    ];
    for (name, value) in facts {
        fact(name, value);
    }
    for model in &tally.models {
        let did = usage_text(model.answers, &model.usage);
        fact("Model", &format!("{}/{}: {did}", model.provider, model.model));
    }
    if tally.models.len() > 1 {
        fact("Total", &usage_text(tally.assistant_messages, &tally.usage));
    }
    html.raw("</dl>");
}

/// Writes the system prompt and tools of the model.
fn setup(html: &mut Html, head: &PageHead<'_>) {
    let Some(told) = head.told else { return };
    html.raw("<details class=\"setup\"><summary>System prompt</summary>");
    html.pre_text(&head.secrets.redact(told.system_prompt)).raw("</details>");
    let specs = told.tools.specs();
    html.raw("<details class=\"setup\"><summary>").text(&plural(specs.len(), "tool", "tools")).raw("</summary>");
    for spec in specs.iter() {
        html.element("<h5>", &spec.name, "</h5>").pre_text(&head.secrets.redact(&spec.description));
        html.raw("<details class=\"raw\"><summary>parameters</summary>").pre(&format!("{:#}", spec.parameters));
        html.raw("</details>");
    }
    html.raw("</details>\n");
}

fn problems(html: &mut Html, head: &PageHead<'_>) {
    let report = head.session.report();
    if report.is_empty() {
        return;
    }
    html.raw("<details class=\"setup\"><summary>Problems in the session file</summary>");
    html.pre(&head.secrets.redact(&report.to_string())).raw("</details>\n");
}

fn list_agents(html: &mut Html, agents: &AgentSections) {
    if agents.written.is_empty() {
        return;
    }
    html.raw("<h2>Sub-agents</h2>");
    for agent in &agents.written {
        html.raw(if agent.depth == 0 { "<details><summary>" } else { "<details class=\"d1\"><summary>" });
        html.raw("<a").attr("href", &format!("#{}", agent.anchor)).raw(">").text(&agent.name).raw("</a></summary>");
        if let Some(outline) = &agent.outline {
            sidebar(html, outline);
        }
        html.raw("</details>");
    }
    if agents.left_out > 0 {
        html.raw("<p class=\"cut\">").number(agents.left_out as u64).raw(" more sub-agents are not shown</p>");
    }
}
