//! Keys in, screens and submissions out.

use std::sync::Mutex;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_tui::{PaneText, Theme};

use super::*;

#[derive(Default)]
struct World {
    clip: Mutex<Option<Result<Option<Clip>, String>>>,
    kept: Mutex<Vec<String>>,
}

fn picture(data: &str) -> ImageContent {
    ImageContent { data: data.to_owned(), mime_type: "image/png".to_owned() }
}

impl Outside for World {
    fn edit_text<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<String>, String>> {
        async { Ok(None) }.boxed()
    }

    fn clipboard(&self) -> BoxFuture<'_, Result<Option<Clip>, String>> {
        let clip = self.clip.lock().unwrap().take().unwrap_or(Ok(None));
        async { clip }.boxed()
    }

    fn read_image<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<ImageContent, String>> {
        let missing = path.contains("missing");
        async move { if missing { Err(format!("no {path}")) } else { Ok(picture(path)) } }.boxed()
    }

    fn copy<'a>(&'a self, _: &'a str, _: bool) -> BoxFuture<'a, Result<Copied, String>> {
        async { Ok(Copied::Surely) }.boxed()
    }

    fn pane_text(&self) -> BoxFuture<'_, Option<PaneText>> {
        async { None }.boxed()
    }

    fn open_url<'a>(&'a self, url: &'a omp_session::WebAddress) -> BoxFuture<'a, Result<(), String>> {
        async move { Err(format!("there is no browser for {url}")) }.boxed()
    }
}

impl FileIndex for World {
    fn complete(&self, query: &str) -> Vec<Candidate> {
        let files = [("src", true), ("src/main.rs", false), ("src/my file.rs", false), ("README.md", false)];
        let fits = files.into_iter().filter(|(path, _)| path.contains(query));
        fits.map(|(path, is_folder)| Candidate { path: path.to_owned(), is_folder }).collect()
    }

    fn starting_with(&self, typed: &str) -> Vec<Candidate> {
        self.complete("").into_iter().filter(|one| one.path.starts_with(typed)).collect()
    }
}

impl PromptHistory for World {
    fn entries(&self) -> Vec<String> {
        vec!["older".to_owned(), "newer".to_owned()]
    }

    fn keep(&self, text: &str) {
        self.kept.lock().unwrap().push(text.to_owned());
    }
}

struct Desk {
    prompt: Prompt,
    world: Arc<World>,
    keymap: Keymap,
}

impl Desk {
    fn new() -> Self {
        let world = Arc::new(World::default());
        let parts = PromptParts { outside: world.clone(), files: world.clone(), history: world.clone() };
        let mut prompt = Prompt::new(parts);
        let command = |name: &str, arguments: Option<&str>| CommandInfo {
            name: name.to_owned(),
            description: format!("does {name}"),
            arguments: arguments.map(str::to_owned),
            ..CommandInfo::default()
        };
        let commands = vec![command("model", Some("[name]")), command("move", None), command("exit", None)];
        prompt.set_commands(&SlashCommands::default(), commands);
        Self { prompt, world, keymap: Keymap::defaults() }
    }

    /// Words in quotes are typed, others are key names. Returns the step of the last one.
    fn press(&mut self, script: &str) -> PromptStep {
        let mut last = PromptStep::Nothing;
        for (at, part) in script.split('\'').enumerate() {
            if at % 2 == 1 {
                for char in part.chars() {
                    last = self.key(Key::plain(KeyCode::Char(char)));
                }
            } else {
                for name in part.split_whitespace() {
                    last = self.key(Key::parse(name).unwrap());
                }
            }
        }
        last
    }

    fn key(&mut self, key: Key) -> PromptStep {
        self.prompt.input(&Input::Key(key), &self.keymap)
    }

    fn paste(&mut self, text: &str) {
        self.prompt.input(&Input::Paste(text.to_owned()), &self.keymap);
    }

    fn screen(&mut self) -> String {
        let theme = Theme::colorless();
        let space = Space { width: 50, height: 10, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys };
        let rows = self.prompt.draw(&space);
        rows.iter().map(|row| row.text().trim_end().to_owned() + "\n").collect()
    }

    #[track_caller]
    fn sends(&mut self, script: &str) -> Submission {
        match self.press(script) {
            PromptStep::Submit(submission) => submission,
            other => panic!("{script}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_message_is_sent_and_remembered() {
    let mut desk = Desk::new();
    assert_eq!(desk.sends("'hi  ' enter").text, "hi");
    assert!(matches!(desk.press("enter"), PromptStep::Nothing), "nothing is sent twice");
    assert!(matches!(desk.press("'   ' enter"), PromptStep::Nothing), "white space is nothing");
    desk.prompt.clear();
    assert_eq!(desk.sends("' sk-secret' enter").text, "sk-secret");
    assert_eq!(*desk.world.kept.lock().unwrap(), ["hi"]);
    desk.press("up up");
    assert_eq!(desk.prompt.text(), "newer");
    desk.press("down down");
    assert_eq!(desk.prompt.text(), "");
}

#[tokio::test]
async fn a_line_goes_on_after_a_backslash_or_with_shift() {
    let mut desk = Desk::new();
    assert_eq!(desk.sends("'a\\' enter 'b' shift+enter 'c' alt+enter 'd' enter").text, "a\nb\nc\nd");
}

#[tokio::test]
async fn commands_are_completed_and_never_run_by_completing() {
    let mut desk = Desk::new();
    desk.press("'/mo'");
    insta::assert_snapshot!(desk.screen(), @"
    > /mo
    ❯ /model  does model
      /move   does move
    ");
    assert!(matches!(desk.press("enter"), PromptStep::Redraw));
    assert_eq!(desk.prompt.text(), "/model ");
    assert_eq!(desk.sends("'gpt' enter").text, "/model gpt");
    assert_eq!(desk.sends("'/model' enter").text, "/model");
    assert!(matches!(desk.press("'/ex' tab"), PromptStep::Redraw));
    assert_eq!(desk.sends("enter").text, "/exit");
    assert_eq!(desk.sends("'/xyz' enter").text, "/xyz");
    desk.press("'/mo' down tab");
    assert_eq!(desk.prompt.text(), "/move");
    desk.prompt.clear();
    desk.press("'/mo' escape");
    assert_eq!(desk.screen(), "> /mo\n");
    assert!(matches!(desk.press("escape"), PromptStep::Act(Action::Interrupt)));
}

#[tokio::test]
async fn files_are_offered_as_they_are_found() {
    let mut desk = Desk::new();
    desk.press("'see @src'");
    desk.prompt.wait().await;
    // The first lookup was for fewer letters; its result is not shown.
    desk.prompt.wait().await;
    insta::assert_snapshot!(desk.screen(), @"
    > see @src
    ❯ src/
      src/main.rs
      src/my file.rs
    ");
    desk.press("down down tab");
    assert_eq!(desk.prompt.text(), "see @\"src/my file.rs\" ");
    assert!(!desk.prompt.editor.completing());
    desk.prompt.clear();
    desk.press("'@s'");
    desk.prompt.wait().await;
    desk.prompt.wait().await;
    desk.press("tab");
    assert_eq!(desk.prompt.text(), "@src/");
    desk.prompt.wait().await;
    assert!(desk.screen().contains("src/main.rs"), "{}", desk.screen());
    assert_eq!(desk.sends("escape enter").text, "@src/");
}

#[tokio::test]
async fn shell_lines_look_like_what_they_are() {
    let mut desk = Desk::new();
    desk.press("'!ls'");
    assert_eq!((desk.screen().as_str(), desk.prompt.mode()), ("! !ls\n", WritingMode::Shell));
    assert_eq!(desk.sends("' @a.png' enter").attachments, Vec::<String>::new());
    assert_eq!(desk.prompt.mode(), WritingMode::Message);
}

#[tokio::test]
async fn pictures_come_from_the_clipboard_from_paths_and_by_name() {
    let mut desk = Desk::new();
    *desk.world.clip.lock().unwrap() = Some(Ok(Some(Clip::Image(picture("clip")))));
    desk.press("'look ' ctrl+v");
    assert!(matches!(desk.press("enter"), PromptStep::Act(Action::Tell(_))), "it waits for the picture");
    desk.prompt.wait().await;
    desk.paste("/tmp/shot.png");
    desk.prompt.wait().await;
    desk.paste("/tmp/missing.png");
    desk.prompt.wait().await;
    assert_eq!(desk.screen(), "> look [image #1][image #2]/tmp/missing.png\n");
    let submission = desk.sends("' and @x.png @missing.png' escape enter");
    assert_eq!(submission.text, "look [image #1][image #2]/tmp/missing.png and @x.png @missing.png");
    let (content, problems) = submission.content(&*desk.world).await;
    let data: Vec<&str> = content
        .iter()
        .filter_map(|block| match block {
            omp_types::Content::Image(image) => Some(image.data.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!((data, problems), (vec!["clip", "/tmp/shot.png", "x.png"], vec!["no missing.png".to_owned()]));
}

#[tokio::test]
async fn the_clipboard_may_hold_text_nothing_or_be_out_of_reach() {
    let mut desk = Desk::new();
    *desk.world.clip.lock().unwrap() = Some(Ok(Some(Clip::Text("words".to_owned()))));
    desk.paste("");
    desk.prompt.wait().await;
    assert_eq!(desk.prompt.text(), "words");
    for clip in [Ok(None), Err("no program".to_owned())] {
        *desk.world.clip.lock().unwrap() = Some(clip);
        desk.press("ctrl+v");
        assert!(matches!(desk.prompt.wait().await, PromptStep::Act(Action::Tell(_))));
    }
}

#[tokio::test]
async fn long_pastes_are_markers_until_they_are_sent() {
    let mut desk = Desk::new();
    let long: String = (1..=20).map(|number| format!("line {number}\n")).collect();
    desk.paste(&long);
    assert_eq!(desk.screen(), "> [paste #1 +20 lines]\n");
    assert_eq!(desk.sends("enter").text, long.trim());
}

#[tokio::test]
async fn keys_of_the_application_pass_through() {
    let mut desk = Desk::new();
    assert!(matches!(desk.press("ctrl+d"), PromptStep::Act(Action::Exit)));
    assert!(matches!(desk.press("'ab' home ctrl+d"), PromptStep::Redraw), "with text it deletes");
    assert_eq!(desk.prompt.text(), "b");
    assert!(matches!(desk.press("ctrl+g"), PromptStep::Act(Action::ExternalEditor)));
    assert!(matches!(desk.press("ctrl+c"), PromptStep::Act(Action::Clear)));
    assert_eq!((desk.prompt.line().as_str(), desk.prompt.clear(), desk.prompt.clear()), ("b", true, false));
}

#[tokio::test]
async fn the_editor_at_three_sizes_and_in_both_themes() {
    for (name, script) in [("message", "'fix it'"), ("commands", "'/mo'"), ("shell", "'!ls'"), ("python", "'$1 + 1'")] {
        let mut desk = Desk::new();
        desk.press(script);
        insta::assert_snapshot!(name, crate::looks::looks(|space| desk.prompt.draw(space)));
    }
    let mut desk = Desk::new();
    let theme = Theme::colorless();
    desk.press("'a message that is longer than a row of a small window'");
    let rows =
        desk.prompt.draw(&Space { width: 40, height: 10, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys });
    let rows: Vec<_> = rows.iter().map(Line::text).collect();
    assert_eq!(rows.len(), 2, "no rules in a small window: {rows:?}");
}
