//! Measures the memory of a read with a counting allocator: the end of a 5 GB log takes as much as the end of a 50 MB log.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use omp_agent::{AnyTool, ToolCx};
use omp_tools::{Files, NoArtifacts, Read, Router};
use serde_json::json;

/// Counts allocated bytes and their peak.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the same contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

const MIB: usize = 1024 * 1024;

/// Creates a log with text at both ends and a hole between them, which uses no disk space.
fn log(path: &std::path::Path, size: u64) {
    let mut file = std::fs::File::create(path).unwrap();
    (0..2000).for_each(|n| writeln!(file, "first {n}").unwrap());
    file.seek(SeekFrom::Start(size)).unwrap();
    (0..60).for_each(|n| writeln!(file, "\nlast {n}").unwrap());
}

/// Returns the text of a read and its peak memory above the level before.
fn read(folder: &std::path::Path, path: &str) -> (String, usize) {
    let urls = Arc::new(Router::new(Arc::new(NoArtifacts)));
    let tool = Read::new(Arc::new(Files::new(folder, None)), urls);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let plan = AnyTool::plan(&tool, Arc::new(json!({"path": path}))).unwrap();
    let output = runtime.block_on(plan.run(ToolCx::detached("call"))).unwrap();
    let most = MOST.load(Ordering::Relaxed).saturating_sub(before);
    (output.content.iter().filter_map(|content| content.as_text()).collect(), most)
}

/// A single test, because the allocator counts for the whole process.
#[test]
fn huge_files_take_constant_memory() {
    let folder = tempfile::tempdir().unwrap();
    log(&folder.path().join("small.log"), 50 * MIB as u64);
    log(&folder.path().join("huge.log"), 5 * 1024 * MIB as u64);
    let (_, small) = read(folder.path(), "small.log:-50");
    let (text, huge) = read(folder.path(), "huge.log:-50");
    assert!(text.starts_with("[huge.log]\n") && text.contains("\nlast 59\n(the last 50 lines of 5GB;"), "{text}");
    assert!(huge < 2 * MIB && huge < small + MIB / 2, "the end of 5 GB took {huge} bytes, that of 50 MB {small}");
    let (text, most) = read(folder.path(), "huge.log:1990-1999");
    assert!(text.contains("1999:first 1998"), "{text}");
    assert!(most < 2 * MIB, "a range took {most} bytes");
    let (text, most) = read(folder.path(), "huge.log");
    assert!(
        text.contains("500:first 499\n(shown up to line 500, more lines not shown; continue with huge.log:501)"),
        "{text}"
    );
    assert!(most < 2 * MIB, "the beginning took {most} bytes");
    // Checks that the allocator counts at all.
    let (_, whole) = read(folder.path(), ".");
    let held = vec![0_u8; 8 * MIB];
    assert!(whole < 2 * MIB && HELD.load(Ordering::Relaxed) > held.len());
}
