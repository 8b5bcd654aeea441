//! What the model wrote in calls in which something was hidden: a call is run as it was meant, however it is told.
//!
//! What is replaced for good has no placeholder to find it by, so the arguments themselves are remembered, in memory
//! only and only of the newest calls: a call runs right after the answer that made it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use omp_types::{AssistantMessage, ToolCall};
use serde_json::{Map, Value};

use super::Veil;

/// More than any answer has calls.
const MOST_CALLS: usize = 256;

#[derive(Default)]
pub(super) struct VeiledCalls(Mutex<VecDeque<Meant>>);

struct Meant {
    id: String,
    told: Map<String, Value>,
    meant: Map<String, Value>,
}

impl Veil {
    /// An answer as the model gave it, and as it is told.
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

    /// The arguments that the model gave for this call, where something of them was hidden.
    pub fn meant(&self, call: &ToolCall) -> Option<Map<String, Value>> {
        let calls = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Some providers number the calls of every answer anew.
        let known = calls.iter().rev().find(|known| known.id == call.id)?;
        (known.told == call.arguments).then(|| known.meant.clone())
    }
}
