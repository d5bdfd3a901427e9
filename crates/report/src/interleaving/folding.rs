//! Folds irrelevant stretches of a long execution; longer executions are folded more.
//!
//! First only long stretches that no other thread could notice are folded. If the result is still too long,
//! short ones are folded, too, then everything unrelated to the violation, then such stretches of several
//! threads at once, then all but starts of threads and the first and last related row of each thread; finally
//! the middle is omitted.

use super::{Interleaving, Row, Shown};

/// The most lines that an execution should take on a terminal.
const MOST_LINES: usize = 46;
/// The most items that are shown.
const MOST_SHOWN: usize = 18;

/// How much is folded.
struct Folding {
    /// The least weight of a row that is shown.
    weight: u8,
    /// The shortest stretch that is folded.
    shortest: usize,
    /// Whether the first and the last row of a stretch are shown.
    ends: bool,
    /// Whether rows of several threads are folded into one.
    across: bool,
}

/// From weak to strong.
const FOLDINGS: [Folding; 5] = [
    Folding { weight: 1, shortest: 5, ends: true, across: false },
    Folding { weight: 1, shortest: 2, ends: false, across: false },
    Folding { weight: 2, shortest: 2, ends: false, across: false },
    Folding { weight: 2, shortest: 2, ends: false, across: true },
    Folding { weight: 3, shortest: 2, ends: false, across: true },
];

impl Interleaving {
    /// What fits in a report.
    pub fn shown(&self) -> Vec<Shown<'_>> {
        let weights = self.weights();
        let several = self.rows.iter().any(|row| row.thread != self.rows[0].thread);
        let mut all: Vec<Shown<'_>> = self.rows.iter().map(Shown::Row).collect();
        for (index, folding) in FOLDINGS.iter().enumerate() {
            // A single thread is folded only if it is too long.
            if index == 0 && !several {
                if lines(&all) <= MOST_LINES {
                    return all;
                }
                continue;
            }
            all = self.folded(folding, &weights);
            if lines(&all) <= MOST_LINES {
                return all;
            }
        }
        if all.len() > MOST_SHOWN {
            let (first, hidden) = (MOST_SHOWN / 3, all.len() - MOST_SHOWN);
            let rows = all.splice(first..first + hidden, [Shown::Gap(0)]).map(|shown| shown.count()).sum();
            all[first] = Shown::Gap(rows);
        }
        all
    }

    /// The weight of each row: 0 if no other thread could notice it, 1 if one could, 2 if it is related to
    /// the violation, 3 if it starts a thread, is the first or last related row of a thread, or the last row
    /// of one that takes part in the violation, 4 if it is the violation.
    fn weights(&self) -> Vec<u8> {
        let mut weights: Vec<u8> = self
            .rows
            .iter()
            .map(|row| match (&row.mark, row.matters, row.alone) {
                (Some(_), _, _) => 4,
                (None, true, _) if row.starts => 3,
                (None, true, _) => 2,
                (None, false, false) => 1,
                (None, false, true) => 0,
            })
            .collect();
        for thread in self.active() {
            let own = || self.rows.iter().enumerate().filter(|(_, row)| row.thread == thread);
            let takes_part = own().any(|(_, row)| row.mark.is_some());
            let mut related = own().filter(|(_, row)| row.matters && row.mark.is_none());
            let ends = [related.next(), related.next_back()];
            // The previous row of each thread.
            let last = own().rfind(|(_, row)| row.mark.is_none());
            let important = ends.into_iter().flatten().chain(last.filter(|_| takes_part));
            let important: Vec<usize> = important.map(|(at, _)| at).collect();
            important.into_iter().for_each(|at| weights[at] = weights[at].max(3));
            if let Some((at, _)) = last {
                weights[at] = weights[at].max(2);
            }
        }
        weights
    }

    fn folded(&self, folding: &Folding, weights: &[u8]) -> Vec<Shown<'_>> {
        let mut all: Vec<Shown<'_>> = Vec::new();
        let mut at = 0;
        while let Some(row) = self.rows.get(at) {
            let rest = self.rows[at..].iter().zip(&weights[at..]);
            let is_folded = |(other, weight): &(&Row, &u8)| {
                **weight < folding.weight && (folding.across || other.thread == row.thread)
            };
            let length = rest.take_while(is_folded).count();
            if length < folding.shortest.max(1) {
                all.push(Shown::Row(row));
                at += 1;
                continue;
            }
            let end = at + length;
            let inner = match folding.ends {
                true => &self.rows[at + 1..end - 1],
                false => &self.rows[at..end],
            };
            all.extend(folding.ends.then_some(Shown::Row(row)));
            match inner.iter().all(|other| other.thread == row.thread) {
                true => all.push(Shown::Folded(inner)),
                false => all.push(Shown::Gap(inner.len())),
            }
            all.extend(folding.ends.then(|| Shown::Row(&self.rows[end - 1])));
            at = end;
        }
        all
    }
}

/// The number of lines of an item, without wrapping.
fn lines(all: &[Shown<'_>]) -> usize {
    let one = |shown: &Shown<'_>| match shown {
        Shown::Row(row) => {
            let extra =
                [!row.effects().is_empty(), row.waits.is_some(), row.mark.is_some(), row.locks().is_some()];
            1 + extra.into_iter().filter(|is_there| *is_there).count()
        }
        Shown::Folded(_) => 2,
        Shown::Gap(_) => 1,
    };
    all.iter().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::Span;

    fn row(thread: usize, matters: bool) -> Row {
        Row {
            thread,
            span: Span::default(),
            last: None,
            code: String::new(),
            events: vec!["reads x".to_owned()],
            changes: Vec::new(),
            held: Vec::new(),
            held_changed: false,
            mark: None,
            waits: None,
            alone: false,
            matters,
            starts: false,
        }
    }

    #[test]
    fn long_executions_keep_starts_and_the_ends_of_what_matters() {
        let mut rows = vec![row(0, false), Row { starts: true, ..row(0, true) }];
        for _ in 0..500 {
            rows.extend([row(0, true), row(1, false), row(1, true), row(0, false)]);
        }
        rows.extend([0, 1].map(|thread| Row { mark: Some("writes x".to_owned()), ..row(thread, true) }));
        let interleaving = Interleaving { threads: vec!["main".to_owned(), "worker".to_owned()], rows };
        let shown = interleaving.shown();
        let kept: Vec<(usize, bool, bool)> = shown
            .iter()
            .filter_map(|shown| match shown {
                Shown::Row(row) => Some((row.thread, row.starts, row.mark.is_some())),
                Shown::Folded(_) | Shown::Gap(_) => None,
            })
            .collect();
        assert!(kept.contains(&(0, true, false)), "{kept:?}");
        // The first and the last related row of each thread, and the violation.
        assert!((0..2).all(|thread| kept.iter().filter(|(of, ..)| *of == thread).count() >= 3), "{kept:?}");
        assert_eq!(kept.iter().filter(|(.., is_violation)| *is_violation).count(), 2);
        assert!(lines(&shown) <= MOST_LINES, "{}", lines(&shown));
        assert_eq!(shown.iter().map(Shown::count).sum::<usize>(), interleaving.rows.len());
    }
}
