//! Remembers the original arguments of calls in which something was hidden, so that a call runs as intended.
//!
//! A permanently replaced value has no placeholder, so the arguments themselves are kept, only in memory and only for the
//! newest calls: a call runs right after its answer.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use omp_types::{AssistantMessage, ToolCall};
use serde_json::{Map, Value};

use super::Veil;

/// More than the number of calls in any answer.
const MOST_CALLS: usize = 256;

#[derive(Default)]
pub(super) struct VeiledCalls(Mutex<VecDeque<Meant>>);

struct Meant {
    id: String,
    told: Map<String, Value>,
    meant: Map<String, Value>,
}

impl Veil {
    /// Compares the original answer with the redacted one.
    pub(crate) fn remember_calls(&self, given: &AssistantMessage, told: &AssistantMessage) {
        let mut calls = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (given, told) in given.tool_calls().zip(told.tool_calls()) {
            if given.arguments == told.arguments {
                continue;
            }
            if calls.len() >= MOST_CALLS {
                calls.pop_front();
            }
            let (told, meant) = (told.arguments.clone(), given.arguments.clone());
            calls.push_back(Meant { id: given.id.clone(), told, meant });
        }
    }

    /// Returns the original arguments of this call, if part of them was hidden.
    pub fn meant(&self, call: &ToolCall) -> Option<Map<String, Value>> {
        let calls = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Some providers restart the numbering of calls in every answer.
        let known = calls.iter().rev().find(|known| known.id == call.id)?;
        (known.told == call.arguments).then(|| known.meant.clone())
    }
}
