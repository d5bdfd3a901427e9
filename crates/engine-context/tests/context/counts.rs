//! Counting threads: what any number of threads does is covered, and a larger k covers no more.

use crate::generate::acfas;
use domains::Amount;
use engine_context::counts::{Spot, is_covered};
use engine_context::{Context, Counts, Labels, environment};
use ir::{Count, IdVec, TemplateId};
use proptest::prelude::*;
use std::collections::BTreeMap;
use verdict::{Acfa, Action, Budget};

const T0: TemplateId = TemplateId(0);
const T1: TemplateId = TemplateId(1);

/// Two templates; the first starts threads of the second on every edge that changes both variables.
fn two(first: Acfa, second: Acfa) -> IdVec<TemplateId, Acfa> {
    let edges = first.edges.iter().cloned().map(|mut edge| {
        if edge.action.havoc.len() == 2 {
            edge.action = Action { starts: vec![T1], ..edge.action };
        }
        edge
    });
    let mut first = Acfa::new(first.states.clone(), first.start, edges);
    // As the paper has it: no thread starts in an atomic state.
    first.states[first.start].atomic = false;
    let mut second = second;
    second.states[second.start].atomic = false;
    [first, second].into_iter().collect()
}

/// Real numbers of threads.
type Threads = BTreeMap<Spot, u32>;

fn stands_for(counts: &Counts, threads: &Threads) -> bool {
    let exact = |(spot, amount): (&Spot, &Amount)| match amount {
        Amount::Exactly(count) => threads.get(spot).copied().unwrap_or(0) == *count,
        Amount::Many => true,
    };
    counts.iter().all(exact) && threads.iter().all(|(spot, count)| *count == 0 || counts.contains_key(spot))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    /// Runs of threads, one by one, without values: each step is possible in the context, and what it leads
    /// to is covered. The environment covers all of it.
    #[test]
    fn all_that_threads_do_is_covered(
        first in acfas(4), second in acfas(3), k in 0..3u32, copies in 0..4u32,
        choices in prop::collection::vec(0..64usize, 0..25),
    ) {
        let acfas = two(first, second);
        let context = Context { acfas: &acfas, k, most: None };
        let start = [(T0, Count::Any), (T1, Count::Exactly(1))];
        let mut counts = context.start(&start, None);
        let mut labels = Labels::default();
        // Labels are left out, as the threads here have no values.
        let plain: IdVec<TemplateId, Acfa> = acfas.iter().cloned().map(|mut acfa| {
            acfa.states.iter_mut().for_each(|state| state.label = smt::Term::bool(true));
            let edges = acfa.edges.iter().cloned().map(|mut edge| {
                (edge.action.guard, edge.action.after) = (smt::Term::bool(true), smt::Term::bool(true));
                edge
            });
            Acfa::new(acfa.states.clone(), acfa.start, edges)
        }).collect();
        let unlabelled = Context { acfas: &plain, k, most: None };
        let reachable = environment(&unlabelled, counts.clone(), &mut labels, &Budget::unlimited())
            .expect("there is time");
        let mut threads: Threads = [((T0, acfas[T0].start), copies), ((T1, acfas[T1].start), 1)].into();
        for choice in choices {
            prop_assert!(stands_for(&counts, &threads), "{counts:?} {threads:?}");
            prop_assert!(reachable.iter().any(|known| stands_for(known, &threads)), "{threads:?}");
            let inhabited: Vec<Spot> = threads.iter().filter(|(_, count)| **count > 0).map(|(spot, _)| *spot).collect();
            let atomic: Vec<Spot> = inhabited.iter().copied().filter(|(t, s)| acfas[*t].states[*s].atomic).collect();
            let movers = if atomic.is_empty() { inhabited.clone() } else { atomic };
            let edges: Vec<_> = movers.iter().flat_map(|(t, s)| acfas[*t].leaving(*s).iter().map(move |edge| (*t, edge))).collect();
            let Some((template, edge)) = edges.get(choice % edges.len().max(1)).copied() else { break };
            prop_assert!(context.enabled(&counts, false).any(|(t, known)| t == template && known == edge));
            prop_assert!(context.enabled(&counts, true).next().is_none());
            counts = context.after(&counts, template, edge, None).expect("there is a thread");
            *threads.get_mut(&(template, edge.source)).expect("there is a thread") -= 1;
            *threads.entry((template, edge.target)).or_default() += 1;
            for started in &edge.action.starts {
                *threads.entry((*started, acfas[*started].start)).or_default() += 1;
            }
        }
    }

    /// With labels, and with a larger k, there is no more.
    #[test]
    fn labels_and_a_larger_k_cover_no_more(first in acfas(4), second in acfas(2), k in 0..2u32) {
        let acfas = two(first, second);
        let start = [(T0, Count::Any), (T1, Count::Exactly(1))];
        let mut labels = Labels::default();
        let mut all = Vec::new();
        for k in [k, k + 1] {
            let context = Context { acfas: &acfas, k, most: None };
            all.push(environment(&context, context.start(&start, None), &mut labels, &Budget::unlimited()).expect("there is time"));
        }
        for counts in &all[1] {
            let coarse: Counts = counts.iter().map(|((t, s), amount)| {
                let k = if acfas[*t].states[*s].atomic { k.max(1) } else { k };
                ((*t, *s), amount.limited(k))
            }).collect();
            prop_assert!(all[0].iter().any(|known| is_covered(&coarse, known)), "{counts:?}");
        }
    }
}
