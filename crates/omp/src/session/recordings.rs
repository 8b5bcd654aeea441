//! `--record FILE` and `--model replay/FILE`: all sessions of a process share one recording, made or replayed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omp_http::{Client, ExchangeListener};
use omp_llm::{Recording, Registry, Replay, ReplayOptions, ReplayTiming};
use omp_secrets::Veil;
use omp_types::{Env, vars};

use crate::cli::ModelArgs;
use crate::folder::{FolderProblem, FolderSetup};
use crate::output::warn;

#[derive(Default)]
pub struct Recordings {
    open: Mutex<OpenRecording>,
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

    /// Opens the recording that the model's name refers to. Later sessions continue where the first one stopped.
    pub fn replay(
        &self,
        setup: &FolderSetup,
        args: &ModelArgs,
        client: &Client,
    ) -> Result<Option<Arc<Replay>>, FolderProblem> {
        let Some(wish) = args.model.as_deref().and_then(wish) else { return Ok(None) };
        let mut open = self.open();
        if let Some(replay) = &open.replay {
            return Ok(Some(replay.clone()));
        }
        let options = ReplayOptions {
            cwd: setup.cwd.clone(),
            strict: wish.strict,
            timing: timing(&setup.env),
            warn: Arc::new(|difference| warn(&[difference.to_owned()])),
        };
        let replay = Replay::open(&setup.cwd.join(wish.file), client.clone(), options);
        let replay = Arc::new(replay.map_err(|error| error.to_string())?);
        warn(&replay.remark().into_iter().collect::<Vec<_>>());
        open.replay = Some(replay.clone());
        Ok(Some(replay))
    }

    /// Returns why the recording is incomplete.
    pub fn problem(&self) -> Option<String> {
        self.open().recording.as_ref()?.problem()
    }

    fn open(&self) -> MutexGuard<'_, OpenRecording> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
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
