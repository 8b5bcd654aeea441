//! A map that the first reader builds; all others wait meanwhile.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use super::{AccessMap, ContainMode, HeldMap, NetworkMode};

type MakeMap = Box<dyn FnOnce() -> AccessMap + Send>;
type MapChange = Box<dyn FnOnce(&mut AccessMap) + Send>;

/// Limits the changes that wait for the map; a caller with more waits for the map itself.
const MOST_EARLY: usize = 64;

pub(super) struct Promised {
    mode: ContainMode,
    network: NetworkMode,
    held: OnceLock<RwLock<HeldMap>>,
    make: Mutex<Option<MakeMap>>,
    /// `None` once the changes were applied.
    early: Mutex<Option<Vec<MapChange>>>,
}

impl Promised {
    pub(super) fn new(mode: ContainMode, network: NetworkMode, make: MakeMap) -> Self {
        Self { mode, network, held: OnceLock::new(), make: Mutex::new(Some(make)), early: Mutex::new(Some(Vec::new())) }
    }

    pub(super) fn kept(map: AccessMap) -> Self {
        let (mode, network) = (map.mode, map.network);
        Self { mode, network, held: held(map).into(), make: Mutex::default(), early: Mutex::default() }
    }

    pub(super) fn mode(&self) -> ContainMode {
        self.mode
    }

    pub(super) fn network(&self) -> NetworkMode {
        self.network
    }

    /// Returns `None` until the map is built.
    pub(super) fn get(&self) -> Option<&RwLock<HeldMap>> {
        self.held.get()
    }

    pub(super) fn wait(&self) -> &RwLock<HeldMap> {
        self.held.get_or_init(|| {
            let make = lock(&self.make).take();
            // `make` is gone if an earlier attempt panicked.
            let mut map = make.map_or_else(closed, |make| make());
            let early = lock(&self.early).take();
            early.into_iter().flatten().for_each(|change| change(&mut map));
            held(map)
        })
    }

    /// Returns the change if it comes too late.
    pub(super) fn change_early(&self, change: MapChange) -> Option<MapChange> {
        match &mut *lock(&self.early) {
            Some(early) if early.len() < MOST_EARLY => {
                early.push(change);
                None
            }
            _ => Some(change),
        }
    }
}

impl Default for Promised {
    fn default() -> Self {
        Self::kept(AccessMap::default())
    }
}

impl fmt::Debug for Promised {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Promised").field("mode", &self.mode).field("held", &self.held).finish_non_exhaustive()
    }
}

fn held(map: AccessMap) -> RwLock<HeldMap> {
    RwLock::new(HeldMap { map: Arc::new(map), ..HeldMap::default() })
}

/// A map that denies all access.
fn closed() -> AccessMap {
    AccessMap {
        mode: ContainMode::ReadOnly,
        network: NetworkMode::Off,
        hidden: vec![PathBuf::from("/")],
        ..AccessMap::default()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
