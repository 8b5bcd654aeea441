//! Tests environments of real terminals, as a table.

use super::*;

type Row<'a> = (&'a [(&'a str, &'a str)], &'a str);

fn check(rows: &[Row<'_>], show: impl Fn(&Capabilities) -> String) {
    for (env, expected) in rows {
        let found = Capabilities::detect(&TerminalEnv::from_iter(env.iter().copied()));
        assert_eq!(show(&found), *expected, "{env:?}");
    }
}

#[test]
fn terminals() {
    let rows: &[Row<'_>] = &[
        (&[("KITTY_WINDOW_ID", "1"), ("TERM", "xterm-kitty")], "Kitty"),
        (&[("TERM", "xterm-ghostty")], "Ghostty"),
        (&[("TERM_PROGRAM", "WezTerm"), ("TERM", "xterm-256color")], "WezTerm"),
        (&[("TERM_PROGRAM", "iTerm.app")], "Iterm2"),
        (&[("TERM_PROGRAM", "vscode")], "VsCode"),
        (&[("TERM", "alacritty")], "Alacritty"),
        (&[("TERM_PROGRAM", "Apple_Terminal"), ("TERM", "xterm-256color")], "Apple"),
        (&[("WT_SESSION", "x"), ("TERM", "xterm-256color")], "WindowsTerminal"),
        (&[("TERM", "linux")], "Plain"),
        (&[("TERM", "dumb")], "Plain"),
        (&[("TERM", "eterm-color")], "Plain"),
        (&[], "Plain"),
        (&[("TERM", "xterm-256color")], "Other"),
        (&[("TERM", "foot")], "Other"),
    ];
    check(rows, |found| format!("{:?}", found.id));
}

#[test]
fn multiplexers() {
    let rows: &[Row<'_>] = &[
        (&[("TMUX", "/tmp/x,1,0"), ("TERM", "screen-256color")], "Some(Tmux)"),
        (&[("STY", "1.x")], "Some(Screen)"),
        (&[("ZELLIJ", "0")], "Some(Zellij)"),
        (&[("CMUX_SURFACE_ID", "x")], "Some(Other)"),
        (&[("TERM", "tmux-256color")], "Some(Tmux)"),
        (&[("TERM", "Screen.xterm")], "Some(Screen)"),
        (&[("TERM", "xterm"), ("TMUX", "")], "None"),
    ];
    check(rows, |found| format!("{:?}", found.multiplexer));
}

#[test]
fn resizes() {
    let rows: &[Row<'_>] = &[
        (&[("TERM", "xterm-kitty")], "100 ms, wraps"),
        (&[("TERM", "xterm-kitty"), ("SSH_CONNECTION", "a 1 b 22")], "500 ms, wraps"),
        (&[("TMUX", "/tmp/x,1,0"), ("TERM", "tmux-256color")], "500 ms, wraps"),
        (&[("TERM", "xterm-256color")], "100 ms, truncates"),
        (&[("TERM", "linux")], "100 ms, truncates"),
    ];
    let show = |found: &Capabilities| {
        let Profile { resize_lag, rewraps, .. } = found.profile();
        format!("{} ms, {}", resize_lag.as_millis(), if rewraps { "wraps" } else { "truncates" })
    };
    check(rows, show);
    for (version, wraps) in [("xterm.js(5.5.0)", true), ("VTE(7600)", true), ("XTerm(379)", false)] {
        let mut unknown = Capabilities::detect(&TerminalEnv::from_iter([("TERM", "xterm-256color")]));
        unknown.learn(&Capability::Version(version.to_owned()));
        assert_eq!(unknown.profile().rewraps, wraps, "{version}");
    }
}

#[test]
fn synchronized_output() {
    let kitty = ("KITTY_WINDOW_ID", "1");
    let rows: &[Row<'_>] = &[
        (&[kitty], "true"),
        (&[kitty, ("PI_NO_SYNC_OUTPUT", "1")], "false"),
        (&[kitty, ("PI_TUI_SYNC_OUTPUT", "0")], "false"),
        (&[("TERM", "xterm"), ("PI_TUI_SYNC_OUTPUT", "1")], "true"),
        (&[("TERM", "xterm"), ("PI_FORCE_SYNC_OUTPUT", "1")], "true"),
        (&[("PI_NO_SYNC_OUTPUT", "1"), ("PI_FORCE_SYNC_OUTPUT", "1")], "false"),
        (&[kitty, ("TMUX", "x")], "false"),
        (&[("TMUX", "x"), ("TERM_FEATURES", "T3CwLrMSc7UUw9Ts3BFGsSyHNoSxF")], "true"),
        (&[("WT_SESSION", "x"), ("TERM", "xterm")], "true"),
        (&[("TERM_PROGRAM", "Apple_Terminal")], "false"),
        (&[("TERM", "xterm")], "false"),
    ];
    check(rows, |found| found.synchronized.to_string());
}

#[test]
fn color_depth() {
    let rows: &[Row<'_>] = &[
        (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], "True"),
        (&[("TERM", "xterm-256color")], "Ansi256"),
        (&[("TERM", "vt100")], "Ansi16"),
        (&[("TERM", "linux")], "Ansi16"),
        (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], "None"),
        (&[("TERM", "xterm-direct")], "True"),
        (&[("TERM_PROGRAM", "Apple_Terminal")], "Ansi256"),
        (&[("KITTY_WINDOW_ID", "1")], "True"),
        (&[("KITTY_WINDOW_ID", "1"), ("TERM", "screen"), ("TMUX", "x")], "Ansi256"),
        (&[("KITTY_WINDOW_ID", "1"), ("NO_COLOR", "1")], "None"),
        (&[("NO_COLOR", "1"), ("FORCE_COLOR", "3")], "True"),
        (&[("KITTY_WINDOW_ID", "1"), ("FORCE_COLOR", "0")], "None"),
        (&[("TERM", "dumb"), ("FORCE_COLOR", "1")], "Ansi16"),
    ];
    check(rows, |found| format!("{:?}", found.colors));
}

#[test]
fn hyperlinks() {
    let tmux = ("TMUX", "x");
    let rows: &[Row<'_>] = &[
        (&[("KITTY_WINDOW_ID", "1")], "true"),
        (&[("KITTY_WINDOW_ID", "1"), ("PI_NO_HYPERLINKS", "1")], "false"),
        (&[("TERM", "xterm")], "false"),
        (&[("TERM", "xterm"), ("PI_FORCE_HYPERLINKS", "1")], "true"),
        (&[("TERM_PROGRAM", "WarpTerminal")], "false"),
        (&[tmux, ("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", "3.4")], "true"),
        (&[tmux, ("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", "3.10a")], "true"),
        (&[tmux, ("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", "3.3a")], "false"),
        (&[tmux, ("KITTY_WINDOW_ID", "1")], "false"),
        (&[("STY", "x"), tmux, ("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", "3.4")], "false"),
        (&[("KITTY_WINDOW_ID", "1"), ("TERM", "screen")], "false"),
    ];
    check(rows, |found| found.links.to_string());
}

#[test]
fn image_protocols() {
    let rows: &[Row<'_>] = &[
        (&[("KITTY_WINDOW_ID", "1")], "Some(Kitty)"),
        (&[("TERM_PROGRAM", "iTerm.app")], "Some(Iterm2)"),
        (&[("TERM_PROGRAM", "vscode")], "None"),
        (&[("KITTY_WINDOW_ID", "1"), ("TMUX", "x")], "None"),
        (&[("TERM", "xterm"), ("PI_FORCE_IMAGE_PROTOCOL", "Sixel")], "Some(Sixel)"),
        (&[("KITTY_WINDOW_ID", "1"), ("PI_FORCE_IMAGE_PROTOCOL", "off")], "None"),
    ];
    check(rows, |found| format!("{:?}", found.images));
}

#[test]
fn answers_correct_guesses_but_not_the_person() {
    let of = |pairs: &[(&str, &str)]| Capabilities::detect(&TerminalEnv::from_iter(pairs.iter().copied()));
    let mut xterm = of(&[("TERM", "xterm")]);
    assert!(xterm.learn(&Capability::Synchronized(true)));
    assert!(!xterm.learn(&Capability::Synchronized(true)));
    assert!(xterm.learn(&Capability::Sixel));
    assert!(!xterm.learn(&Capability::Graphics(true)));
    assert!(xterm.learn(&Capability::CellPixels { width: 9, height: 18 }));
    assert!(xterm.learn(&Capability::Notifications(true)));
    assert_eq!((xterm.synchronized, xterm.images, xterm.notify), (true, Some(ImageProtocol::Sixel), NotifyBy::Osc99));
    assert!(!xterm.links && xterm.colors == ColorDepth::Ansi256);
    assert!(xterm.learn(&Capability::Version("WezTerm 20240203".to_owned())));
    assert_eq!((xterm.id, xterm.links, xterm.colors), (TerminalId::WezTerm, true, ColorDepth::True));

    let mut forced = of(&[
        ("TERM", "xterm"),
        ("PI_NO_SYNC_OUTPUT", "1"),
        ("PI_FORCE_IMAGE_PROTOCOL", "off"),
        ("PI_NOTIFICATIONS", "0"),
        ("PI_NO_HYPERLINKS", "1"),
        ("NO_COLOR", "1"),
    ]);
    let before = forced.clone();
    let version = Capability::Version("kitty(0.40)".to_owned());
    for answer in [Capability::Synchronized(true), Capability::Graphics(true), Capability::Notifications(true)] {
        assert!(!forced.learn(&answer), "{answer:?}");
    }
    assert!(forced.learn(&version));
    assert_eq!(forced, Capabilities { id: TerminalId::Kitty, rewraps: true, ..before });
}

#[test]
fn only_what_may_answer_is_asked() {
    let asks =
        |pairs: &[(&str, &str)]| Capabilities::detect(&TerminalEnv::from_iter(pairs.iter().copied())).probes().concat();
    assert_eq!(asks(&[("TERM", "dumb")]), []);
    assert_eq!(asks(&[("TERM", "linux")]), []);
    assert!(!asks(&[("TERM", "xterm-256color")]).contains(&Probe::Graphics));
    assert!(!asks(&[("TERM", "screen")]).contains(&Probe::Version));
    assert_eq!(asks(&[("TERM", "xterm")]).first(), Some(&Probe::Keyboard));
}

#[test]
fn who_knows_its_name_is_asked_for_graphics() {
    let follows = |pairs: &[(&str, &str)]| {
        let found = Capabilities::detect(&TerminalEnv::from_iter(pairs.iter().copied()));
        found.follow_up(&Capability::Version("Konsole 24.2".to_owned()))
    };
    assert_eq!(follows(&[("TERM", "xterm-256color")]), Some(Probe::Graphics));
    assert_eq!(follows(&[("TERM", "xterm-kitty")]), None);
    assert_eq!(follows(&[("TERM", "tmux")]), None);
    assert_eq!(follows(&[("TERM", "xterm"), ("PI_FORCE_IMAGE_PROTOCOL", "off")]), None);
}
