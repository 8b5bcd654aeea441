//! Tests files in archives, rows in databases, and internal addresses.

use super::*;

#[test]
fn web_addresses_are_no_files() {
    let scratch = Scratch::new(&[]);
    assert_eq!(
        text(&scratch, "https://example.com/a"),
        "error: https://example.com/a is a web address, not a file\nhint: fetch it with curl, through bash"
    );
}

/// Builds a tar archive of plain files.
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, data) in files {
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[108..116].copy_from_slice(b"0000000\0");
        header[116..124].copy_from_slice(b"0000000\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", data.len()).as_bytes());
        header[136..148].copy_from_slice(b"00000000000\0");
        header[148..156].copy_from_slice(b"        ");
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend(header);
        archive.extend(*data);
        archive.resize(archive.len().div_ceil(512) * 512, 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

#[test]
fn archives() {
    let scratch = Scratch::new(&[]);
    let files: [(&str, &[u8]); 5] = [
        ("src/main.rs", b"1\n2\n3\n4\n"),
        ("src/10-20", b"odd name\n"),
        ("README", b"hello\n"),
        ("bin", b"\x7fELF\0"),
        ("../evil", b"x"),
    ];
    scratch.put("a.tar", &tar(&files));
    for (path, want) in [
        (
            "a.tar",
            "a.tar:\nREADME  6B\nbin  5B\nsrc/  2 files  17B\n(1 entry with names outside the archive cannot be opened)",
        ),
        ("a.tar:src", "a.tar:src\n10-20  9B\nmain.rs  8B\n(1 entry with names outside the archive cannot be opened)"),
        ("a.tar:README", "[a.tar:README]\nhello"),
        (
            "a.tar:src/main.rs:2-3",
            "[a.tar:src/main.rs]\n2\n3\n(1 lines follow, up to line 4; continue with a.tar:src/main.rs:4)",
        ),
        ("a.tar:src/main.rs:-1:raw", "4"),
        ("a.tar:src/10-20", "[a.tar:src/10-20]\nodd name"),
        ("a.tar:src/main.rs:9", "error: Line 9 is past the end of a.tar:src/main.rs, which has 4 lines"),
        ("a.tar:gone", "error: 'gone' is not in the archive"),
        ("a.tar:gone:5", "error: 'gone' is not in the archive"),
        ("a.tar:readme", "error: 'readme' is not in the archive\nhint: there is 'README'"),
        ("a.tar:../evil", "error: Archive path cannot contain '..'"),
    ] {
        assert_eq!(text(&scratch, path), want, "{path}");
    }
    assert!(text(&scratch, "a.tar:bin").starts_with("error: a.tar:bin contains binary data (5B)"));
    scratch.put("bad.zip", b"no archive");
    assert!(text(&scratch, "bad.zip").starts_with("error: bad.zip is damaged"));
}

#[test]
fn long_listings_are_cut_and_say_so() {
    let scratch = Scratch::new(&[]);
    let names: Vec<String> = (0..600).map(|n| format!("{n:03}")).collect();
    scratch.put("a.tar", &tar(&names.iter().map(|name| (name.as_str(), &b""[..])).collect::<Vec<_>>()));
    let shown = text(&scratch, "a.tar");
    let note = "\n499  0B\n(100 entries not shown; read one by its name, or list all with tar -tf or unzip -l)";
    assert!(shown.ends_with(note), "{shown}");
    for n in 0..510 {
        scratch.put(&format!("many/{n}"), b"");
    }
    let shown = text(&scratch, "many");
    let note = "\n… 10 more entries\n(… marks entries left out; read the folder itself, or list it with find)";
    assert!(shown.ends_with(note), "{}", &shown[shown.len() - 200..]);
}

#[test]
fn notebooks() {
    let cells = json!({
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Head\n"]},
            {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": ["print(1)"],
             "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}]},
        ],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5
    });
    let scratch = Scratch::new(&[("a.ipynb", &cells.to_string()), ("bad.ipynb", "{}\n")]);
    let shown = text(&scratch, "a.ipynb");
    let lines = "1:# %% [markdown] cell:0\n2:# Head\n3:\n4:# %% [code] cell:1\n5:print(1)\n";
    assert!(
        shown.starts_with("[a.ipynb#") && shown.contains(&format!("]\n{lines}\n# output of cell:1\n1\n(")),
        "{shown}"
    );
    assert!(!text(&scratch, "a.ipynb:1-2").contains("output of"));
    assert!(text(&scratch, "a.ipynb:4-4").contains("\n4:# %% [code] cell:1\n\n# output of cell:1\n1\n("));
    assert!(text(&scratch, "a.ipynb:-1").contains("]\n5:print(1)\n(notebook: "));
    assert!(text(&scratch, "a.ipynb:raw").starts_with("{\"cells\""));
    assert!(text(&scratch, "bad.ipynb").ends_with("\n1:{}"));
}

/// Builds a database with one table `t (a)` and the row 42, as SQLite writes it with the smallest page size.
fn database() -> Vec<u8> {
    let mut file = vec![0_u8; 1024];
    file[..16].copy_from_slice(b"SQLite format 3\0");
    // Page size 512, versions, payload fractions; two pages; schema format 4, UTF-8.
    file[16..24].copy_from_slice(&[2, 0, 1, 1, 0, 64, 32, 32]);
    file[27] = 1;
    file[31] = 2;
    file[43] = 1;
    file[47] = 4;
    file[59] = 1;
    file[95] = 1;
    let schema = b"\x06\x17\x0f\x0f\x01\x31tablett\x02CREATE TABLE t (a)";
    let cell = [&[schema.len() as u8, 1][..], schema].concat();
    leaf(&mut file[..512], 100, &cell);
    leaf(&mut file[512..], 0, &[3, 1, 2, 1, 42]);
    file
}

/// Writes a table page with one cell at its end.
fn leaf(page: &mut [u8], header: usize, cell: &[u8]) {
    let place = page.len() - cell.len();
    page[place..].copy_from_slice(cell);
    let place = (place as u16).to_be_bytes();
    page[header..header + 10].copy_from_slice(&[13, 0, 0, 0, 1, place[0], place[1], 0, place[0], place[1]]);
}

#[test]
fn databases() {
    let scratch = Scratch::new(&[("text.db", "no database\n")]);
    scratch.put("a.db", &database());
    for (path, want) in [
        ("a.db", "t"),
        ("a.db:t", "42"),
        ("a.db:t:1", "42"),
        ("a.db:t?where=a>1&limit=1", "42"),
        ("a.db:gone", "error: SQLite table 'gone' not found"),
        ("a.db:t?order=b", "error: "),
        ("a.db?q=DELETE FROM t", "error: "),
        ("text.db", "1:no database"),
    ] {
        let shown = text(&scratch, path);
        assert!(shown.contains(want), "{path}: {shown}");
    }
    assert_eq!(std::fs::read(scratch.path("a.db")).unwrap(), database());
}
