//! Tests of the page in a real browser: what it shows, that it runs no foreign code, and that it makes no requests.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omp_exec::{ChildEnv, Spawn, Stderr};
use omp_types::Env;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use crate::scene::{Scene, evil_scene};

/// More than a browser needs on a slow and busy machine.
const LIMIT: Duration = Duration::from_secs(90);

#[tokio::test]
async fn the_page_shows_its_cards_and_runs_nothing_of_the_session() {
    let scene = evil_scene();
    scene.exported(None);
    let seen = Browser::start().await.dom(&scene, "").await;
    assert!(seen.output.contains("<title>A title &lt;/script&gt;"), "{}", seen.about());
    assert!(!seen.output.contains("<title>owned"), "something of the session ran");
    assert!(
        seen.output.contains("<button id=\"theme\" type=\"button\">"),
        "our own script did not run\n{}",
        seen.about()
    );
    assert!(seen.output.contains("<summary><b>paint src/main.rs</b>"), "{}", seen.about());
    assert_eq!(seen.leaks(), Vec::<String>::new());
    assert!(!seen.output.contains("violates"), "{}", seen.about());
}

#[tokio::test]
async fn a_link_into_another_branch_shows_that_branch() {
    let scene = evil_scene();
    scene.exported(None);
    let seen = Browser::start().await.dom(&scene, "#e6").await;
    assert!(seen.output.contains("id=\"s1\" data-up=\"s0\">"), "{}", seen.about());
    assert!(seen.output.contains("id=\"s2\" data-up=\"s0\" hidden"), "{}", seen.about());
    assert!(seen.output.contains("<li class=\"d1 user on\" data-run=\"s1\">"), "{}", seen.about());
    assert!(seen.output.contains("<li class=\"d0 user\" data-run=\"s2\">"), "{}", seen.about());
}

/// If something gets past the escaping, the page's content security policy is the second defence.
#[tokio::test]
async fn markup_that_got_in_would_neither_run_nor_load() {
    let scene = evil_scene();
    let page = scene.exported(None);
    let intruder = "<main><img src=\"http://leak.test/x.png\" onerror=\"document.title='owned'\">\
                    <script>document.title='owned'</script><link rel=\"stylesheet\" href=\"http://leak.test/y.css\">";
    std::fs::write(scene.page(), page.replacen("<main>", intruder, 1)).unwrap();
    let seen = Browser::start().await.dom(&scene, "").await;
    assert!(
        seen.output.contains("http://leak.test/x.png") && !seen.output.contains("<title>owned"),
        "{}",
        seen.about()
    );
    assert!(seen.output.contains("violates"), "the browser tells what it refused\n{}", seen.about());
    assert_eq!(seen.leaks(), Vec::<String>::new());
    // Without the policy all of it would happen, so the test can detect it.
    let unguarded = page.replacen("http-equiv=\"Content-Security-Policy\"", "name=\"nothing\"", 1);
    std::fs::write(scene.page(), unguarded.replacen("<main>", intruder, 1)).unwrap();
    let seen = Browser::start().await.dom(&scene, "").await;
    assert!(seen.output.contains("<title>owned"), "{}", seen.about());
    assert!(!seen.leaks().is_empty(), "{}", seen.about());
}

#[tokio::test]
async fn light_and_dark_follow_the_reader() {
    let scene = evil_scene();
    scene.exported(None);
    for (setting, name, is_dark) in [("0", "dark.png", true), ("1", "light.png", false)] {
        let browser = Browser::start().await;
        let shot = scene.dir.path().join(name);
        let flags = [
            format!("--screenshot={}", shot.display()),
            format!("--blink-settings=preferredColorScheme={setting}"),
            "--window-size=1280,3000".to_owned(),
        ];
        let seen = browser.run(&scene, &flags, "").await;
        let picture = image::open(&shot).unwrap_or_else(|error| panic!("{error}\n{}", seen.about()));
        let (lines, picture) = (picture.to_rgb8(), picture.to_luma8());
        let corner = picture.get_pixel(picture.width() - 4, 4).0[0];
        assert_eq!(corner < 100, is_dark, "{name}: the background has brightness {corner}");
        let [added, removed] = if is_dark { [[18, 54, 31], [61, 21, 24]] } else { [[218, 251, 225], [255, 235, 233]] };
        let (added, removed) = (rows(&lines, added), rows(&lines, removed));
        assert!(added.len() > 10 && removed.len() > 10, "{name}: a diff has colours");
        assert!(added.is_disjoint(&removed), "{name}: each line of a diff is a line");
        let sidebar = picture.get_pixel(4, 4).0[0];
        assert_ne!(sidebar, corner, "the style sheet is not in force");
    }
}

/// Returns the rows of an image that contain a colour.
fn rows(picture: &image::RgbImage, colour: [u8; 3]) -> BTreeSet<u32> {
    picture.enumerate_pixels().filter(|(_, _, pixel)| pixel.0 == colour).map(|(_, row, _)| row).collect()
}

/// A browser whose requests all end at a recording proxy.
struct Browser {
    proxy: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Browser {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let notes = requests.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let notes = notes.clone();
                tokio::spawn(async move {
                    let mut head = [0; 1024];
                    let count = stream.read(&mut head).await.unwrap_or_default();
                    let head = String::from_utf8_lossy(&head[..count]);
                    notes.lock().unwrap().push(head.lines().next().unwrap_or_default().to_owned());
                });
            }
        });
        Self { proxy, requests }
    }

    async fn dom(self, scene: &Scene, fragment: &str) -> Seen {
        self.run(scene, &["--dump-dom".to_owned()], fragment).await
    }

    async fn run(self, scene: &Scene, flags: &[String], fragment: &str) -> Seen {
        let profile = tempfile::tempdir().unwrap();
        let home = profile.path().display().to_string();
        let path = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";
        let env = ChildEnv::unattended(&Env::from_iter([("PATH", path), ("HOME", &home)]));
        let page = format!("file://{}{fragment}", scene.page().display());
        let browser = Spawn::new("chromium", env, &omp_exec::Containment::of_user())
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--enable-logging=stderr", "--virtual-time-budget=2000"])
            .args([format!("--proxy-server=http://127.0.0.1:{}", self.proxy)])
            .args(["--proxy-bypass-list=<-loopback>".to_owned(), format!("--user-data-dir={home}")])
            .args(flags)
            .arg(page)
            .cwd(profile.path())
            .stderr(Stderr::Merged);
        let captured = browser.capture(16 * 1024 * 1024, LIMIT).await.unwrap();
        assert!(captured.exit.is_some(), "the browser did not end in time");
        let output = String::from_utf8_lossy(&captured.output).into_owned();
        let requests = self.requests.lock().unwrap().clone();
        Seen { output, requests }
    }
}

struct Seen {
    /// Its output: the document, and console messages.
    output: String,
    requests: Vec<String>,
}

impl Seen {
    /// Returns requests caused by the page, without those of the browser itself.
    fn leaks(&self) -> Vec<String> {
        let ours = self.requests.iter().filter(|request| request.contains("leak.test"));
        ours.cloned().collect()
    }

    fn about(&self) -> String {
        let shown: String = self.output.chars().take(3000).collect();
        format!("requests: {:?}\n{shown}", self.requests)
    }
}
