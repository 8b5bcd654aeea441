//! Splits the tree of a session into runs of entries without a fork, which a page shows or hides as a unit.

use omp_store::LoadedSession;

/// A run of entries, each the only child of the previous one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryRun {
    /// Positions in the file, ascending.
    pub entries: Vec<u32>,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    /// Its index among the runs that fork from the same entry.
    pub index: usize,
    /// Whether it leads to the session's current leaf.
    pub active: bool,
}

/// All runs in the order of their first entry, so that parents precede their children.
#[derive(Debug, Default)]
pub(crate) struct RunTree {
    pub runs: Vec<EntryRun>,
    roots: Vec<usize>,
    /// Run index by entry position.
    run_of: Vec<usize>,
}

impl RunTree {
    pub fn of(session: &LoadedSession, leaf: Option<usize>) -> Self {
        let parents = (0..session.entry_count()).map(|at| session.parent_at(at));
        Self::build(&parents.collect::<Vec<_>>(), leaf)
    }

    fn build(parents: &[Option<usize>], leaf: Option<usize>) -> Self {
        let mut children = vec![0u32; parents.len()];
        for parent in parents.iter().flatten() {
            children[*parent] += 1;
        }
        let (mut runs, mut roots) = (Vec::new(), Vec::new());
        let mut run_of = vec![0usize; parents.len()];
        for (position, parent) in parents.iter().enumerate() {
            // Entries after the leaf are not part of the active branch.
            let goes_on = parent.filter(|parent| children[*parent] == 1 && Some(*parent) != leaf);
            let run = match goes_on {
                Some(parent) => run_of[parent],
                None => begin(&mut runs, &mut roots, parent.map(|parent| run_of[parent])),
            };
            run_of[position] = run;
            runs[run].entries.push(position as u32);
        }
        let mut active = leaf.and_then(|leaf| run_of.get(leaf).copied());
        while let Some(run) = active {
            runs[run].active = true;
            active = runs[run].parent;
        }
        Self { runs, roots, run_of }
    }

    /// Returns the run that follows by default: the active one, or the newest.
    pub fn next(&self, run: usize) -> Option<usize> {
        let children = &self.runs[run].children;
        children.iter().copied().find(|child| self.runs[*child].active).or_else(|| children.last().copied())
    }

    /// Returns the runs that fork from the same entry, including itself.
    pub fn siblings(&self, run: usize) -> &[usize] {
        self.runs[run].parent.map_or(&self.roots, |parent| &self.runs[parent].children)
    }

    /// Returns the run of an entry.
    pub fn run_of(&self, position: u32) -> Option<usize> {
        self.run_of.get(position as usize).copied()
    }

    /// Returns every run with its depth, for a list. Side branches are indented, right after the run they leave; the
    /// continuing branch stays on its level, so that a long session with many small detours stays narrow.
    pub fn outline(&self) -> Vec<(usize, usize)> {
        let main = self.roots.iter().find(|root| self.runs[**root].active).or(self.roots.last());
        let mut waiting: Vec<(usize, usize)> = main.map(|main| (*main, 0)).into_iter().collect();
        waiting.extend(self.roots.iter().rev().filter(|root| Some(*root) != main).map(|root| (*root, 1)));
        let mut listed = Vec::with_capacity(self.runs.len());
        while let Some((run, depth)) = waiting.pop() {
            listed.push((run, depth));
            let next = self.next(run);
            waiting.extend(next.map(|next| (next, depth)));
            let side = self.runs[run].children.iter().rev().filter(|child| Some(**child) != next);
            waiting.extend(side.map(|child| (*child, depth + 1)));
        }
        listed
    }
}

fn begin(runs: &mut Vec<EntryRun>, roots: &mut Vec<usize>, parent: Option<usize>) -> usize {
    let run = runs.len();
    let siblings = match parent {
        Some(parent) => &mut runs[parent].children,
        None => roots,
    };
    siblings.push(run);
    let index = siblings.len() - 1;
    runs.push(EntryRun { parent, index, ..EntryRun::default() });
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: usize = usize::MAX;

    fn tree(parents: &[usize], leaf: Option<usize>) -> RunTree {
        let parents: Vec<_> = parents.iter().map(|parent| (*parent != NONE).then_some(*parent)).collect();
        RunTree::build(&parents, leaf)
    }

    #[track_caller]
    fn check(parents: &[usize], leaf: usize, entries: &[&[u32]], active: &[usize], outline: &[(usize, usize)]) {
        let tree = tree(parents, Some(leaf));
        assert_eq!(tree.runs.iter().map(|run| run.entries.as_slice()).collect::<Vec<_>>(), entries);
        let shown: Vec<_> = (0..tree.runs.len()).filter(|run| tree.runs[*run].active).collect();
        assert_eq!(shown, active);
        assert_eq!(tree.outline(), outline);
        for (run, entries) in entries.iter().enumerate() {
            assert!(entries.iter().all(|entry| tree.run_of(*entry) == Some(run)));
        }
        assert_eq!(tree.run_of(parents.len() as u32), None);
    }

    #[test]
    fn trees_are_cut_at_forks_and_behind_the_leaf() {
        check(&[NONE, 0, 1], 2, &[&[0, 1, 2]], &[0], &[(0, 0)]);
        check(&[NONE, 0, 1], 1, &[&[0, 1], &[2]], &[0], &[(0, 0), (1, 0)]);
        check(&[NONE, 0, 1, 1, 3], 4, &[&[0, 1], &[2], &[3, 4]], &[0, 2], &[(0, 0), (1, 1), (2, 0)]);
        check(&[NONE, 0, 1, 1, 3], 2, &[&[0, 1], &[2], &[3, 4]], &[0, 1], &[(0, 0), (2, 1), (1, 0)]);
        check(&[NONE, NONE], 1, &[&[0], &[1]], &[1], &[(0, 1), (1, 0)]);
    }

    #[test]
    fn an_empty_session_has_no_runs() {
        assert_eq!(tree(&[], None).outline(), []);
    }

    #[test]
    fn a_fork_at_every_entry_takes_no_stack_and_stays_flat() {
        let mut parents = vec![NONE];
        for at in 0..100_000 {
            parents.extend([at * 2, at * 2]);
        }
        let tree = tree(&parents, Some(parents.len() - 1));
        let outline = tree.outline();
        assert_eq!(outline.len(), tree.runs.len());
        assert!(outline.iter().all(|(_, depth)| *depth <= 1));
    }
}
