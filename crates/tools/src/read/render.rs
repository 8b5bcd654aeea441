//! Renders a read.

use omp_agent::Outcome;
use omp_stdx::format::bytes;
use omp_view::{Block, Status, View, ViewFile};

use super::{Details, Params};
use crate::details::typed_file;

pub fn view(params: &Params, outcome: Outcome<&Details>) -> View {
    let title = format!("read {}", params.path);
    let known = |status, source: Option<ViewFile>| {
        let files = source.into_iter().chain(typed_file(&params.path));
        View::new(title, status).subject(params.path.clone()).files(files)
    };
    let Outcome::Done { details, is_error } = outcome else {
        let status = if matches!(outcome, Outcome::Running) { Status::Running } else { Status::Failed };
        return known(status, None);
    };
    let mut view = known(if is_error { Status::Failed } else { Status::Done }, details.meta.file());
    if let Some(kind) = &details.mime_type {
        return view.note(kind).note(bytes(details.file_size.unwrap_or_default()));
    }
    let Some(display) = &details.display_content else { return view };
    if details.is_directory {
        let lines: Vec<String> = display.text.lines().map(str::to_owned).collect();
        return view.note("folder").block(Block::Lines { lines, hidden: 0 });
    }
    if let (Some(first), Some(last)) = (display.line_numbers.first(), display.line_numbers.last()) {
        let total = details.total_lines.map_or(String::new(), |total| format!(" of {total}"));
        view = view.note(format!("lines {first}-{last}{total}"));
    }
    let path = details.meta.source.as_ref().map_or("", |source| source.value.as_str());
    let extension = std::path::Path::new(path).extension().map(|extension| extension.to_string_lossy().into_owned());
    let language = extension.map(|extension| match extension.as_str() {
        "pdf" | "docx" | "xlsx" | "pptx" | "epub" => "md".into(),
        _ => extension,
    });
    view.block(Block::Code { language, text: display.text.clone(), first_line: Some(display.start_line) })
}
