//! Tests nonsensical frames: nothing panics, and the output stays text.

use omp_tui::{Color, ColorDepth, Frame, Line, Overlay, Profile, Renderer, Size, Span, Style};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Shown {
    rows: Vec<Line>,
    settled: usize,
    overlay: Option<(Vec<Line>, usize, usize, usize)>,
}

#[derive(Clone, Debug)]
enum Step {
    Show(Shown),
    Resize(usize, usize),
    Replace,
    BeginAgain,
    End,
    Profile(Profile),
}

fn line() -> impl Strategy<Value = Line> {
    let color = prop_oneof![Just(Color::Default), any::<u8>().prop_map(Color::Indexed), Just(Color::Rgb(1, 200, 3))];
    let style = color.prop_map(|color| Style::PLAIN.bg(color).bold());
    let link = proptest::option::of("\\PC{0,6}").prop_map(|link| link.map(Into::into));
    // Control characters, combining marks without a letter, long clusters.
    let text = prop_oneof!["[a-z ]{0,30}", "(\\PC|\\x1b|\\n|\u{301}|\u{200d}|👩|日|\u{fe0f}){0,12}"];
    let span = (text, style.clone(), link).prop_map(|(text, style, link)| Span { link, ..Span::new(text, style) });
    let cursor = proptest::option::weighted(0.3, prop_oneof![0usize..50, Just(usize::MAX)]);
    (proptest::collection::vec(span, 0..4), proptest::option::of(style), cursor)
        .prop_map(|(spans, fill, cursor)| Line { spans, fill, cursor, escape: None })
}

fn lines(most: usize) -> impl Strategy<Value = Vec<Line>> {
    proptest::collection::vec(line(), 0..most)
}

fn far() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0usize..40, 1 => Just(usize::MAX)]
}

fn step() -> impl Strategy<Value = Step> {
    let overlay = proptest::option::weighted(0.3, (lines(5), far(), far(), far()));
    let shown =
        (lines(12), far(), overlay).prop_map(|(rows, settled, overlay)| Step::Show(Shown { rows, settled, overlay }));
    let profile = (any::<[bool; 3]>(), 0..4).prop_map(|([multiplexer, synchronized, links], depth)| {
        let colors = [ColorDepth::None, ColorDepth::Ansi16, ColorDepth::Ansi256, ColorDepth::True][depth as usize];
        Step::Profile(Profile { multiplexer, synchronized, links, colors, ..Profile::default() })
    });
    prop_oneof![
        8 => shown,
        2 => (far(), far()).prop_map(|(width, height)| Step::Resize(width, height)),
        1 => Just(Step::Replace),
        1 => Just(Step::BeginAgain),
        1 => Just(Step::End),
        1 => profile,
    ]
}

fn play(steps: Vec<Step>, size: Size) -> Vec<u8> {
    let mut renderer = Renderer::new(Profile::default(), size);
    let mut out = Vec::new();
    for step in steps {
        match step {
            Step::Resize(width, height) => renderer.resize(Size { width, height }),
            Step::Replace => renderer.replace(),
            Step::BeginAgain => renderer.begin_again(),
            Step::End => renderer.end(&mut out),
            Step::Profile(profile) => renderer.set_profile(profile),
            Step::Show(Shown { rows, settled, overlay }) => {
                let overlay = overlay.as_ref().map(|(lines, top, left, width)| Overlay {
                    lines,
                    top: *top,
                    left: *left,
                    width: *width,
                });
                renderer.paint(&Frame { rows: &rows, settled, overlay }, &mut out);
                assert!(renderer.committed() <= rows.len());
            }
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn no_frame_is_too_odd(steps in proptest::collection::vec(step(), 1..8), width in far(), height in far()) {
        let out = play(steps, Size { width, height });
        let text = String::from_utf8(out).unwrap();
        prop_assert!(!text.chars().any(|char| char.is_control() && !['\x1b', '\r', '\n'].contains(&char)));
        prop_assert_eq!(text.matches("\x1b[?7l").count(), text.matches("\x1b[?7h").count());
        prop_assert_eq!(text.matches("\x1b[?2026h").count(), text.matches("\x1b[?2026l").count());
    }

    #[test]
    fn a_frame_that_is_shown_costs_nothing(rows in lines(12), settled in far(), width in far(), height in far()) {
        let mut renderer = Renderer::new(Profile::default(), Size { width, height });
        let mut out = Vec::new();
        renderer.paint(&Frame { rows: &rows, settled, overlay: None }, &mut out);
        let written = out.len();
        renderer.paint(&Frame { rows: &rows, settled, overlay: None }, &mut out);
        prop_assert_eq!(&out[written..], b"");
    }
}
