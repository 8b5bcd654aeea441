//! Sessions through the host, as front ends request them: branches, pages and lists, including invalid input.

use std::path::Path;
use std::time::SystemTime;

use omp_store::{BlobStore, EntryBody, EntryId, NewSession, SessionWriter, SessionsDir};
use omp_testkit::{MockProvider, TempWorkspace, Wire};
use omp_types::{Message, UserMessage, text_of};

use super::*;

/// A host without a server, because no test here sends a request.
struct House {
    workspace: TempWorkspace,
    args: RunArgs,
}

impl House {
    fn new() -> Self {
        let workspace = TempWorkspace::new(&[("file", "not a folder")]).unwrap();
        workspace.write_provider(&MockProvider::new("http://127.0.0.1:9", Wire::Completions.api())).unwrap();
        let mut args = RunArgs { cwd: Some(workspace.project()), ..RunArgs::default() };
        args.model.model = Some("mock/mock-model".to_owned());
        Self { workspace, args }
    }

    fn host(&self) -> Host {
        let setup = FolderSetup::new(&self.args, &self.workspace.env_snapshot()).unwrap();
        Host::new(self.args.clone(), &setup, false)
    }

    /// Creates a session in which the user sent these texts. Returns its file and entries.
    fn said(&self, cwd: &Path, texts: &[&str]) -> (PathBuf, Vec<EntryId>) {
        std::fs::create_dir_all(cwd).unwrap();
        let agent = self.workspace.agent_dir();
        let folder = SessionsDir::new(&agent, &self.workspace.env_snapshot()).session_dir_for(cwd);
        let new = NewSession { cwd, now: SystemTime::now(), parent_session: None };
        let mut writer = SessionWriter::create(&folder, BlobStore::new(&agent), new);
        let entry = |text: &&str| EntryBody::Message(Arc::new(Message::User(UserMessage::text(*text))));
        let ids = texts.iter().map(|text| writer.append(&entry(text)).unwrap()).collect();
        (writer.path().to_owned(), ids)
    }
}

async fn resumed(host: &Host, file: &Path) -> OpenSession {
    host.open(Wish::Resume { file: file.to_owned(), cwd: None }).await.unwrap()
}

fn told(opened: &OpenSession) -> Vec<String> {
    let text = |message: &Arc<Message>| match &**message {
        Message::User(user) => text_of(&user.content),
        other => panic!("{other:?}"),
    };
    opened.session.messages().iter().map(text).collect()
}

#[track_caller]
fn complains<T>(result: Result<T, String>, parts: &[&str]) {
    let problem = result.err().expect("it went well");
    assert!(parts.iter().all(|part| problem.contains(part)), "{problem}");
}

#[tokio::test]
async fn the_names_of_commands_are_known_before_there_is_a_session() {
    let house = House::new();
    let opened = house.host().open(Wish::New { cwd: None, parent: None }).await.unwrap();
    let commands = opened.session.commands();
    let commands = commands.iter();
    let names = commands.flat_map(|it| std::iter::once(it.name()).chain(it.aliases().iter().copied()));
    let names: BTreeSet<&str> = names.collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), omp_commands::NAMES);
}

#[tokio::test]
async fn a_branch_holds_what_was_said_up_to_an_entry() {
    let house = House::new();
    let (file, ids) = house.said(&house.workspace.project(), &["one", "two", "three"]);
    let before = std::fs::read(&file).unwrap();
    let host = house.host();
    for (leaf, expect) in [(Some(&ids[1]), &["one", "two"][..]), (Some(&ids[0]), &["one"]), (None, &[])] {
        let branch = host.open(Wish::Branch { file: file.clone(), leaf: leaf.cloned() }).await.unwrap();
        assert_eq!(told(&branch), expect);
        assert_ne!(branch.session.snapshot().file.as_deref(), Some(&*file));
    }
    assert_eq!(std::fs::read(&file).unwrap(), before);
    assert_eq!(house.workspace.session_files().unwrap().len(), 3, "the empty one has no file yet");
}

#[tokio::test]
async fn a_key_given_meanwhile_is_hidden_from_then_on_in_every_session() {
    const KEY: &str = "gsk-given-0123456789";
    let house = House::new();
    let host = house.host();
    let new = || Wish::New { cwd: None, parent: None };
    let first = host.open(new()).await.unwrap();
    assert_eq!(host.hide_typed(KEY), KEY);
    host.give_key("groq", KEY);
    assert!(host.hide_typed(KEY).starts_with("<<$env:S"), "a session that runs");
    assert_eq!(host.secrets().redact(KEY), "[redacted]", "pages and logs");
    let OpenSession { session, actor, shell, python, todos, .. } = first;
    drop((session, shell, python, todos));
    actor.await.unwrap();
    assert_eq!(host.hide_typed(KEY), KEY, "nobody is there to hide it");
    let _later = host.open(new()).await.unwrap();
    assert!(host.hide_typed(KEY).starts_with("<<$env:S"), "a session that is opened later");
}

#[tokio::test]
async fn a_branch_of_nothing_is_refused() {
    let mut house = House::new();
    let (file, ids) = house.said(&house.workspace.project(), &["one"]);
    let at = |file: &Path, leaf: &EntryId| Wish::Branch { file: file.to_owned(), leaf: Some(leaf.clone()) };
    let host = house.host();
    complains(host.open(at(&file, &"nowhere".into())).await, &["no entry nowhere", "hint:"]);
    complains(host.open(at(&house.workspace.path("gone.jsonl"), &ids[0])).await, &["gone.jsonl"]);
    complains(host.open(at(&house.workspace.path("file"), &ids[0])).await, &["is not a session file"]);
    complains(host.open(at(&house.workspace.project(), &ids[0])).await, &["project"]);
    house.args.session.session_dir = Some(house.workspace.path("file"));
    complains(house.host().open(at(&file, &ids[0])).await, &["cannot write session", "hint:"]);
    assert_eq!(house.workspace.session_files().unwrap(), [file]);
}

#[tokio::test]
async fn a_session_becomes_a_page_in_its_folder() {
    let house = House::new();
    let other = house.workspace.home().join("other");
    let (file, _) = house.said(&other, &["one", "two"]);
    let host = house.host();
    let opened = host.open(Wish::Resume { file: file.clone(), cwd: Some(other.clone()) }).await.unwrap();
    let page = host.export(&opened.session, None).unwrap();
    let name = format!("omp-session-{}.html", file.file_stem().unwrap().to_str().unwrap());
    assert_eq!(page, other.canonicalize().unwrap().join(name));
    assert!(std::fs::read_to_string(&page).unwrap().contains("<p>two</p>"));
    assert_eq!(host.export(&opened.session, None).unwrap(), page, "an earlier page is replaced");
    let named = host.export(&opened.session, Some("talk.html".into())).unwrap();
    assert_eq!(named, page.with_file_name("talk.html"));
    std::fs::remove_dir_all(&other).unwrap();
    let here = host.export(&opened.session, None).unwrap();
    assert_eq!(here.parent(), Some(&*house.workspace.project()), "where its folder is gone");
}

#[tokio::test]
async fn what_cannot_become_a_page_is_told() {
    let mut house = House::new();
    let (file, _) = house.said(&house.workspace.project(), &["one"]);
    let host = house.host();
    let opened = resumed(&host, &file).await;
    let export = |to: &str| host.export(&opened.session, Some(to.into()));
    complains(export("file"), &["already exists and is not an omp export", "hint:"]);
    complains(export("file/in/it.html"), &["cannot write", "hint:"]);
    complains(export("no/such/folder.html"), &["cannot write", "hint:"]);
    complains(export("."), &["hint:"]);
    assert_eq!(house.workspace.read("file").unwrap(), "not a folder");
    std::fs::remove_file(&file).unwrap();
    complains(export("page.html"), &["no longer exists", "hint:"]);
    let fresh = host.open(Wish::New { cwd: None, parent: None }).await.unwrap();
    complains(host.export(&fresh.session, None), &["this session has no messages yet", "hint:"]);
    house.args.session.no_session = true;
    let host = house.host();
    let unkept = host.open(Wish::New { cwd: None, parent: None }).await.unwrap();
    complains(host.export(&unkept.session, None), &["in-memory", "hint:"]);
}

#[tokio::test]
async fn sessions_are_listed_by_folder_and_all_together() {
    let mut house = House::new();
    let (project, other) = (house.workspace.project(), house.workspace.home().join("other"));
    let host = house.host();
    assert!(host.sessions(None).unwrap().is_empty());
    let (older, _) = house.said(&project, &["  first words  ", "more"]);
    let (newer, _) = house.said(&project, &["later words"]);
    let (elsewhere, _) = house.said(&other, &["other words"]);
    let hour = std::time::Duration::from_secs(3600);
    for (file, age) in [(&older, 3), (&newer, 1), (&elsewhere, 2)] {
        let file = std::fs::File::options().write(true).open(file).unwrap();
        file.set_modified(SystemTime::now() - hour * age).unwrap();
    }
    std::fs::write(newer.with_file_name("junk.jsonl"), "no session\n").unwrap();
    let files = |cwd: Option<&Path>| -> Vec<PathBuf> {
        let listed = host.sessions(cwd.map(Path::to_owned)).unwrap();
        listed.into_iter().map(|listing| listing.file).collect()
    };
    assert_eq!(files(Some(&project)), [newer.clone(), older.clone()]);
    assert_eq!(files(Some(&other)), std::slice::from_ref(&elsewhere));
    assert_eq!(files(Some(Path::new("/nowhere"))), [] as [PathBuf; 0]);
    assert_eq!(files(None), [newer, elsewhere, older.clone()]);
    let listing = host.sessions(Some(project.clone())).unwrap().remove(1);
    assert_eq!((listing.cwd, listing.title, listing.first_message.as_deref()), (project, None, Some("first words")));
    assert!(older.to_str().unwrap().contains(&listing.id));
    house.args.session.session_dir = Some(house.workspace.path("file"));
    complains(house.host().sessions(None), &["cannot read the sessions folder", "hint:"]);
}

#[tokio::test]
async fn lists_names_and_pages_do_not_read_the_settings_again() {
    let house = House::new();
    let (file, _) = house.said(&house.workspace.project(), &["one"]);
    let (other, _) = house.said(&house.workspace.project(), &["two"]);
    let host = house.host();
    let opened = resumed(&host, &file).await;
    // Reading this broken file would fail.
    house.workspace.write_config_yml("tools: [\n").unwrap();
    assert_eq!(host.sessions(None).unwrap().len(), 2);
    host.rename(&other, "a name").unwrap();
    host.export(&opened.session, None).unwrap();
    host.delete(&other).unwrap();
    assert_eq!(host.sessions(None).unwrap().len(), 1);
    complains(host.open(Wish::New { cwd: None, parent: None }).await, &["config.yml"]);
}
