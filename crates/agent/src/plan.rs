//! The stages of a call: checked against the schema, planned once, and run as it was approved.
//!
//! The types enforce the order. Arguments can be amended until the call is planned; a plan cannot be changed, and only a
//! plan can run.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use omp_types::ToolCall;
use omp_view::View;
use serde_json::Value;

use crate::schema::check_arguments;
use crate::tool::{AnyTool, Approval, ToolCx, ToolError, ToolOutput, ToolRole};

/// A tool's plan for one call: its effects, and everything that it needs to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned<P> {
    pub approval: Approval,
    /// Passed to the tool when the call runs.
    pub plan: P,
}

impl<P> Planned<P> {
    pub fn new(approval: impl Into<Approval>, plan: P) -> Self {
        Self { approval: approval.into(), plan }
    }
}

/// A plan with its type erased. Typed tools get this implementation automatically.
pub trait AnyPlan: Send + Sync {
    fn approval(&self) -> &Approval;

    /// All changes that the call would make, for the approval question.
    fn preview(&self) -> Option<View> {
        None
    }

    /// The error with which the call would end as things are.
    fn foreseen_error(&self) -> Option<ToolError> {
        None
    }

    fn run<'a>(self: Box<Self>, cx: ToolCx) -> BoxFuture<'a, Result<ToolOutput, ToolError>>
    where
        Self: 'a;
}

/// A plan for tools without typed parameters, such as those of a host: an approval and a function to run.
pub fn plan_of<'t, F>(approval: impl Into<Approval>, run: F) -> Box<dyn AnyPlan + 't>
where
    F: FnOnce(ToolCx) -> BoxFuture<'t, Result<ToolOutput, ToolError>> + Send + Sync + 't,
{
    Box::new(PlanOf { approval: approval.into(), run: Box::new(run) })
}

struct PlanOf<'t> {
    approval: Approval,
    run: Box<RunOf<'t>>,
}

type RunOf<'t> = dyn FnOnce(ToolCx) -> BoxFuture<'t, Result<ToolOutput, ToolError>> + Send + Sync + 't;

impl AnyPlan for PlanOf<'_> {
    fn approval(&self) -> &Approval {
        &self.approval
    }

    fn run<'a>(self: Box<Self>, cx: ToolCx) -> BoxFuture<'a, Result<ToolOutput, ToolError>>
    where
        Self: 'a,
    {
        (self.run)(cx)
    }
}

/// A call whose arguments match the schema of its tool. Its effects are not known yet.
pub struct CheckedCall<'t> {
    call: ToolCall,
    tool: &'t dyn AnyTool,
    schema: &'t Value,
}

/// Arguments that do not match the schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid arguments for `{tool}`; nothing was run:{}", listed(.problems))]
pub struct InvalidArguments {
    pub tool: String,
    pub problems: Vec<String>,
}

fn listed(problems: &[String]) -> String {
    problems.iter().map(|problem| format!("\n- {problem}")).collect()
}

impl<'t> CheckedCall<'t> {
    /// Checks the arguments against `schema`, the parameters of `tool`.
    pub fn new(call: ToolCall, tool: &'t dyn AnyTool, schema: &'t Value) -> Result<Self, InvalidArguments> {
        let arguments = Value::Object(call.arguments.clone());
        let mut checked = Self { call, tool, schema };
        checked.amend(arguments)?;
        Ok(checked)
    }

    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The role that the tool has for the session.
    pub fn role(&self) -> Option<ToolRole> {
        self.tool.role()
    }

    /// Replaces the arguments. On an error the old ones stay.
    pub fn amend(&mut self, mut arguments: Value) -> Result<(), InvalidArguments> {
        let invalid = |problems| InvalidArguments { tool: self.call.name.clone(), problems };
        check_arguments(self.schema, &mut arguments)
            .map_err(|problems| invalid(problems.iter().map(ToString::to_string).collect()))?;
        match arguments {
            Value::Object(arguments) => self.call.arguments = arguments,
            _ => return Err(invalid(vec!["not an object".to_owned()])),
        }
        Ok(())
    }

    /// Lets the tool plan the call. An error is the text for the model.
    pub fn plan(self) -> Result<PlannedCall<'t>, String> {
        let arguments = Arc::new(Value::Object(self.call.arguments.clone()));
        let plan = self.tool.plan(arguments.clone())?;
        Ok(PlannedCall { call: self.call, arguments, plan })
    }
}

/// A call that is ready to be approved, and to run exactly as planned.
pub struct PlannedCall<'t> {
    call: ToolCall,
    arguments: Arc<Value>,
    plan: Box<dyn AnyPlan + 't>,
}

impl<'t> PlannedCall<'t> {
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    pub fn arguments(&self) -> &Arc<Value> {
        &self.arguments
    }

    pub fn approval(&self) -> &Approval {
        self.plan.approval()
    }

    /// See [`AnyPlan::preview`].
    pub fn preview(&self) -> Option<View> {
        self.plan.preview()
    }

    /// See [`AnyPlan::foreseen_error`].
    pub fn foreseen_error(&self) -> Option<ToolError> {
        self.plan.foreseen_error()
    }

    /// Its id, its arguments and its plan.
    pub(crate) fn into_parts(self) -> (String, Arc<Value>, Box<dyn AnyPlan + 't>) {
        (self.call.id, self.arguments, self.plan)
    }
}
