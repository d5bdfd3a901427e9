//! The examples of paper 3.

use crate::{read, verify};
use boolean::{FALSE, Recursion, View};
use checker::Checked;
use engine_states::reach::{Locks, reach};
use std::collections::BTreeSet;
use verdict::Budget;

/// Figure 4 (a), with an unbounded number of threads.
const FIGURE_4: &str = "decl g := 0, l;
void main() begin
  again: start_thread f();
  goto again;
end
void f() begin
  L1: lock l;
  L2: assert(!g);
  L3: g := 1;
  L4: g := 0;
  L5: unlock l;
  L6: skip;
end
";

/// The rows of figure 4 (b): line, g, l. A row is a thread state in which the thread can take the step at its label.
fn rows(locks: Locks) -> BTreeSet<(u32, bool, bool)> {
    let program = read(FIGURE_4);
    let mut view = View::new(&program, Recursion::Approximated, &Budget::unlimited()).expect("it is Boolean");
    let reached = reach(&mut view, locks).expect("there is time");
    let lock = view.locks[0];
    let g = view.cells[&ir::ObjectId(0)][0];
    let mut rows = BTreeSet::new();
    for index in 0..view.steps.len() {
        let step = view.steps[index].clone();
        let line = step.span.line;
        // Jumps from label to label are no statements.
        let is_jump =
            step.edge.is_some_and(|(template, edge)| program.templates[template].edges[edge].ops.is_empty());
        if !(7..=11).contains(&line) || is_jump {
            continue;
        }
        let set = view.bdds.and(reached.sets[step.source.0 as usize], step.guard).expect("there is time");
        for (value, held) in [(false, false), (false, true), (true, false), (true, true)] {
            let literals = [(g, value), (lock.held, held)];
            let mut part = set;
            for (bit, value) in literals {
                let literal = view.bdds.literal(bit.now(), value).expect("there is time");
                part = view.bdds.and(part, literal).expect("there is time");
            }
            if part != FALSE {
                rows.insert((line - 6, value, held));
            }
        }
    }
    rows
}

#[test]
fn figure_4_has_exactly_five_rows() {
    let expected = [(1, false, false), (2, false, true), (3, false, true), (4, true, true), (5, false, true)];
    assert_eq!(rows(Locks::Exclusive), BTreeSet::from(expected));
    assert!(matches!(verify(&read(FIGURE_4), 10.0), Checked::Proved(_)));
}

#[test]
fn without_condition_2d_the_assertion_seems_to_fail() {
    let program = read(FIGURE_4);
    let mut view = View::new(&program, Recursion::Approximated, &Budget::unlimited()).expect("it is Boolean");
    let reached = reach(&mut view, Locks::Ignored).expect("there is time");
    let errors: Vec<usize> =
        (0..view.points.len()).filter(|index| view.points[*index].error.is_some()).collect();
    let error =
        *errors.iter().find(|index| reached.sets[**index] != FALSE).expect("the spurious error is there");
    let steps = engine_states::abstract_trace::explain(&mut view, &reached, boolean::PointId(error as u32))
        .expect("there is time");
    // Another thread sets g while this one is about to test it.
    assert!(steps.iter().any(|step| step.by_other && step.line == 9), "{steps:?}");
    assert_eq!(steps.last().map(|step| step.line), Some(8), "{steps:?}");
    assert!(rows(Locks::Ignored).contains(&(2, true, true)));
}

#[test]
fn figure_4_without_the_lock_fails_with_two_workers() {
    let text = FIGURE_4.replace("lock l", "skip").replace("unskip", "skip");
    let Checked::Refuted(refutation) = verify(&read(&text), 10.0) else { panic!("not refuted") };
    assert_eq!(refutation.replayed.threads.len(), 3);
}

#[test]
fn recursion_is_approximated_and_ends() {
    // The global keeps its value through a recursion of any depth.
    let safe = "decl g := 1;
        void f(x) begin if x then f(*); fi; assert(g); end
        void main() begin start_thread f(T); f(*); end";
    assert!(matches!(verify(&read(safe), 10.0), Checked::Proved(_)));
    let broken = safe.replace("f(*); fi;", "f(*); g := F; fi;");
    let Checked::Unknown(reason) = verify(&read(&broken), 10.0) else {
        panic!("an answer that cannot be known")
    };
    assert!(reason.to_string().contains("an error may be reached by lines"), "{reason}");
}

/// A proof in which one claim was changed is not accepted.
#[test]
fn changed_proofs_are_refused() {
    use engine_states::States;
    use verdict::{Check, Engine, Proof, Silent, Task, Verdict};
    // Only one thread has the token, which the over-approximation does not see.
    let token = "decl token := 1, used := 0;
        void main() begin again: start_thread worker(); goto again; end
        void worker() begin
          decl mine;
          mine, token := token, F;
          if mine then assert(!used); used := T; used := F; token := T; fi
        end";
    let property = Check::Assertions.property();
    let budget = Budget::seconds(20.0);
    let (mut sets, mut configurations) = (0, 0);
    for text in [FIGURE_4, token] {
        let program = read(text);
        let Verdict::Safe(Proof::States(proof)) =
            States.verify(Task { program: &program, property: &property }, &budget, &Silent)
        else {
            panic!("not proved:\n{text}")
        };
        let accepted = |proof: verdict::StatesProof| {
            checker::check_proof(&program, &property, &Proof::States(Box::new(proof)), &budget).is_ok()
        };
        assert!(accepted((*proof).clone()));
        for index in 0..proof.sets.len() {
            if proof.sets[index] != 0 {
                let mut changed = (*proof).clone();
                changed.sets[index] = 0;
                assert!(!accepted(changed), "without the set of point {index}:\n{text}");
                sets += 1;
            }
        }
        for index in 0..proof.unreachable.len() {
            let mut changed = (*proof).clone();
            changed.unreachable.remove(index);
            assert!(!accepted(changed), "without configuration {index}:\n{text}");
            configurations += 1;
        }
    }
    assert!(sets > 10 && configurations > 10, "{sets} {configurations}");
}
