//! SQLite databases: tables, their schemas and rows. Nothing can be changed from here.

use omp_agent::{Output, ToolError};
use omp_workspace::ResolvedPath;
use omp_workspace::sqlite::{DatabaseAddress, SqliteSelector, look};
use tokio_util::sync::CancellationToken;

use super::Details;
use super::selector::Selector;
use super::text::{self, Extract};

pub fn read(
    path: ResolvedPath,
    address: DatabaseAddress<'_>,
    cancel: CancellationToken,
) -> Result<Output<Details>, ToolError> {
    let selector = SqliteSelector::parse(address.rows, address.query).map_err(ToolError::reply)?;
    let text = look(&path.absolute, &selector, move || cancel.is_cancelled()).map_err(ToolError::reply)?;
    let size = text.len() as u64;
    text::show(Extract { path, text, title: None, notes: Vec::new(), size }, Selector::default())
}
