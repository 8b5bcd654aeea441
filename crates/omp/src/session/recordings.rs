//! `--record FILE` and `--model replay/FILE`: all sessions of a process share one recording, made or replayed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omp_http::{Client, ExchangeListener};
use omp_llm::{Recording, Registry, Replay, ReplayOptions, ReplayTiming};
use omp_secrets::Veil;
use omp_types::{Env, vars};

use crate::cli::ModelArgs;
use crate::folder::{FolderProblem, FolderSetup};

/// Limits the differences that are kept until the end of the run.
const MOST_DIFFERENCES: usize = 100;

#[derive(Default)]
pub struct Recordings {
    open: Mutex<OpenRecording>,
    /// Differences between this run and the recording that it replays.
    differences: Arc<Mutex<Vec<String>>>,
}

#[derive(Default)]
struct OpenRecording {
    recording: Option<Arc<Recording>>,
    replay: Option<Arc<Replay>>,
}

impl Recordings {
    /// The listener that records HTTP exchanges. The first session creates the file.
    pub fn listener(
        &self,
        setup: &FolderSetup,
        args: &ModelArgs,
        registry: &Registry,
        redactor: &Arc<Veil>,
    ) -> Result<Option<Arc<dyn ExchangeListener>>, FolderProblem> {
        let Some(path) = &args.record else { return Ok(None) };
        let mut open = self.open();
        let recording = match &open.recording {
            Some(recording) => recording.clone(),
            None => {
                let path = setup.cwd.join(path);
                let made = Recording::create(&path, &setup.cwd, &setup.env, registry, redactor.clone());
                open.recording.insert(Arc::new(made.map_err(|error| error.to_string())?)).clone()
            }
        };
        Ok(Some(recording))
    }

    /// Opens the recording that the model's name refers to. Later sessions continue where the first one stopped. Returns a
    /// warning too.
    pub fn replay(
        &self,
        setup: &FolderSetup,
        args: &ModelArgs,
        client: &Client,
    ) -> Result<(Option<Arc<Replay>>, Option<String>), FolderProblem> {
        let Some(wish) = args.model.as_deref().and_then(wish) else { return Ok((None, None)) };
        let mut open = self.open();
        if let Some(replay) = &open.replay {
            return Ok((Some(replay.clone()), None));
        }
        let differences = self.differences.clone();
        let options = ReplayOptions {
            cwd: setup.cwd.clone(),
            strict: wish.strict,
            timing: timing(&setup.env),
            warn: Arc::new(move |difference| keep(&differences, difference)),
        };
        let replay = Replay::open(&setup.cwd.join(wish.file), client.clone(), options);
        let replay = Arc::new(replay.map_err(|error| error.to_string())?);
        open.replay = Some(replay.clone());
        let remark = replay.remark();
        Ok((Some(replay), remark))
    }

    /// Returns how the run differed from the recording that it replayed, and why a new recording is incomplete.
    pub fn take_warnings(&self) -> Vec<String> {
        let mut warnings = std::mem::take(&mut *self.differences.lock().unwrap_or_else(PoisonError::into_inner));
        warnings.extend(self.open().recording.as_ref().and_then(|recording| recording.problem()));
        warnings
    }

    fn open(&self) -> MutexGuard<'_, OpenRecording> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keep(differences: &Mutex<Vec<String>>, difference: &str) {
    let mut differences = differences.lock().unwrap_or_else(PoisonError::into_inner);
    if differences.len() < MOST_DIFFERENCES {
        differences.push(difference.to_owned());
    }
}

pub fn timing(env: &Env) -> ReplayTiming {
    if env.get(vars::PI_REPLAY_TIMING) == Some("real") { ReplayTiming::Real } else { ReplayTiming::Instant }
}

struct ReplayWish {
    file: PathBuf,
    strict: bool,
}

/// `replay/FILE`, or `replay-strict/FILE` to fail on any difference.
fn wish(model: &str) -> Option<ReplayWish> {
    let (file, strict) = match model.strip_prefix("replay-strict/") {
        Some(file) => (file, true),
        None => (model.strip_prefix("replay/")?, false),
    };
    Some(ReplayWish { file: file.into(), strict })
}
