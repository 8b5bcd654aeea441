//! External programs around the prompt: the user's editor, the clipboard, images in files.

#[cfg(test)]
mod tests;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_exec::{ChildEnv, Containment, Spawn, SpawnError, Stderr};
use omp_interactive::{Clip, Copied, Outside};
use omp_pictures::{MAX_FILE_BYTES, PictureError, PictureFormat, prepare};
use omp_session::WebAddress;
use omp_tui::{MOST_PANE_TEXT, PaneFacts, PaneText};
use omp_types::{Env, ImageContent, vars};

/// Timeout for programs that read or write the clipboard.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a program that opens a browser may take to fail; after that it counts as started.
const STARTS_WITHIN: Duration = Duration::from_secs(2);
/// Timeout for tmux to print a pane.
const PANE_PATIENCE: Duration = Duration::from_secs(1);
/// How often a pane is read that changes meanwhile.
const PANE_TRIES: usize = 3;
/// Caps the size of text read from the clipboard.
const MOST_TEXT: usize = 16 << 20;
/// Caps the size of an edited text.
const MOST_EDITED: u64 = 16 << 20;

pub struct Machine {
    env: Env,
    cwd: PathBuf,
    home: PathBuf,
    /// The file with the last text that may not have reached the clipboard.
    kept: OnceLock<PathBuf>,
}

impl Machine {
    pub fn new(env: Env, cwd: PathBuf, home: PathBuf) -> Self {
        Self { env, cwd, home, kept: OnceLock::new() }
    }

    async fn edited(&self, text: &str) -> Result<Option<String>, String> {
        let editor = self.env.get(vars::VISUAL).or_else(|| self.env.get(vars::EDITOR));
        let editor = editor.unwrap_or(if cfg!(windows) { "notepad" } else { "vi" });
        let failed = |error: std::io::Error| format!("cannot open the text in an editor: {error}");
        // Readable by the user alone, and deleted when this returns, even on errors.
        let mut file = tempfile::Builder::new().prefix("omp-").suffix(".md").tempfile().map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
        // Some editors replace the file, so the original must not be kept open.
        let path = file.into_temp_path();
        let exit = self.editor(editor, &path).run_in_front().await.map_err(|error| no_editor(editor, &error))?;
        if exit.code != 0 {
            return Err(format!("the editor `{editor}` exited with code {}; the text was not changed", exit.code));
        }
        let read = std::fs::File::open(&path).and_then(|file| {
            let mut edited = String::new();
            file.take(MOST_EDITED).read_to_string(&mut edited).map(|_| edited)
        });
        let edited = read.map_err(|error| format!("cannot read the edited text: {error}; the text was not changed"))?;
        // Editors end every file with a newline.
        let edited = edited.strip_suffix('\n').unwrap_or(&edited);
        let edited = edited.strip_suffix('\r').unwrap_or(edited);
        Ok((edited != text).then(|| edited.to_owned()))
    }

    /// `$VISUAL` may contain arguments and shell syntax.
    #[cfg(unix)]
    fn editor(&self, editor: &str, file: &Path) -> Spawn {
        let script = format!("exec {editor} \"$1\"");
        self.spawn("sh").args(["-c", &script, "sh"]).arg(file).cwd(&self.cwd)
    }

    #[cfg(not(unix))]
    fn editor(&self, editor: &str, file: &Path) -> Spawn {
        let mut words = editor.split_whitespace();
        let program = words.next().unwrap_or("notepad").to_owned();
        self.spawn(&program).args(words).arg(file).cwd(&self.cwd)
    }

    fn spawn(&self, program: &str) -> Spawn {
        Spawn::new(program, ChildEnv::attended(&self.env), &Containment::of_user()).stderr(Stderr::Discarded)
    }

    async fn pasted(&self) -> Result<Option<Clip>, String> {
        let mut any = false;
        for program in readers(&self.env) {
            let spawn = self.spawn(program.name).args(program.args);
            let read = match spawn.capture(MAX_FILE_BYTES as usize, PATIENCE).await {
                Err(SpawnError::NotFound { .. }) => continue,
                Err(error) => return Err(error.to_string()),
                Ok(read) => read,
            };
            any = true;
            let done = read.exit.is_some_and(|exit| exit.code == 0) && !read.truncated && !read.output.is_empty();
            if let Some(clip) = done.then(|| program.clip(read.output)).flatten() {
                return clip.map(Some);
            }
        }
        if any { Ok(None) } else { Err(no_program("read")) }
    }

    fn picture(&self, path: &str) -> Result<ImageContent, String> {
        let place = match path.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None => self.cwd.join(path),
        };
        let failed =
            |why: String| format!("cannot attach the image {path}: {why}\nhint: its name stays in the message");
        let (file, metadata) = omp_workspace::open_regular(&place).map_err(|error| failed(error.to_string()))?;
        if metadata.len() > MAX_FILE_BYTES {
            return Err(failed(format!("it has more than {} MiB", MAX_FILE_BYTES >> 20)));
        }
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
        sendable(bytes).map_err(failed)
    }

    async fn copied(&self, text: &str, sent: bool) -> Result<Copied, String> {
        let problem = match self.by_program(text).await {
            Ok(()) => return Ok(Copied::Surely),
            Err(problem) => problem,
        };
        if self.env.get(vars::TMUX).is_some()
            && let Some(told) = self.by_tmux(text).await
        {
            return Ok(Copied::Elsewhere(told));
        }
        let (what, hint) = problem.split_once('\n').unwrap_or((&problem, ""));
        let file =
            self.kept_in_file(text).map_err(|error| format!("{what}, and no file can be written: {error}\n{hint}"))?;
        let file = file.display();
        Ok(Copied::Elsewhere(match sent {
            true => {
                format!("sent to the terminal's clipboard, if it supports that; the text is also in {file}\n{hint}")
            }
            false => format!("{what}; the text is in {file}\n{hint}"),
        }))
    }

    async fn by_program(&self, text: &str) -> Result<(), String> {
        let mut problem = None;
        for (program, args) in writers(&self.env) {
            match self.spawn(program).args(args).feed(text.as_bytes(), PATIENCE).await {
                Err(SpawnError::NotFound { .. }) => {}
                Ok(Some(exit)) if exit.code == 0 => return Ok(()),
                Ok(_) => problem = Some(format!("`{program}` could not copy the text")),
                Err(error) => problem = Some(error.to_string()),
            }
        }
        Err(problem.unwrap_or_else(|| no_program("write")))
    }

    /// Opens an address. A newly started browser keeps running; a browser that already runs only receives the address.
    async fn browsed(&self, url: &WebAddress) -> Result<(), String> {
        let mut problem = None;
        for (program, args) in openers(&self.env) {
            match self.spawn(program).args(*args).arg(url.as_str()).hand_over(STARTS_WITHIN).await {
                Err(SpawnError::NotFound { .. }) => {}
                Ok(Some(exit)) if exit.code != 0 => problem = Some(format!("`{program}` ended with {}", exit.code)),
                Ok(_) => return Ok(()),
                Err(error) => problem = Some(error.to_string()),
            }
        }
        let why = problem.unwrap_or_else(|| "no program found that opens links".to_owned());
        Err(format!("cannot start the browser: {why}\nhint: copy the link and open it yourself"))
    }

    /// tmux blocks programs from the clipboard unless configured, but forwards text that it receives itself (`-w`, since
    /// 3.2). Returns `None` if tmux does not accept the text.
    async fn by_tmux(&self, text: &str) -> Option<String> {
        const ONLY_HERE: &str = "copied to tmux only; `prefix ]` pastes it\n\
            hint: run `tmux set -g set-clipboard on` to copy to the clipboard";
        const PASSED_ON: &str = "copied to tmux (`prefix ]`), and to the clipboard if your terminal allows it";
        let load = async |args: &[&str]| {
            let fed = self.spawn("tmux").args(args).feed(text.as_bytes(), PATIENCE).await;
            matches!(fed, Ok(Some(exit)) if exit.code == 0)
        };
        if !load(&["load-buffer", "-w", "-"]).await {
            return load(&["load-buffer", "-"]).await.then(|| ONLY_HERE.to_owned());
        }
        let asked = self.spawn("tmux").args(["show-options", "-sv", "set-clipboard"]).capture(64, PATIENCE).await;
        let off = asked.is_ok_and(|said| said.output.trim_ascii() == b"off");
        Some(if off { ONLY_HERE } else { PASSED_ON }.to_owned())
    }

    /// Reads the pane of tmux that omp runs in. Two commands are needed, for only the first one tells where the cursor is.
    async fn tmux_text(&self) -> Option<PaneText> {
        let pane = self.env.get(vars::TMUX_PANE).filter(|_| self.env.get(vars::TMUX).is_some())?;
        let mut printed = self.told_by_tmux(PaneFacts::arguments(pane)).await?;
        for _ in 0..PANE_TRIES {
            // In a terminal inside of the pane, such as that of an editor, the pane is not ours.
            let facts = PaneFacts::parse(&printed).filter(|facts| is_our_terminal(Path::new(&facts.tty)))?;
            printed = self.told_by_tmux(facts.text_arguments(pane)?).await?;
            if let Some(text) = PaneText::parse(&printed, &facts) {
                return Some(text);
            }
        }
        None
    }

    async fn told_by_tmux(&self, arguments: Vec<String>) -> Option<String> {
        let told = self.spawn("tmux").args(arguments).capture(MOST_PANE_TEXT, PANE_PATIENCE).await.ok()?;
        let done = told.exit.is_some_and(|exit| exit.code == 0) && !told.truncated;
        done.then(|| String::from_utf8_lossy(&told.output).into_owned())
    }

    /// Stores the last text in one file per run, readable by the user alone. Each text gets a new file that replaces the old
    /// one, so that no symbolic link can redirect the write.
    fn kept_in_file(&self, text: &str) -> std::io::Result<PathBuf> {
        let mut file = tempfile::Builder::new().prefix("omp-copied-").suffix(".txt").tempfile()?;
        file.write_all(text.as_bytes())?;
        if let Some(path) = self.kept.get() {
            file.persist(path)?;
            return Ok(path.clone());
        }
        let (_, path) = file.keep()?;
        Ok(self.kept.get_or_init(|| path).clone())
    }
}

/// Whether standard output is this terminal.
#[cfg(unix)]
fn is_our_terminal(tty: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let device = |path: &Path| std::fs::metadata(path).ok().map(|metadata| metadata.rdev()).filter(|rdev| *rdev != 0);
    device(tty).is_some_and(|ours| device(Path::new("/dev/stdout")) == Some(ours))
}

#[cfg(not(unix))]
fn is_our_terminal(_: &Path) -> bool {
    false
}

impl Outside for Machine {
    fn edit_text<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<Option<String>, String>> {
        self.edited(text).boxed()
    }

    fn clipboard(&self) -> BoxFuture<'_, Result<Option<Clip>, String>> {
        self.pasted().boxed()
    }

    fn read_image<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<ImageContent, String>> {
        let (machine, path) = (Self::new(self.env.clone(), self.cwd.clone(), self.home.clone()), path.to_owned());
        let reading = tokio::task::spawn_blocking(move || machine.picture(&path));
        async move { reading.await.unwrap_or_else(|error| Err(error.to_string())) }.boxed()
    }

    fn copy<'a>(&'a self, text: &'a str, sent: bool) -> BoxFuture<'a, Result<Copied, String>> {
        self.copied(text, sent).boxed()
    }

    fn pane_text(&self) -> BoxFuture<'_, Option<PaneText>> {
        self.tmux_text().boxed()
    }

    fn open_url<'a>(&'a self, url: &'a WebAddress) -> BoxFuture<'a, Result<(), String>> {
        self.browsed(url).boxed()
    }
}

/// A program that prints what is in the clipboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClipboardReader {
    name: &'static str,
    args: &'static [&'static str],
    gives: Gives,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    Picture,
    /// A base64-encoded image.
    Encoded,
    Text,
}

impl ClipboardReader {
    /// Returns `None` if the program printed something unexpected.
    fn clip(self, output: Vec<u8>) -> Option<Result<Clip, String>> {
        let bytes = match self.gives {
            Gives::Text => {
                let text = String::from_utf8_lossy(&output).into_owned();
                return (text.len() <= MOST_TEXT).then_some(Ok(Clip::Text(text)));
            }
            Gives::Picture => output,
            Gives::Encoded => decoded(&output)?,
        };
        PictureFormat::of(&bytes)?;
        let told = |why| format!("cannot send the image in the clipboard: {why}");
        Some(sendable(bytes).map(Clip::Image).map_err(told))
    }
}

fn decoded(output: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = output.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    base64::engine::general_purpose::STANDARD.decode(digits).ok()
}

const POWERSHELL_PICTURE: &str = "Add-Type -AssemblyName System.Windows.Forms, System.Drawing; \
    $i = [Windows.Forms.Clipboard]::GetImage(); if ($i -eq $null) { exit 1 }; $m = New-Object IO.MemoryStream; \
    $i.Save($m, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray())";
/// Prints the image as `«data PNGf…»` in hexadecimal, converted to base64 so that all programs print the same format.
const OSASCRIPT_PICTURE: &str = "osascript -e 'the clipboard as «class PNGf»' 2>/dev/null | \
    sed 's/^«data PNGf//; s/»$//' | xxd -r -p | base64";

/// Images come before text, because content copied from a browser is both.
fn readers(env: &Env) -> Vec<ClipboardReader> {
    let reader = |name, args, gives| ClipboardReader { name, args, gives };
    if cfg!(target_os = "macos") {
        return vec![
            reader("pngpaste", &["-"], Gives::Picture),
            reader("sh", &["-c", OSASCRIPT_PICTURE], Gives::Encoded),
            reader("pbpaste", &[], Gives::Text),
        ];
    }
    let windows = |program| {
        [
            reader(program, &["-NoProfile", "-STA", "-Command", POWERSHELL_PICTURE][..], Gives::Encoded),
            reader(program, &["-NoProfile", "-Command", "Get-Clipboard -Raw"][..], Gives::Text),
        ]
    };
    if cfg!(windows) {
        return windows("powershell").to_vec();
    }
    let mut found = Vec::new();
    if env.get(vars::WAYLAND_DISPLAY).is_some() {
        found.push(reader("wl-paste", &["--no-newline", "--type", "image/png"], Gives::Picture));
        found.push(reader("wl-paste", &["--no-newline", "--type", "text/plain"], Gives::Text));
    }
    if env.get(vars::DISPLAY).is_some() {
        found.push(reader("xclip", &["-selection", "clipboard", "-t", "image/png", "-o"], Gives::Picture));
        found.push(reader("xclip", &["-selection", "clipboard", "-o"], Gives::Text));
    }
    if env.get(vars::WSL_DISTRO_NAME).is_some() {
        found.extend(windows("powershell.exe"));
    }
    found
}

/// Each program receives the address as its last argument, without a shell.
fn openers(env: &Env) -> &'static [(&'static str, &'static [&'static str])] {
    const WINDOWS: (&str, &[&str]) = ("rundll32.exe", &["url.dll,FileProtocolHandler"]);
    if cfg!(target_os = "macos") {
        return &[("open", &[])];
    }
    if cfg!(windows) {
        return &[WINDOWS];
    }
    match env.get(vars::WSL_DISTRO_NAME) {
        Some(_) => &[("wslview", &[]), WINDOWS, ("xdg-open", &[])],
        None => &[("xdg-open", &[])],
    }
}

fn writers(env: &Env) -> Vec<(&'static str, &'static [&'static str])> {
    if cfg!(target_os = "macos") {
        return vec![("pbcopy", &[])];
    }
    if cfg!(windows) {
        return vec![("clip", &[])];
    }
    let mut found: Vec<(&str, &[&str])> = Vec::new();
    if env.get(vars::WAYLAND_DISPLAY).is_some() {
        found.push(("wl-copy", &[]));
    }
    if env.get(vars::DISPLAY).is_some() {
        found.push(("xclip", &["-selection", "clipboard"]));
    }
    if env.get(vars::WSL_DISTRO_NAME).is_some() {
        found.push(("clip.exe", &[]));
    }
    found
}

fn sendable(bytes: Vec<u8>) -> Result<ImageContent, String> {
    let kind = PictureFormat::of(&bytes).ok_or_else(|| PictureError::Unknown.to_string())?;
    let picture = prepare(bytes, kind, omp_pictures::PictureLimits::default()).map_err(|error| error.to_string())?;
    let data = base64::engine::general_purpose::STANDARD.encode(&picture.data);
    Ok(ImageContent { data, mime_type: picture.mime_type.to_owned() })
}

fn no_editor(editor: &str, error: &SpawnError) -> String {
    format!("the editor `{editor}` cannot be started: {error}\nhint: set VISUAL or EDITOR to the one you use")
}

fn no_program(what: &str) -> String {
    let programs = if cfg!(target_os = "macos") { "pngpaste" } else { "wl-clipboard (Wayland) or xclip (X11)" };
    format!(
        "no program here can {what} the clipboard\nhint: install {programs}; over ssh the clipboard is not available"
    )
}
