//! The block of a `!` or `$` command of the user.

use omp_session::{RanBy, ShellRun};
use omp_stdx::sanitize;
use omp_tui::text::clip;
use omp_tui::{Line, Space, Token};
use omp_view::Keep;

use super::Block;
use super::card;

/// Caps the output of a running command kept for its last rows.
const TAIL: usize = 4 * 1024;

pub struct ShellBlock {
    ran_by: RanBy,
    command: String,
    /// Not sent to the model.
    private: bool,
    output: String,
    /// The final message and its colour; `None` while it runs.
    ended: Option<(Token, String)>,
    expanded: bool,
    version: u64,
}

impl ShellBlock {
    pub fn new(ran_by: RanBy, command: &str, private: bool) -> Self {
        let command = command.to_owned();
        Self { ran_by, command, private, output: String::new(), ended: None, expanded: false, version: 0 }
    }

    /// Shows the end of its output.
    pub fn show(&mut self, output: &str) {
        let mut start = output.len().saturating_sub(TAIL);
        while !output.is_char_boundary(start) {
            start += 1;
        }
        output[start..].clone_into(&mut self.output);
        self.version += 1;
    }

    pub fn end(&mut self, run: &Result<ShellRun, String>) {
        self.ended = Some(match run {
            Ok(run) => {
                self.output.clone_from(&run.output);
                let mut said = run.notices.clone();
                match run.exit_code {
                    _ if run.cancelled => said.insert(0, "⏹ interrupted".to_owned()),
                    Some(0) => {}
                    Some(code) => said.insert(0, format!("exit code {code}")),
                    None => said.insert(0, "killed".to_owned()),
                }
                if run.truncated
                    && let Some(artifact) = &run.artifact_id
                {
                    said.push(format!("full output: artifact://{artifact}"));
                }
                let token = match run.exit_code {
                    _ if run.cancelled => Token::Warning,
                    Some(0) => Token::Muted,
                    _ => Token::Error,
                };
                (token, said.join("\n"))
            }
            Err(problem) => (Token::Error, problem.clone()),
        });
        self.version += 1;
    }
}

impl Block for ShellBlock {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let theme = space.theme;
        let (sign, token) = match (self.ran_by, self.private) {
            (RanBy::Shell, false) => ("! ", Token::BashMode),
            (RanBy::Shell, true) => ("!! ", Token::BashMode),
            (RanBy::Python, false) => ("$ ", Token::PythonMode),
            (RanBy::Python, true) => ("$$ ", Token::PythonMode),
        };
        let command = sanitize::strip_control(self.command.lines().next().unwrap_or_default()).into_owned();
        let title = Line::styled(sign, theme.fg(token)).with(command, theme.fg(token).bold());
        let mut rows = vec![clip(title, space.width)];
        rows.extend(card::output(&self.output, space, theme.fg(Token::ToolOutput), self.expanded, Keep::Tail));
        if let Some((token, said)) = self.ended.as_ref().filter(|(_, said)| !said.is_empty()) {
            rows.extend(card::output(said, space, theme.fg(*token), true, Keep::Head));
        }
        rows
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn is_final(&self) -> bool {
        self.ended.is_some()
    }

    fn set_expanded(&mut self, expanded: bool) {
        self.expanded = expanded;
        self.version += 1;
    }
}
