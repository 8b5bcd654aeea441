//! The log of the renderer, frame by frame (`PI_DEBUG_REDRAW`).

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use omp_interactive::Redraws;

use crate::private_file;

/// Caps the bytes that one run adds.
const MAX_BYTES: usize = 16 * 1024 * 1024;

pub fn log(folder: &Path) -> Result<Redraws, String> {
    let path = folder.join("redraw.log");
    let told = |error: std::io::Error| {
        format!(
            "cannot log redraws to {}: {error}\nhint: unset PI_DEBUG_REDRAW, or make the file writable",
            path.display()
        )
    };
    std::fs::create_dir_all(folder).map_err(told)?;
    let file = private_file::append(&path).map_err(told)?;
    Ok(into(file))
}

fn into(mut file: File) -> Redraws {
    let (begun, mut left, process) = (Instant::now(), MAX_BYTES, std::process::id());
    Box::new(move |painted| {
        let line = format!("{process} {}ms {painted}\n", begun.elapsed().as_millis());
        left = left.saturating_sub(line.len());
        // A full disk does not end the session.
        if left > 0 && file.write_all(line.as_bytes()).is_err() {
            left = 0;
        }
    })
}

#[cfg(test)]
mod tests {
    use omp_tui::Painted;

    use super::*;

    #[test]
    fn each_frame_is_a_line_and_later_runs_add_theirs() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("logs");
        for run in 1..=2 {
            let mut redraws = log(&folder).unwrap();
            redraws(&Painted { how: "begin", rows: 5, settled: 2, top: 0, committed: (0, 1), bytes: 99 });
            let text = std::fs::read_to_string(folder.join("redraw.log")).unwrap();
            assert_eq!(text.lines().count(), run);
            assert!(text.ends_with("ms begin rows=5 settled=2 top=0 committed=0..1 bytes=99\n"), "{text}");
        }
        std::fs::write(temp.path().join("file"), "").unwrap();
        let problem = log(&temp.path().join("file")).err().unwrap();
        assert!(problem.contains("hint: unset PI_DEBUG_REDRAW"), "{problem}");
    }
}
