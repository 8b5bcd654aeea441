//! Tells the model which of its background commands have ended.

use std::sync::Arc;

use omp_session::{Reminder, Said, ToolOutcome};
use omp_tools::Jobs;

pub struct JobNews {
    pub jobs: Arc<Jobs>,
}

impl JobNews {
    fn news(&self) -> Option<Said> {
        let text = self.jobs.take_news()?;
        Some(Said { custom_type: "async-result".to_owned(), text, event: None })
    }
}

impl Reminder for JobNews {
    fn after_call(&self, _outcome: &ToolOutcome) -> Option<Said> {
        self.news()
    }

    fn before_finish(&self) -> Option<Said> {
        self.news()
    }
}
