//! All available themes: the built-in ones and the files of a folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use omp_stdx::nearest::nearest;

use super::builtin::BUILT_IN;
use super::{Rgb, Theme};

const MOST_FILES: usize = 256;
const LARGEST_FILE: u64 = 256 * 1024;

/// A problem in a theme file. The theme may be usable nevertheless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThemeProblem {
    pub file: PathBuf,
    pub message: String,
}

#[derive(Clone, Debug, Default)]
pub struct Themes {
    from_files: BTreeMap<String, Arc<Theme>>,
    problems: Vec<ThemeProblem>,
}

impl Themes {
    /// Contains only the built-in themes.
    pub fn built_in() -> Self {
        Self::default()
    }

    /// Adds the themes of a folder, one per file, named by the file without `.json`. A missing folder is no problem.
    pub fn load(folder: &Path) -> Self {
        let mut themes = Self::default();
        match theme_files(folder) {
            Ok(files) => files.iter().for_each(|file| themes.add(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => themes.report(folder, format!("the themes cannot be read: {error}")),
        }
        themes
    }

    /// Returns the names, built-in themes first.
    pub fn names(&self) -> Vec<&str> {
        BUILT_IN.iter().map(|(name, _)| *name).chain(self.from_files.keys().map(String::as_str)).collect()
    }

    pub fn get(&self, name: &str) -> Option<Arc<Theme>> {
        let built_in = BUILT_IN.iter().find(|(built_in, _)| *built_in == name);
        built_in.map(|(_, theme)| Arc::new(theme())).or_else(|| self.from_files.get(name).cloned())
    }

    /// Returns the theme for a terminal: the one that the user configured for its kind of background, otherwise the built-in
    /// one. Also returns a message if the configured theme does not exist. An unknown background counts as dark.
    pub fn choose(
        &self,
        background: Option<Rgb>,
        dark: Option<&str>,
        light: Option<&str>,
    ) -> (Arc<Theme>, Option<String>) {
        let background = background.unwrap_or(Rgb(0, 0, 0));
        let wanted = if background.is_light() { light } else { dark };
        let suiting = || Arc::new(Theme::for_background(background));
        let Some(name) = wanted else { return (suiting(), None) };
        match self.get(name) {
            Some(theme) => (theme, None),
            None => (suiting(), Some(self.not_there(name))),
        }
    }

    fn not_there(&self, name: &str) -> String {
        let names = self.names();
        match nearest(name, names.iter().copied()) {
            Some(meant) => format!("unknown theme \"{name}\"\nhint: did you mean \"{meant}\"?"),
            None => format!("unknown theme \"{name}\"\nhint: the themes are {}", names.join(", ")),
        }
    }

    /// Returns the problems of the files, for the user.
    pub fn problems(&self) -> &[ThemeProblem] {
        &self.problems
    }

    fn add(&mut self, file: &Path) {
        let Some(name) = file.file_stem().and_then(|stem| stem.to_str()) else {
            return self.report(file, "the file name is not UTF-8".to_owned());
        };
        if BUILT_IN.iter().any(|(built_in, _)| *built_in == name) {
            return self.report(file, format!("\"{name}\" is a built-in theme\nhint: give the file another name"));
        }
        match read(file).map_err(|error| error.to_string()).and_then(|json| parse(&json, name)) {
            Err(message) => self.report(file, message),
            Ok((theme, warnings)) => {
                self.from_files.insert(name.to_owned(), Arc::new(theme));
                warnings.into_iter().for_each(|warning| self.report(file, warning));
            }
        }
    }

    fn report(&mut self, file: &Path, message: String) {
        self.problems.push(ThemeProblem { file: file.to_owned(), message });
    }
}

fn parse(json: &str, name: &str) -> Result<(Theme, Vec<String>), String> {
    Theme::parse(json, name).map_err(|error| error.to_string())
}

fn theme_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path());
    let is_theme = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json") && path.is_file();
    let mut files: Vec<PathBuf> = entries.filter(is_theme).take(MOST_FILES).collect();
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> io::Result<String> {
    let mut json = String::new();
    let size = omp_stdx::plain_file::open(file)?.0.take(LARGEST_FILE + 1).read_to_string(&mut json)?;
    if size as u64 > LARGEST_FILE {
        return Err(io::Error::other(format!("larger than {} KiB", LARGEST_FILE / 1024)));
    }
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Token;

    #[test]
    fn files_stand_beside_the_built_in_ones() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("mine.json", "{\"name\": \"Mine\", \"colors\": {\"accent\": 5, \"acent\": 6}}");
        write("broken.json", "{");
        write("dark.json", "{\"colors\": {}}");
        write("large.json", &" ".repeat(LARGEST_FILE as usize + 1));
        write("notes.txt", "not a theme");
        fs::create_dir(folder.path().join("folder.json")).unwrap();

        let themes = Themes::load(folder.path());
        assert_eq!(themes.names(), ["dark", "light", "high-contrast", "high-contrast-light", "mine"]);
        assert_eq!(themes.get("mine").unwrap().color(Token::Accent), crate::Color::Indexed(5));
        assert_eq!(*themes.get("dark").unwrap(), Theme::dark());
        assert!(themes.get("broken").is_none());
        let told: Vec<(String, &str)> = themes
            .problems()
            .iter()
            .map(|problem| {
                let file = problem.file.file_name().unwrap().to_string_lossy().into_owned();
                (file, problem.message.split([':', '\n']).next().unwrap())
            })
            .collect();
        let told: Vec<(&str, &str)> = told.iter().map(|(file, message)| (file.as_str(), *message)).collect();
        assert_eq!(
            told[..4],
            [
                ("broken.json", "the theme \"broken\" is not JSON"),
                ("dark.json", "\"dark\" is a built-in theme"),
                ("large.json", "larger than 256 KiB"),
                ("mine.json", "unknown colour \"acent\"; did you mean \"accent\"?"),
            ]
        );
    }

    #[test]
    fn the_background_and_the_user_choose() {
        let themes = Themes::built_in();
        let (black, white) = (Some(Rgb(0, 0, 0)), Some(Rgb(255, 255, 255)));
        for (background, dark, light, name, told) in [
            (None, None, None, "dark", None),
            (black, None, Some("high-contrast"), "dark", None),
            (white, None, None, "light", None),
            (black, Some("high-contrast"), None, "high-contrast", None),
            (black, Some("high-contarst"), None, "dark", Some("high-contrast\"?")),
            (white, None, Some("zzz"), "light", Some("the themes are dark, light, high-contrast, high-contrast-light")),
        ] {
            let (theme, problem) = themes.choose(background, dark, light);
            assert_eq!(theme.name, name);
            assert_eq!(problem.is_some(), told.is_some());
            assert!(problem.unwrap_or_default().ends_with(told.unwrap_or_default()));
        }
    }

    #[test]
    fn no_folder_is_no_problem() {
        let folder = tempfile::tempdir().unwrap();
        let themes = Themes::load(&folder.path().join("absent"));
        assert!(themes.problems().is_empty() && themes.names().len() == BUILT_IN.len());
    }
}
