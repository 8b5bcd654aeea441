//! Consecutive reads of files as one block: a row for each.

use std::cell::RefCell;
use std::rc::Rc;

use omp_tui::text::clip;
use omp_tui::{Line, Space, Token};
use omp_view::Status;

use super::Block;
use super::call::CallBlock;
use super::card;

/// Grows until another block is added.
#[derive(Default)]
pub struct Reads {
    calls: Vec<Rc<RefCell<CallBlock>>>,
    closed: bool,
    expanded: bool,
}

impl Reads {
    pub fn add(&mut self, call: Rc<RefCell<CallBlock>>) {
        call.borrow_mut().set_all(self.expanded);
        self.calls.push(call);
    }

    pub fn close(&mut self) {
        self.closed = true;
    }
}

impl Block for Reads {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut rows = Vec::new();
        if self.calls.len() > 1 && !self.expanded {
            let count = omp_stdx::format::plural(self.calls.len(), "file", "files");
            rows.push(Line::styled(format!("read {count}"), space.theme.fg(Token::ToolTitle).bold()));
        }
        let alone = rows.is_empty();
        for call in &self.calls {
            let call = call.borrow();
            let mut view = call.view().clone();
            if !alone {
                view.title = view.subject.take().unwrap_or(view.title);
            }
            let title = card::title(&view, space);
            rows.push(if alone { title } else { clip(card::indented(vec![title]).remove(0), space.width) });
            if self.expanded || view.status == Status::Failed {
                rows.extend(if alone { call.body(space) } else { card::indented(call.body(&space.narrower(2))) });
            }
            rows.extend(call.draw_pictures(space));
        }
        rows
    }

    fn version(&self) -> u64 {
        let calls: u64 = self.calls.iter().map(|call| call.borrow().version() + 1).sum();
        calls + u64::from(self.closed) + u64::from(self.expanded)
    }

    fn is_final(&self) -> bool {
        self.closed && self.calls.iter().all(|call| call.borrow().is_final())
    }

    fn set_expanded(&mut self, expanded: bool) {
        self.expanded = expanded;
        self.calls.iter().for_each(|call| call.borrow_mut().set_all(expanded));
    }
}
