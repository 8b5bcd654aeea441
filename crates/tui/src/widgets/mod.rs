//! Widgets for dialogs and panels.

mod countdown;
mod fuzzy;
mod input_line;
mod list_row;
mod loader;
mod panel;
mod progress;
mod scroll_view;
mod select_list;
mod settings_list;
mod spacer;
mod tab_bar;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod text;
mod tree_list;
mod window;

pub use countdown::Countdown;
pub use fuzzy::{Fuzzy, FuzzyHit, RankedMatch};
pub use input_line::InputLine;
pub use loader::Loader;
pub use panel::{Panel, horizontal_rule};
pub use progress::ProgressBar;
pub use scroll_view::ScrollView;
pub use select_list::{ListChoice, SelectList};
pub use settings_list::{Setting, SettingChange, SettingKind, SettingsList};
pub use spacer::Spacer;
pub use tab_bar::TabBar;
pub use text::TextWidget;
pub use tree_list::{TreeList, TreeListNode};
pub use window::ListWindow;

pub(crate) use list_row::{ListRow, column, one_line};
