//! A call on its way: checked against the schema, planned once, and run as it was judged.
//!
//! The types keep the order. Arguments can be amended until the call is planned; what is planned cannot be changed any
//! more, and nothing but a plan runs.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use omp_types::ToolCall;
use omp_view::View;
use serde_json::Value;

use crate::schema::check_arguments;
use crate::tool::{AnyTool, Approval, ToolCx, ToolError, ToolOutput, ToolRole};

/// What a tool makes of the arguments of one call: what it does, and all that it needs to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned<P> {
    pub approval: Approval,
    /// Handed to the tool when the call runs.
    pub plan: P,
}

impl<P> Planned<P> {
    pub fn new(approval: impl Into<Approval>, plan: P) -> Self {
        Self { approval: approval.into(), plan }
    }
}

/// A plan with its type erased. Typed tools get this for free.
pub trait AnyPlan: Send + Sync {
    fn approval(&self) -> &Approval;

    /// Everything that the call would change, for the approval question.
    fn preview(&self) -> Option<View> {
        None
    }

    fn run<'a>(self: Box<Self>, cx: ToolCx) -> BoxFuture<'a, Result<ToolOutput, ToolError>>
    where
        Self: 'a;
}

/// A plan for tools without parameters of their own, such as those of a host: an approval and what runs.
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

/// A call whose arguments fit the schema of its tool. What it does is not known yet.
pub struct CheckedCall<'t> {
    call: ToolCall,
    tool: &'t dyn AnyTool,
    schema: &'t Value,
}

/// Arguments that do not fit the schema.
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

    /// What the session needs the tool for.
    pub fn role(&self) -> Option<ToolRole> {
        self.tool.role()
    }

    /// Puts other arguments in place of those there are, which stay when the new ones do not fit.
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

    /// Lets the tool look at the arguments. An error is what the model reads.
    pub fn plan(self) -> Result<PlannedCall<'t>, String> {
        let arguments = Arc::new(Value::Object(self.call.arguments.clone()));
        let plan = self.tool.plan(arguments.clone())?;
        Ok(PlannedCall { call: self.call, arguments, plan })
    }
}

/// A call that is ready to be judged, and to run as it was judged.
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

    /// Its id, its arguments and what runs.
    pub(crate) fn into_parts(self) -> (String, Arc<Value>, Box<dyn AnyPlan + 't>) {
        (self.call.id, self.arguments, self.plan)
    }
}
