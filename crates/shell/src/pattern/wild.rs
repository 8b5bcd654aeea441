//! Wildcard matching, over characters and over words.

/// Returns whether a text matches a pattern, in at most pattern × text steps.
pub(super) fn is_like<P, T>(
    pattern: &[P],
    text: &[T],
    is_star: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < text.len() {
        match pattern.get(at) {
            Some(piece) if is_star(piece) => {
                star = Some((at, seen));
                at += 1;
            }
            Some(piece) if fits(piece, &text[seen]) => (at, seen) = (at + 1, seen + 1),
            _ => {
                let Some((behind, taken)) = star else { return false };
                star = Some((behind, taken + 1));
                (at, seen) = (behind + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(is_star)
}

/// Returns whether a text could match, where unknown parts may stand for any sequence.
pub(super) fn may_be_like<P, T>(
    pattern: &[P],
    text: &[T],
    is_star: impl Fn(&P) -> bool,
    is_open: impl Fn(&T) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    // The prefixes of the pattern that the text so far could match.
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    let over_stars = |reached: &mut Vec<bool>| {
        (0..pattern.len()).for_each(|at| reached[at + 1] |= reached[at] && is_star(&pattern[at]));
    };
    over_stars(&mut reached);
    for part in text {
        let mut next = vec![false; pattern.len() + 1];
        let Some(first) = reached.iter().position(|reached| *reached) else { return false };
        if is_open(part) {
            next[first..].fill(true);
        } else {
            for at in (first..=pattern.len()).filter(|at| reached[*at]) {
                let piece = pattern.get(at);
                next[at] |= piece.is_some_and(&is_star);
                if piece.is_some_and(|piece| !is_star(piece) && fits(piece, part)) {
                    next[at + 1] = true;
                }
            }
        }
        reached = next;
        over_stars(&mut reached);
    }
    reached[pattern.len()]
}
