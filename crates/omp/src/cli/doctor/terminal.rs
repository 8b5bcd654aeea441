//! Reports what omp knows about the terminal it was started in.

use std::io::IsTerminal;

use omp_tui::{Capabilities, ColorDepth, Multiplexer, Size, TerminalEnv, window_size};
use omp_types::{Env, vars};

use super::report::Finding;

const AREA: &str = "terminal";
/// A smaller terminal shows little more than the prompt.
const SMALLEST: Size = Size { width: 40, height: 10 };

pub fn check(env: &Env) -> Finding {
    judged(env, std::io::stdout().is_terminal(), window_size())
}

fn judged(env: &Env, is_terminal: bool, size: Option<Size>) -> Finding {
    let known: TerminalEnv = env.iter().collect();
    let can = Capabilities::detect(&known);
    let colors = match can.colors {
        ColorDepth::None => "no colours",
        ColorDepth::Ansi16 => "16 colours",
        ColorDepth::Ansi256 => "256 colours",
        ColorDepth::True => "16 million colours",
    };
    let within = match can.multiplexer {
        Some(Multiplexer::Tmux) => ", in tmux",
        Some(Multiplexer::Screen) => ", in screen",
        Some(_) => ", in a multiplexer",
        None => "",
    };
    if !is_terminal {
        return Finding::fine(AREA, format!("standard output is not a terminal{within}"));
    }
    let Some(term) = env.get(vars::TERM) else {
        return Finding::warning(AREA, "TERM is not set\nhint: export TERM=xterm-256color");
    };
    if term == "dumb" {
        return Finding::warning(AREA, "TERM is `dumb`\nhint: use `omp --plain`, or export TERM=xterm-256color");
    }
    match size {
        None => Finding::warning(
            AREA,
            format!("{term}, {colors}{within}; its size is unknown\nhint: export COLUMNS and LINES"),
        ),
        Some(Size { width, height }) if width < SMALLEST.width || height < SMALLEST.height => Finding::warning(
            AREA,
            format!(
                "{term}, {width}×{height}, {colors}{within}: too small\nhint: make it at least {}×{}",
                SMALLEST.width, SMALLEST.height
            ),
        ),
        Some(Size { width, height }) => Finding::fine(AREA, format!("{term}, {width}×{height}, {colors}{within}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::FindingLevel;
    use super::*;

    #[track_caller]
    fn check(vars: &[(&str, &str)], size: Option<(usize, usize)>, state: FindingLevel, says: &str) {
        let env: Env = vars.iter().copied().collect();
        let finding = judged(&env, true, size.map(|(width, height)| Size { width, height }));
        assert_eq!(finding.state, state, "{finding:?}");
        assert!(finding.text.contains(says), "{finding:?}");
        assert_eq!(finding.text.contains("hint:"), state != FindingLevel::Fine, "{finding:?}");
    }

    #[test]
    fn terminals_are_judged_by_name_and_size() {
        let xterm = ("TERM", "xterm-256color");
        check(&[xterm], Some((80, 24)), FindingLevel::Fine, "xterm-256color, 80×24, 256 colours");
        check(&[xterm, ("TMUX", "/tmp/tmux-1/default,1,0")], Some((80, 24)), FindingLevel::Fine, "in tmux");
        check(&[xterm], Some((20, 5)), FindingLevel::Warning, "small");
        check(&[xterm], None, FindingLevel::Warning, "size");
        check(&[("TERM", "dumb")], Some((80, 24)), FindingLevel::Warning, "dumb");
        check(&[], Some((80, 24)), FindingLevel::Warning, "TERM is not set");
        assert_eq!(judged(&Env::default(), false, None).state, FindingLevel::Fine);
    }
}
