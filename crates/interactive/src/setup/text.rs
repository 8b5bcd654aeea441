//! The setup pages as plain lines with numbered choices, for screen readers and simple terminals.

use std::io::{self, Write};

use omp_stdx::sanitize::strip_control;
use tokio::sync::mpsc;

use super::{Next, Page, Setup, SetupEnd, SetupHost};

pub struct SetupIo<'a, W> {
    pub lines: &'a mut mpsc::Receiver<String>,
    pub out: W,
    /// Disables the echo of the terminal, or enables it again.
    pub hide: &'a dyn Fn(bool),
}

/// Prints the pages until they are left, or the input ends.
pub async fn run_setup_in_text<W: Write>(mut io: SetupIo<'_, W>, host: &dyn SetupHost) -> io::Result<SetupEnd> {
    let mut setup = Setup::new(host.look().await);
    loop {
        let page = setup.page();
        // Disabled before the question, so that the key of a fast typist is not echoed.
        (io.hide)(page.asks_key);
        tell(&mut io.out, &page)?;
        let line = io.lines.recv().await;
        (io.hide)(false);
        if page.asks_key {
            // The line break was not echoed either.
            writeln!(io.out)?;
        }
        let Some(line) = line else {
            return Ok(if setup.is_ready() { SetupEnd::Ready } else { SetupEnd::Left });
        };
        let next = match line.trim() {
            "" => setup.back(),
            typed if page.asks_key => setup.give(typed),
            typed => match chosen(&page, typed) {
                Some(index) => setup.choose(index),
                None => {
                    writeln!(io.out, "That is not one of the choices.")?;
                    Next::Show
                }
            },
        };
        match next {
            Next::Show => {}
            Next::Wish(wish) => setup.fulfil(wish, host).await,
            Next::End(end) => return Ok(end),
        }
    }
}

fn tell(out: &mut impl Write, page: &Page) -> io::Result<()> {
    let stop = if page.title.ends_with('?') { "" } else { "." };
    writeln!(out, "\n{}{stop}", page.title)?;
    for line in &page.text {
        writeln!(out, "{}", strip_control(line))?;
    }
    for (at, (label, detail)) in page.choices.iter().enumerate() {
        let detail = if detail.is_empty() { String::new() } else { format!(", {detail}") };
        writeln!(out, "{}. {label}{detail}", at + 1)?;
    }
    let ask = if page.asks_key {
        "Key (hidden while you type; empty to go back): "
    } else {
        "Number or name (empty to go back): "
    };
    write!(out, "{ask}")?;
    out.flush()
}

/// Parses a choice by number or by name.
fn chosen(page: &Page, typed: &str) -> Option<usize> {
    match typed.parse::<usize>() {
        Ok(number) => number.checked_sub(1).filter(|at| *at < page.choices.len()),
        Err(_) => page.choices.iter().position(|(label, _)| label.eq_ignore_ascii_case(typed)),
    }
}
