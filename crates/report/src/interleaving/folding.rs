//! What of a long execution is shown: stretches that do not matter are folded, more of them the longer it is.
//!
//! First only long stretches that no other thread could notice are folded. Where that is still too much, so are short ones, then all that has
//! nothing to do with the violation, then such stretches of several threads at once; and last the middle is left out.

use super::{Interleaving, Row, Shown};

/// An execution should not take more lines than this on a terminal.
const MOST_LINES: usize = 46;
/// The most things that are shown, whatever they are.
const MOST_SHOWN: usize = 24;

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

/// From little to much.
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
            // One thread alone is folded only where it is too long.
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

    /// How much each row matters: 0 if no other thread could notice it, 1 if one could, 2 if it has to do with the violation, 3 if it
    /// says what is wrong, or is where a thread was last.
    fn weights(&self) -> Vec<u8> {
        let mut weights: Vec<u8> = self
            .rows
            .iter()
            .map(|row| match (&row.mark, row.matters, row.alone) {
                (Some(_), _, _) => 3,
                (None, true, _) => 2,
                (None, false, false) => 1,
                (None, false, true) => 0,
            })
            .collect();
        // What happened just before, of each thread.
        for thread in self.active() {
            let mut own = self.rows.iter().enumerate().rev();
            let last = own.find(|(_, row)| row.thread == thread && row.mark.is_none());
            if let Some((last, _)) = last {
                weights[last] = weights[last].max(2);
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

/// How many lines something takes, where nothing is wrapped.
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
