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

/// The rows of figure 4 (b): line, g, l. A row is a thread state in which the thread can take the step at its
/// label.
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
    // Where it does not, the error is real.
    let broken = safe.replace("f(*); fi;", "f(*); g := F; fi;");
    let Checked::Refuted(refutation) = verify(&read(&broken), 10.0) else { panic!("an error is missed") };
    assert!(refutation.replayed.threads.len() <= 2);
}

/// The end of an inner call may count as that of an outer one (section 4.3), so that a call seems to have
/// ended while `g` is still set. Calls go to any depth, so following them does not end.
#[test]
fn what_only_the_approximation_sees_is_unknown() {
    let text = "decl g := 0;
        void f() begin
          if * then f(); fi
          g := !g;
          g := !g;
        end
        void main() begin f(); assert(!g); end";
    let Checked::Unknown(reason) = verify(&read(text), 5.0) else { panic!("an answer that cannot be known") };
    let reason = reason.to_string();
    assert!(reason.contains("an error may be reached by lines"), "{reason}");
    assert!(reason.contains("calls of procedures that are active are approximated"), "{reason}");
    let broken = text.replace("g := !g;\n          g := !g;", "g := !g;");
    assert!(matches!(verify(&read(&broken), 5.0), Checked::Refuted(_)));
}

/// Figure 5: a call with arguments and results becomes a start of a thread and a wait. The values handed over
/// and back are kept.
#[test]
fn arguments_and_results_of_recursive_calls() {
    let text = "bool<2> f(a, b) begin
          decl x, y;
          x, y := a, b;
          if * then x, y := f(a, b); fi
          return x, y;
        end
        void main() begin
          decl x, y;
          x, y := f(T, F);
          assert(x & !y);
        end";
    assert!(matches!(verify(&read(text), 10.0), Checked::Proved(_)));
    for broken in [text.replace("f(a, b);", "f(b, a);"), text.replace("x, y := f(a", "y, x := f(a")] {
        assert!(matches!(verify(&read(&broken), 10.0), Checked::Refuted(_)), "{broken}");
    }
}

/// Calls that end at some depth are followed, also with locks and in atomic regions, where they cannot be
/// approximated.
#[test]
fn calls_that_end_are_followed() {
    let program = |begin: &str, end: &str, between: &str| {
        let text = format!(
            "decl g := 0, m;
            void f(x, y) begin
              g := !g;
              if x then {between} f(y, F); fi
              g := !g;
            end
            void main() begin
              start_thread worker();
              {begin};
              f(T, T);
              assert(!g);
              {end};
            end
            void worker() begin
              {begin};
              assert(!g);
              {end};
            end"
        );
        verify(&read(&text), 10.0)
    };
    assert!(matches!(program("lock m", "unlock m", ""), Checked::Proved(_)));
    assert!(matches!(program("atomic_begin", "atomic_end", ""), Checked::Proved(_)));
    assert!(matches!(program("skip", "skip", ""), Checked::Refuted(_)));
    assert!(matches!(program("lock m", "unlock m", "g := T;"), Checked::Refuted(_)));
    assert!(matches!(program("atomic_begin", "atomic_end", "g := T;"), Checked::Refuted(_)));
}

/// A proof that says that calls go less deep than they do is not accepted.
#[test]
fn proofs_with_another_depth_are_refused() {
    use crate::STATES;
    use verdict::{Check, Engine, Proof, Silent, Task, Verdict};
    let program = read(
        "decl g := 0, m;
        void f(x, y) begin if x then f(y, F); fi assert(!g); end
        void main() begin lock m; f(T, T); unlock m; end",
    );
    let property = Check::Assertions.property();
    let budget = Budget::steps_for(20.0);
    let Verdict::Safe(Proof::States(proof)) =
        STATES.verify(Task { program: &program, property: &property }, &budget, &Silent)
    else {
        panic!("it is safe")
    };
    assert_eq!(proof.depth, Some(3));
    for depth in [None, Some(1), Some(2), Some(3), Some(4)] {
        let changed = verdict::StatesProof { depth, ..(*proof).clone() };
        let checked = checker::check_proof(&program, &property, &Proof::States(Box::new(changed)), &budget);
        assert_eq!(checked.is_ok(), depth == Some(3), "{depth:?}: {checked:?}");
    }
    // The sets of a view that is cut off, as they are.
    let mut view = View::new(&program, Recursion::Unfolded(2), &budget).expect("it is Boolean");
    let reached = reach(&mut view, Locks::Exclusive).expect("there is time");
    assert!(view.cuts().any(|point| reached.sets[point.0 as usize] != FALSE));
    let claimed = verdict::StatesProof { depth: Some(2), ..engine_states::closed_sets(&view, &reached.sets) };
    let checked = checker::check_proof(&program, &property, &Proof::States(Box::new(claimed)), &budget);
    let error = checked.expect_err("calls go deeper").to_string();
    assert!(error.contains("calls go deeper"), "{error}");
}

/// A proof in which one claim was changed is not accepted.
#[test]
fn changed_proofs_are_refused() {
    use crate::STATES;
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
    let budget = Budget::steps_for(20.0);
    let (mut sets, mut configurations) = (0, 0);
    for text in [FIGURE_4, token] {
        let program = read(text);
        let Verdict::Safe(Proof::States(proof)) =
            STATES.verify(Task { program: &program, property: &property }, &budget, &Silent)
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
