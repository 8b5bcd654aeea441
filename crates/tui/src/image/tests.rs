//! Tests the bytes of each protocol, decoded by small decoders, and pictures as rows.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::geometry::CellSize;
use super::quantize::{Indexed, MOST_COLORS, quantize};
use super::*;
use crate::component::Space;
use crate::frame::Frame;
use crate::line::Line;
use crate::screen::{Profile, Renderer, Size};
use crate::theme::Theme;

const CELL: CellSize = CellSize { width: 2, height: 4 };
const PLACEHOLDERS: ImageWay = ImageWay::Kitty { placeholders: true, passthrough: false };
const DIRECT: ImageWay = ImageWay::Kitty { placeholders: false, passthrough: false };
const WAYS: [ImageWay; 5] = [PLACEHOLDERS, DIRECT, ImageWay::Iterm2, ImageWay::Sixel, ImageWay::Text];

fn pixels(width: u32, height: u32, color: impl Fn(u32, u32) -> [u8; 4]) -> Pixels {
    let rgba: Vec<u8> =
        (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).flat_map(|(x, y)| color(x, y)).collect();
    Pixels::new(width, height, rgba).unwrap()
}

fn picture(kind: &'static str, file: &[u8], pixels: Pixels) -> Arc<Picture> {
    let (width, height) = (pixels.width() as u32, pixels.height() as u32);
    Arc::new(Picture { kind: kind.into(), width, height, file: file.into(), pixels: Some(pixels) })
}

/// A red picture with a blue last pixel; 4 by 8 pixels are 2 by 2 cells.
fn sample() -> Arc<Picture> {
    let color = |x, y| if (x, y) == (3, 7) { [0, 0, 255, 255] } else { [255, 0, 0, 255] };
    picture("png", b"file", pixels(4, 8, color))
}

fn draw(block: &mut ImageBlock, budget: &mut ImageBudget, width: usize, height: usize) -> Vec<Line> {
    let theme = Theme::colorless();
    block.draw(&Space { width, height, theme: &theme, focused: false, keys: &crate::DefaultKeys }, budget)
}

fn plain(bytes: impl AsRef<[u8]>) -> String {
    String::from_utf8(bytes.as_ref().to_vec()).unwrap().replace('\u{1b}', "ESC").replace('\u{7}', "BEL")
}

fn budget(way: ImageWay) -> ImageBudget {
    ImageBudget::new(way, CELL, 2, 0)
}

#[test]
fn kitty_with_placeholders() {
    let (mut budget, mut block) = (budget(PLACEHOLDERS), ImageBlock::new(sample()));
    let rows = draw(&mut block, &mut budget, 80, 24);
    assert_eq!(plain(budget.take_bytes()), "ESC_Ga=t,q=2,i=1,f=100,m=0;ZmlsZQ==ESC\\ESC_Ga=p,U=1,q=2,i=1,c=2,r=2ESC\\");
    let text: Vec<String> = rows.iter().map(Line::text).collect();
    assert_eq!(
        text,
        ["\u{10eeee}\u{305}\u{305}\u{10eeee}\u{305}\u{30d}", "\u{10eeee}\u{30d}\u{305}\u{10eeee}\u{30d}\u{30d}"]
    );
    assert!(rows.iter().all(|row| row.width() == 2 && row.escape.is_none()));
    assert_eq!(rows[0].spans[0].style.fg, crate::Color::Rgb(0, 0, 1));
    assert_eq!(draw(&mut block, &mut budget, 80, 24), rows);
    assert!(budget.take_bytes().is_empty(), "sent once");
}

#[test]
fn what_lies_over_the_cells_is_painted_from_below() {
    for (way, sent, escape) in [
        (DIRECT, "ESC_Ga=t,q=2,i=1,f=100,m=0;ZmlsZQ==ESC\\", "ESC7ESC[2A\rESC_Ga=p,q=2,i=1,p=1,c=2,r=2,C=1ESC\\ESC8"),
        (
            ImageWay::Iterm2,
            "",
            "ESC7ESC[2A\rESC]1337;File=inline=1;size=4;width=2;height=2;preserveAspectRatio=1:ZmlsZQ==BELESC8",
        ),
        (ImageWay::Sixel, "", "ESC7ESC[2A\rESCP0;1;0q\"1;1;4;8#0;2;100;0;0#1;2;0;0;100#0!4~-#0BBB@$#1???AESC\\ESC8"),
    ] {
        let (mut budget, mut block) = (budget(way), ImageBlock::new(sample()));
        let rows = draw(&mut block, &mut budget, 80, 24);
        assert_eq!(plain(budget.take_bytes()), sent);
        let text: Vec<String> = rows.iter().map(Line::text).collect();
        assert_eq!(text, ["", "", "[image 4x8 png]"]);
        assert_eq!(plain(&**rows[2].escape.as_ref().unwrap()), escape);
        assert!(rows[..2].iter().all(|row| row.escape.is_none()));
        let again = draw(&mut block, &mut budget, 80, 24);
        assert!(Arc::ptr_eq(again[2].escape.as_ref().unwrap(), rows[2].escape.as_ref().unwrap()), "made once");
        assert!(budget.take_bytes().is_empty(), "sent once");
    }
}

#[test]
fn inside_tmux_commands_are_wrapped_where_it_was_asked_for() {
    let mut budget = budget(ImageWay::Kitty { placeholders: true, passthrough: true });
    draw(&mut ImageBlock::new(sample()), &mut budget, 80, 24);
    assert_eq!(
        plain(budget.take_bytes()),
        "ESCPtmux;ESCESC_Ga=t,q=2,i=1,f=100,m=0;ZmlsZQ==ESCESC\\ESC\\\
         ESCPtmux;ESCESC_Ga=p,U=1,q=2,i=1,c=2,r=2ESCESC\\ESC\\"
    );
}

/// Decodes a transmission: the keys of the first command and all data.
fn received(bytes: &[u8]) -> (String, Vec<u8>) {
    let text = std::str::from_utf8(bytes).unwrap();
    let (mut first, mut data) = (String::new(), Vec::new());
    let commands: Vec<&str> = text.split_terminator("\u{1b}\\").collect();
    for (at, command) in commands.iter().enumerate() {
        let (keys, payload) = command.strip_prefix("\u{1b}_G").unwrap().split_once(';').unwrap();
        assert!(payload.len() <= 4096, "{}", payload.len());
        assert_eq!(keys.contains("m=1"), at + 1 < commands.len(), "{keys}");
        if at == 0 {
            first = keys.to_owned();
        }
        data.extend(STANDARD.decode(payload).unwrap());
    }
    (first, data)
}

#[test]
fn a_picture_arrives_whole() {
    for size in [1, 3071, 3072, 3073, 100_000] {
        let file: Vec<u8> = (0..size).map(|at| (at * 7 % 251) as u8).collect();
        let mut out = Vec::new();
        kitty::transmit(9, &picture("png", &file, pixels(1, 1, |_, _| [0; 4])), false, &mut out);
        let (keys, data) = received(&out);
        assert!(keys.starts_with("a=t,q=2,i=9,f=100,m=") && data == file, "{size}");
    }
    let raw = pixels(50, 40, |x, y| [x as u8, y as u8, 7, 255]);
    let mut out = Vec::new();
    kitty::transmit(9, &picture("jpeg", b"not sent", raw.clone()), false, &mut out);
    let (keys, data) = received(&out);
    assert_eq!((keys.as_str(), data.as_slice()), ("a=t,q=2,i=9,f=32,s=50,v=40,m=1", raw.rgba()));
}

/// Decodes sixels as a terminal does.
fn decoded(sixels: &str) -> Indexed {
    let body = sixels.strip_prefix("\u{1b}P0;1;0q").unwrap().strip_suffix("\u{1b}\\").unwrap();
    let numbers = |text: &mut &str| -> Vec<usize> {
        let end = text.find(|char: char| !char.is_ascii_digit() && char != ';').unwrap_or(text.len());
        let (list, rest) = text.split_at(end);
        *text = rest;
        list.split(';').filter_map(|number| number.parse().ok()).collect()
    };
    let mut rest = body.strip_prefix('"').unwrap();
    let size = numbers(&mut rest);
    let (width, height) = (size[2], size[3]);
    let mut image = Indexed { width, height, palette: vec![], pixels: vec![None; width * height] };
    let (mut x, mut band, mut color) = (0, 0, 0u8);
    while let Some(char) = rest.chars().next() {
        rest = &rest[1..];
        let mut length = 1;
        let mut bits = char;
        match char {
            '#' => {
                let list = numbers(&mut rest);
                color = list[0] as u8;
                if let [_, 2, red, green, blue] = list[..] {
                    image.palette.push([red as u8, green as u8, blue as u8]);
                }
                continue;
            }
            '$' => {
                x = 0;
                continue;
            }
            '-' => {
                (x, band) = (0, band + 1);
                continue;
            }
            '!' => {
                length = numbers(&mut rest)[0];
                bits = rest.chars().next().unwrap();
                rest = &rest[1..];
            }
            _ => {}
        }
        for _ in 0..length {
            for row in (0..6).filter(|row| (bits as u8 - b'?') >> row & 1 == 1) {
                image.pixels[(band * 6 + row) * width + x] = Some(color);
            }
            x += 1;
        }
    }
    image
}

proptest! {
    #[test]
    fn sixels_show_the_quantized_picture(width in 1u32..40, height in 1u32..20, seed in any::<u32>(), levels in 1u32..256) {
        let shade = |x: u32, y: u32, at: u32| ((x * 31 + y * 17 + at * 97) ^ seed).wrapping_mul(2_654_435_761) >> 24;
        let image = pixels(width, height, |x, y| {
            let value = |at| (shade(x, y, at) % levels * 255 / levels) as u8;
            [value(0), value(1), value(2), if shade(x, y, 3) < 40 { 0 } else { 255 }]
        });
        let wanted = quantize(&image);
        let shown = decoded(&sixel::encode(&wanted));
        prop_assert!(wanted.palette.len() <= MOST_COLORS);
        prop_assert_eq!((shown.width, shown.height), (width as usize, height as usize));
        prop_assert_eq!(&shown.palette, &wanted.palette);
        prop_assert_eq!(&shown.pixels, &wanted.pixels);
        for (pixel, number) in image.rgba().chunks(4).zip(&wanted.pixels) {
            prop_assert_eq!(number.is_none(), pixel[3] < 128);
        }
    }

    #[test]
    fn the_height_never_changes(
        size in (1u32..60, 1u32..60),
        way in prop::sample::select(WAYS.to_vec()),
        screens in prop::collection::vec((0usize..100, 0usize..40, any::<bool>()), 1..8),
    ) {
        let mut budget = budget(way);
        let mut block = ImageBlock::new(picture("png", b"file", pixels(size.0, size.1, |x, y| [x as u8, y as u8, 0, 255])));
        let mut height = None;
        for (width, rows, wiped) in screens {
            let drawn = draw(&mut block, &mut budget, width, rows);
            prop_assert_eq!(*height.get_or_insert(drawn.len()), drawn.len());
            prop_assert!(drawn.iter().all(|row| row.escape.is_some() || row.width() <= width.max("[image 59x59 png]".len())));
            if wiped {
                budget.begin_again();
                draw(&mut ImageBlock::new(sample()), &mut budget, 80, 24);
            }
        }
    }
}

#[test]
fn few_colors_stay_what_they_are_and_many_come_near() {
    let few = quantize(&pixels(16, 16, |x, y| [(x * 17) as u8, (y * 17) as u8, 0, 255]));
    assert_eq!(few.palette.len(), 256);
    let photo = pixels(256, 128, |x, y| [x as u8, (y * 2) as u8, (x ^ y) as u8, 255]);
    let many = quantize(&photo);
    let far = photo.rgba().chunks(4).zip(&many.pixels).map(|(pixel, number)| {
        let shown = many.palette[usize::from(number.unwrap())];
        (0..3).map(|at| (i32::from(pixel[at]) * 100 / 255 - i32::from(shown[at])).unsigned_abs()).max().unwrap()
    });
    assert!(far.max().unwrap() <= 25);
}

#[test]
fn older_pictures_make_room() {
    let mut budget = budget(PLACEHOLDERS);
    let mut blocks: Vec<ImageBlock> = (0..3).map(|_| ImageBlock::new(sample())).collect();
    for block in &mut blocks[..2] {
        draw(block, &mut budget, 80, 24);
    }
    let version = budget.version();
    budget.take_bytes();
    draw(&mut blocks[2], &mut budget, 80, 24);
    assert!(plain(budget.take_bytes()).starts_with("ESC_Ga=d,d=I,q=2,i=1ESC\\ESC_Ga=t,q=2,i=3,"));
    assert_ne!(budget.version(), version);
    let demoted = draw(&mut blocks[0], &mut budget, 80, 24);
    assert_eq!(demoted.iter().map(Line::text).collect::<Vec<_>>(), ["[image 4x8 png]", ""]);
    assert!(budget.take_bytes().is_empty(), "what made room does not come back");
    budget.forget_all();
    assert_eq!(plain(budget.take_bytes()), "ESC_Ga=d,d=I,q=2,i=2ESC\\ESC_Ga=d,d=I,q=2,i=3ESC\\");
}

#[test]
fn a_wiped_terminal_gets_the_picture_again_and_a_narrow_one_a_smaller() {
    let (mut budget, mut block) = (budget(PLACEHOLDERS), ImageBlock::new(sample()));
    let rows = draw(&mut block, &mut budget, 80, 24);
    let sent = budget.take_bytes();
    budget.begin_again();
    assert_eq!(draw(&mut block, &mut budget, 80, 24), rows);
    assert_eq!(budget.take_bytes(), sent);
    let narrow = draw(&mut block, &mut budget, 1, 24);
    assert_eq!(plain(budget.take_bytes()), "ESC_Ga=p,U=1,q=2,i=1,c=1,r=1ESC\\");
    assert_eq!(narrow.iter().map(Line::width).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_terminal_that_tells_more_keeps_its_pictures() {
    let (mut budget, mut block) = (budget(ImageWay::Sixel), ImageBlock::new(sample()));
    let rows = draw(&mut block, &mut budget, 80, 24);
    budget.set_terminal(ImageWay::Sixel, CellSize { width: 4, height: 8 });
    let scaled = draw(&mut block, &mut budget, 80, 24);
    assert_eq!(scaled.len(), rows.len());
    assert!(scaled[1].escape.as_ref().unwrap().contains("\"1;1;4;8"), "one cell now");
    budget.set_terminal(PLACEHOLDERS, CELL);
    let text: Vec<String> = draw(&mut block, &mut budget, 80, 24).iter().map(Line::text).collect();
    assert_eq!(text, ["[image 4x8 png]", "", ""]);
}

#[test]
fn text_where_there_is_nothing_else() {
    let large = Arc::new(Picture {
        kind: "pn\u{1b}g".into(),
        width: 800,
        height: 600,
        file: vec![0; LARGEST_FILE + 1].into(),
        pixels: None,
    });
    for (way, picture, text) in [
        (ImageWay::Text, sample(), "[image 4x8 png]"),
        (PLACEHOLDERS, Arc::clone(&large), "[image 800x600 png]"),
        (ImageWay::Sixel, Arc::clone(&large), "[image 800x600 png]"),
        (ImageWay::Iterm2, large, "[image 800x600 png]"),
    ] {
        let mut budget = budget(way);
        let rows = draw(&mut ImageBlock::new(picture), &mut budget, 80, 24);
        assert_eq!(rows.iter().map(Line::text).collect::<Vec<_>>(), [text]);
        assert!(rows[0].escape.is_none() && budget.take_bytes().is_empty());
    }
    assert!(Pixels::new(2, 2, vec![0; 15]).is_none() && Pixels::new(0, 0, vec![]).is_none());
    assert!(Pixels::new(u32::MAX, u32::MAX, vec![]).is_none());
}

/// Draws frames that each have one more row, and checks the screen.
#[track_caller]
fn check_screen(way: ImageWay, height: usize, rows_after: usize) {
    let mut budget = budget(way);
    let picture = draw(&mut ImageBlock::new(sample()), &mut budget, 30, 10);
    let after = (0..rows_after).map(|at| Line::from(format!("below {at}")));
    let lines: Vec<Line> = std::iter::once(Line::from("above")).chain(picture).chain(after).collect();
    let mut screen = vt100::Parser::new((height as u16).try_into().unwrap(), 30.try_into().unwrap(), 100);
    screen.process(&budget.take_bytes());
    let mut renderer = Renderer::new(Profile::default(), Size { width: 30, height });
    for shown in 1..=lines.len() {
        let mut out = Vec::new();
        renderer.paint(&Frame { rows: &lines[..shown].to_vec(), settled: shown - 1, overlay: None }, &mut out);
        screen.process(&out);
    }
    let contents = screen.screen().contents();
    let shown: Vec<&str> = contents.lines().map(str::trim_end).collect();
    let wanted: Vec<String> = lines[lines.len().saturating_sub(height)..].iter().map(Line::text).collect();
    assert_eq!(shown, wanted, "{way:?} in {height} rows");
}

#[test]
fn pictures_leave_the_screen_as_the_renderer_thinks_it_is() {
    for way in WAYS {
        check_screen(way, 10, 2);
        check_screen(way, 4, 1);
        check_screen(way, 5, 9);
    }
}
