//! Parsers of other people's formats, where they can do no harm: on a thread of their own, with a stack that holds what
//! the limits allow, and with their panics caught.

use std::any::Any;

use crate::DocumentError;

/// Room for [`crate::Limits::depth`] levels of the hungriest parser.
const STACK: usize = 64 * 1024 * 1024;

pub fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DocumentError> + Send + 'static,
) -> Result<T, DocumentError> {
    let thread = std::thread::Builder::new().name("document".into()).stack_size(STACK);
    let handle = thread.spawn(work).map_err(DocumentError::broken)?;
    handle.join().unwrap_or_else(|panic| Err(DocumentError::Broken(format!("its parser gave up: {}", reason(&*panic)))))
}

/// What a panic says.
pub fn reason(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_errors() {
        assert_eq!(run(|| Ok(3)), Ok(3));
        let panicking = || -> Result<(), DocumentError> { std::panic::panic_any("lost the thread".to_owned()) };
        assert_eq!(run(panicking), Err(DocumentError::Broken("its parser gave up: lost the thread".into())));
    }
}
