//! The welcome rows: version, folder, and first hints.

use std::path::{Path, PathBuf};

use omp_tui::text::clip;
use omp_tui::{Line, Space, Token};

use crate::transcript::Block;

pub struct Welcome {
    pub version: String,
    pub folder: PathBuf,
    pub home: PathBuf,
    /// A line about found items that are not used.
    pub unused: Option<String>,
    /// A line about a newer version.
    pub update: Option<String>,
}

impl Block for Welcome {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let theme = space.theme;
        let head = Line::styled("omp ", theme.fg(Token::Accent).bold())
            .with(format!("{} · ", self.version), theme.fg(Token::Muted))
            .with(short_path(&self.folder, &self.home), theme.fg(Token::Text));
        let hints = "/ for commands · @ for files · ! for the shell · /hotkeys for keys";
        let dim = |text: &str| clip(Line::styled(text.to_owned(), theme.fg(Token::Dim)), space.width);
        let mut lines = vec![clip(head, space.width), dim(hints)];
        lines.extend([&self.unused, &self.update].into_iter().flatten().map(|line| dim(line)));
        lines
    }

    fn version(&self) -> u64 {
        0
    }

    fn is_final(&self) -> bool {
        true
    }
}

/// Shortens the home folder to `~`.
pub fn short_path(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(inside) if inside.as_os_str().is_empty() => "~".to_owned(),
        Ok(inside) if home.components().count() > 1 => format!("~/{}", inside.display()),
        _ => path.display().to_string(),
    }
}
