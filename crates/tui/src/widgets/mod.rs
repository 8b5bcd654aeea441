//! The parts that dialogs and panels are made of.

mod fuzzy;
mod list_row;
#[cfg(test)]
pub(crate) mod testing;
mod window;

pub use fuzzy::{Found, Fuzzy, FuzzyHit};

pub(crate) use list_row::{ListRow, column, one_line};
pub(crate) use window::Window;
