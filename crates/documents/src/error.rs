//! Why a document has no text.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("the file is larger than {}", omp_stdx::format::bytes(*.most as u64))]
    FileTooLarge { most: usize },
    #[error("it unpacks to more than {}, which is suspicious for its size", omp_stdx::format::bytes(*.most))]
    Bomb { most: u64 },
    #[error("its parts are nested more than {most} deep")]
    TooDeep { most: usize },
    #[error("it is password-protected")]
    Encrypted,
    #[error("it takes longer than {}", time(*.given))]
    TooSlow { given: std::time::Duration },
    #[error("it was cancelled")]
    Cancelled,
    #[error("{count} documents that took too long are still being read\nhint: try again later")]
    Busy { count: usize },
    #[error("{0}")]
    Broken(String),
}

impl DocumentError {
    pub(crate) fn broken(reason: impl std::fmt::Display) -> Self {
        DocumentError::Broken(reason.to_string())
    }
}

fn time(given: std::time::Duration) -> String {
    match given.as_secs() {
        0 => format!("{} milliseconds", given.as_millis()),
        1 => "1 second".into(),
        seconds => format!("{seconds} seconds"),
    }
}
