//! The plan of plan mode: shows it when it is finished, and has it carried out.

use omp_session::{Command, PLAN_APPROVED_EDITED};
use omp_types::Content;

use super::Running;
use crate::dialogs::{PlanDialog, Quiet};
use crate::transcript::Tone;

impl Running {
    /// After a run that wrote the plan. A user who is typing is not interrupted.
    pub(super) fn planned(&mut self) {
        match self.dialog.is_none() && self.prompt.is_empty() {
            true => self.offer_plan(),
            false => self.hint("the plan is ready: /plan-review shows it"),
        }
    }

    pub(super) fn offer_plan(&mut self) {
        let Some(live) = &self.live else { return };
        if !live.session.snapshot().plans {
            return self.note(Tone::Error, "plan mode is not active\nhint: /plan begins it");
        }
        let plan = live.session.plan().unwrap_or_default();
        self.show_asking(Box::new(PlanDialog::new(plan, Quiet::after(false))));
    }

    /// An edited plan is written to its file and is part of the message.
    pub(super) async fn run_plan(&mut self, edited: Option<String>) {
        let Some(plan) = edited else { return self.say_line("/plan go".to_owned()).await };
        let Some(live) = &self.live else { return };
        if let Err(problem) = live.session.keep_plan(&plan) {
            return self.note(Tone::Error, &problem);
        }
        self.command(Command::SetPlanMode(false)).await;
        let said = format!("{}\n\n{plan}", PLAN_APPROVED_EDITED.trim());
        self.command(Command::Prompt(vec![Content::text(said)].into())).await;
    }
}
