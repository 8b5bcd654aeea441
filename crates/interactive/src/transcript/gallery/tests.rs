//! Images that wait, are decoded, exceed the limit, or are invalid.

use std::io::Cursor;

use omp_tui::Theme;

use super::*;

const PLACEHOLDERS: ImageWay = ImageWay::Kitty { placeholders: true, passthrough: false };
const CELL: CellSize = CellSize { width: 10, height: 20 };

fn file(width: u32, height: u32, format: image::ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    image::RgbImage::from_pixel(width, height, image::Rgb([200, 0, 0]))
        .write_to(&mut Cursor::new(&mut bytes), format)
        .unwrap();
    bytes
}

fn png(width: u32, height: u32) -> String {
    STANDARD.encode(file(width, height, image::ImageFormat::Png))
}

fn gallery(way: ImageWay) -> Gallery {
    let gallery = Gallery::new(PictureWishes::default());
    gallery.set_terminal(way, CELL);
    gallery
}

fn drawn(hung: &Hung, width: usize) -> Vec<Line> {
    let theme = Theme::colorless();
    hung.draw(&Space { width, height: 24, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys })
}

fn texts(hung: &Hung) -> Vec<String> {
    drawn(hung, 60).iter().map(Line::text).collect()
}

fn develop(gallery: &Gallery) -> usize {
    let jobs = std::iter::from_fn(|| gallery.next().map(|job| gallery.developed(job.run())));
    jobs.count()
}

#[test]
fn a_line_of_text_tells_what_a_picture_is() {
    let long = format!("image/{}", "x".repeat(100));
    for (data, mime_type, expect) in [
        (png(80, 40), "image/png", "  [image 80x40 png]"),
        (STANDARD.encode(file(7, 9, image::ImageFormat::Jpeg)), "image/png", "  [image 7x9 jpeg]"),
        (png(80, 40)[..12].to_owned(), "image/png", "  [image png]"),
        ("no base64!".to_owned(), "image/\u{1b}[2Jx\ny", "  [image x y]"),
        ("blob:sha256:00".to_owned(), &long, "  [image xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx]"),
    ] {
        let gallery = gallery(ImageWay::Text);
        let hung = gallery.hang(&data, mime_type);
        assert_eq!(texts(&hung), [expect]);
        assert!(hung.is_settled() && gallery.next().is_none() && gallery.take_bytes().is_empty());
    }
}

#[test]
fn a_picture_is_text_until_it_is_decoded() {
    for (way, first, sent) in [
        (PLACEHOLDERS, "  \u{10eeee}\u{305}\u{305}", "\x1b_Ga=t,q=2,"),
        (ImageWay::Kitty { placeholders: false, passthrough: false }, "", "\x1b_Ga=t,q=2,"),
        (ImageWay::Iterm2, "", ""),
        (ImageWay::Sixel, "", ""),
    ] {
        let gallery = gallery(way);
        let hung = gallery.hang(&png(80, 40), "image/png");
        assert_eq!((texts(&hung), hung.is_settled()), (vec!["  [image 80x40 png]".to_owned()], false));
        let version = gallery.version();
        assert_eq!(develop(&gallery), 1);
        assert!(hung.is_settled() && gallery.version() != version, "{way:?}");
        let rows = drawn(&hung, 60);
        assert!(rows[0].text().starts_with(first), "{way:?}: {rows:?}");
        assert!(String::from_utf8(gallery.take_bytes()).unwrap().starts_with(sent));
        let direct = rows.last().unwrap().escape.as_deref().unwrap_or("\x1b7\x1b[2A\r\x1b[2C");
        assert!(direct.starts_with("\x1b7\x1b[2A\r\x1b[2C"), "{way:?}: {direct:?}");
        assert_eq!(rows.len(), if way == PLACEHOLDERS { 2 } else { 3 });
    }
}

#[test]
fn a_photograph_goes_to_kitty_as_pixels() {
    let gallery = gallery(PLACEHOLDERS);
    let hung = gallery.hang(&STANDARD.encode(file(40, 40, image::ImageFormat::Jpeg)), "image/jpeg");
    develop(&gallery);
    assert_eq!(drawn(&hung, 60).len(), 2);
    assert!(String::from_utf8(gallery.take_bytes()).unwrap().contains("f=32,s=40,v=40"));
}

#[test]
fn what_is_broken_says_so_in_one_row() {
    let whole = file(80, 40, image::ImageFormat::Png);
    for (data, expect) in [
        (STANDARD.encode(&whole[..whole.len() - 20]), "  [image 80x40 png cannot be decoded]"),
        ("?".to_owned(), "  [image png cannot be decoded]"),
        (STANDARD.encode("words"), "  [image png cannot be decoded]"),
    ] {
        let gallery = gallery(PLACEHOLDERS);
        let hung = gallery.hang(&data, "image/png");
        assert_eq!(develop(&gallery), 1);
        assert_eq!((texts(&hung), hung.is_settled()), (vec![expect.to_owned()], true));
        assert!(gallery.take_bytes().is_empty());
    }
}

#[test]
fn of_many_the_newest_are_shown_and_only_they_are_decoded() {
    let gallery = gallery(PLACEHOLDERS);
    let data = png(20, 40);
    let hung: Vec<Hung> = (0..20).map(|_| gallery.hang(&data, "image/png")).collect();
    assert_eq!(develop(&gallery), 8);
    let shown = |hung: &[Hung]| hung.iter().map(|hung| texts(hung).len()).collect::<Vec<_>>();
    assert_eq!(shown(&hung), [[1; 12].as_slice(), &[2; 8]].concat());
    let sent = String::from_utf8(gallery.take_bytes()).unwrap();
    assert_eq!((sent.matches("a=t,").count(), sent.matches("a=d,").count()), (8, 0));
    let another = gallery.hang(&data, "image/png");
    develop(&gallery);
    let version = gallery.version();
    assert_eq!(texts(&another).len(), 2);
    assert_ne!(gallery.version(), version, "an older one looks different");
    assert_eq!(texts(&hung[12]), ["  [image 20x40 png]", ""], "as many rows as before");
    gallery.clear();
    let sent = String::from_utf8(gallery.take_bytes()).unwrap();
    assert_eq!(sent.matches("a=d,d=I").count(), 9);
    assert_eq!(texts(&another), ["  [image 20x40 png]", ""]);
}

#[test]
fn users_say_how_large_how_many_and_whether() {
    let wishes = PictureWishes { live: 1, largest: Cells { columns: 6, rows: 3 }, ..PictureWishes::default() };
    let small = Gallery::new(wishes);
    small.set_terminal(PLACEHOLDERS, CELL);
    let hung = small.hang(&png(800, 40), "image/png");
    develop(&small);
    assert_eq!(drawn(&hung, 60).iter().map(Line::width).collect::<Vec<_>>(), [8]);
    let high = small.hang(&png(40, 800), "image/png");
    develop(&small);
    assert_eq!(drawn(&high, 60).len(), 3);
    small.set_shown(false);
    assert_eq!(texts(&high)[0], "  [image 40x800 png]");
    assert_eq!(texts(&small.hang(&png(4, 4), "image/png")), ["  [image 4x4 png]"]);
    let unlimited = Gallery::new(PictureWishes { live: 0, ..wishes });
    assert_eq!(unlimited.0.borrow().live, MOST_LIVE);
}

#[test]
fn a_picture_of_another_conversation_is_not_hung_here() {
    let gallery = gallery(PLACEHOLDERS);
    let old = gallery.hang(&png(20, 40), "image/png");
    let job = gallery.next().unwrap();
    gallery.clear();
    let new = gallery.hang(&png(20, 40), "image/png");
    assert!(gallery.next().is_none(), "one at a time");
    gallery.developed(job.run());
    assert_eq!((texts(&old).len(), new.is_settled()), (1, false));
    assert_eq!((develop(&gallery), texts(&new).len()), (1, 2));
}
