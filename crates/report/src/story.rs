//! The story of a proof: its key facts, with source names, at the important lines.
//!
//! For readers only: the proof itself is in the evidence. Facts without a source name, or that are too long
//! to read, are omitted.

mod formulas;

use crate::graph;
use formulas::Names;
use ir::{LocationId, LocationKind, Program, Span, TemplateId};
use std::collections::{BTreeMap, BTreeSet};
use terms::Term;
use terms::visit::each_conjunct;
use verdict::{
    Budget, Check, ContextProof, KnownValue, ListedLine, Listing, Proof, Property, Views, with_source_names,
};

/// The most claims of a part.
const MOST_CLAIMS: usize = 6;

/// Why a property holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    /// One after the other.
    pub parts: Vec<Part>,
}

/// Some claims that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What they are about.
    pub title: String,
    /// The claims.
    pub claims: Vec<Claim>,
}

/// A claim that always holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The source position; `None` when it holds everywhere.
    pub span: Option<Span>,
    /// The claim.
    pub text: String,
}

/// The story of a proof about a lowered program. Some proofs need the listing of the program.
pub fn of(program: &Views, check: Check, proof: &Proof, listing: Option<&Listing>, budget: &Budget) -> Story {
    Story { parts: parts_of(program, check, proof, listing, budget) }
}

/// The story of a proof by contexts: the effects of other threads on shared variables, and what holds at the
/// accesses that could race.
pub fn of_context(seen: &Program, proof: &ContextProof) -> Story {
    let mut parts = Vec::new();
    for (template, acfa) in proof.acfas.enumerate() {
        if proof.nodes.iter().all(|node| node.template != template) {
            continue;
        }
        let known = acfa.states.iter().filter(|state| !state.label.is_true()).flat_map(|state| {
            let lines = state.accesses.iter().filter_map(|access| proof.lines.get(*access as usize));
            let lines: BTreeSet<u32> = lines.copied().collect();
            let known = with_source_names(&state.label).to_string();
            lines.into_iter().map(move |line| format!("about to make the access in line {line}: {known}"))
        });
        let done = acfa.edges.iter().map(|edge| graph::edge_lines(seen, edge).join(", "));
        let mut claims: Vec<Claim> = Vec::new();
        for text in done.chain(known).filter(|text| !text.is_empty()) {
            let claim = Claim { span: None, text };
            if claims.len() < 2 * MOST_CLAIMS && !claims.contains(&claim) {
                claims.push(claim);
            }
        }
        let title = format!(
            "what every thread that runs {} may do to shared variables, at most",
            name(seen, template)
        );
        parts.push(Part { title, claims });
    }
    Story { parts: parts.into_iter().filter(|part| !part.claims.is_empty()).collect() }
}

fn parts_of(
    program: &Views,
    check: Check,
    proof: &Proof,
    listing: Option<&Listing>,
    budget: &Budget,
) -> Vec<Part> {
    let parts = match proof {
        Proof::Runs(proof) => {
            let mut parts = parts_of(program, Check::Races, &proof.races, listing, budget);
            if let Ok(runs) = program.lipton_reduce(budget) {
                parts.extend(parts_of(runs, check, &proof.errors, listing, budget));
            }
            parts
        }
        Proof::Flow(_) => listing.map(|listing| of_listing(program, check, listing)).unwrap_or_default(),
        Proof::Modular(_) | Proof::Product(_) | Proof::Queries(_) | Proof::Abstraction(_) => {
            let races = check == Check::Races;
            let words = program.sliced(races, budget).ok().and_then(|view| view.words(budget).ok());
            words.map(|words| of_formulas(words, proof)).unwrap_or_default()
        }
        // Their summary suffices; for contexts, see [`of_context`].
        _ => Vec::new(),
    };
    parts.into_iter().filter(|part| !part.claims.is_empty()).collect()
}

fn of_listing(program: &Program, check: Check, listing: &Listing) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Property::NoError(kinds) = check.property() {
        let mut spans: BTreeSet<(u32, u32)> = BTreeSet::new();
        for code in &program.templates {
            for edge in code.edges.iter() {
                let target = &code.locations[edge.target];
                if matches!(target.kind, LocationKind::Error(kind) if kinds.contains(&kind)) {
                    spans.insert((edge.span.file, edge.span.line));
                }
            }
        }
        let at_risk = |line: &&ListedLine| spans.contains(&(line.span.file, line.span.line));
        let claims = listing.lines.iter().filter(at_risk).filter_map(|line| {
            let text = facts(line);
            (!text.is_empty()).then_some(Claim { span: Some(line.span), text })
        });
        let claims = claims.take(MOST_CLAIMS).collect();
        parts.push(Part { title: "what is known where it could go wrong".to_owned(), claims });
    }
    parts.push(Part { title: "the locks that keep threads apart".to_owned(), claims: locks(listing) });
    parts
}

/// What is known at a line.
fn facts(line: &ListedLine) -> String {
    if !line.reached {
        return "no thread ever comes here".to_owned();
    }
    let texts = line.facts.iter().filter_map(|fact| match &fact.known {
        KnownValue::Any => None,
        KnownValue::Among(bounds, ty) => verdict::known_text(&fact.variable, bounds, *ty),
        KnownValue::Related(rest) => Some(format!("{} {rest}", fact.variable)),
    });
    let locks = line.locks.iter().map(|(lock, _)| format!("{lock} is held"));
    texts.take(MOST_CLAIMS).chain(locks).collect::<Vec<_>>().join(", ")
}

/// Where each lock is held, function by function.
fn locks(listing: &Listing) -> Vec<Claim> {
    let mut held: BTreeMap<(&str, u32, &str), Vec<Span>> = BTreeMap::new();
    for line in listing.lines.iter().filter(|line| line.reached) {
        for (lock, _) in &line.locks {
            held.entry((lock, line.span.file, &line.function)).or_default().push(line.span);
        }
    }
    let claims = held.into_iter().map(|((lock, _, function), spans)| {
        let (first, last) = (spans[0], spans[spans.len() - 1]);
        let lines = if first.line == last.line {
            format!("line {}", first.line)
        } else {
            format!("lines {} to {}", first.line, last.line)
        };
        Claim { span: Some(first), text: format!("{lock} is held in {function}, {lines}") }
    });
    claims.take(MOST_CLAIMS).collect()
}

fn of_formulas(program: &Program, proof: &Proof) -> Vec<Part> {
    let names = Names { program };
    match proof {
        Proof::Modular(proof) => {
            let mut parts = Vec::new();
            for (templates, invariant) in &proof.invariants {
                let who: Vec<&str> = templates.iter().map(|id| name(program, *id)).collect();
                let title = match who.as_slice() {
                    [one] => format!("what holds of every thread that runs {one}, whatever the others do"),
                    _ => format!("what holds of any threads that run {}", who.join(" and ")),
                };
                parts.push(Part { title, claims: claims_of_group(program, &names, templates, invariant) });
            }
            parts
        }
        Proof::Product(proof) => {
            let nodes = proof.parts.iter().flat_map(|part| &part.nodes);
            let invariants: Vec<&Term> = nodes.filter_map(|node| node.invariant.as_ref()).collect();
            vec![Part {
                title: "what holds in most of the states that all threads together can be in".to_owned(),
                claims: most_frequent(&names, &invariants),
            }]
        }
        Proof::Queries(proof) => {
            let main: Vec<&Term> =
                proof.parts.iter().flat_map(|part| part.main.at.iter().flatten()).collect();
            let mut never = Vec::new();
            for claim in proof.parts.iter().flat_map(|part| part.claims.iter().flatten()) {
                if let (Some(before), Some(after)) = (names.text(&claim.before), names.text(&claim.after)) {
                    let text = format!("from {before} the others never make {after}");
                    if !never.iter().any(|known: &Claim| known.text == text) {
                        never.push(Claim { span: None, text });
                    }
                }
            }
            never.truncate(MOST_CLAIMS);
            vec![
                Part {
                    title: "what holds at most places of the main thread".to_owned(),
                    claims: most_frequent(&names, &main),
                },
                Part { title: "what the others never do".to_owned(), claims: never },
            ]
        }
        Proof::Abstraction(proof) => {
            let claims = proof.predicates.iter().filter_map(|predicate| {
                let text = names.text(&predicate.formula)?;
                let of =
                    predicate.scope.map(|id| format!(", for each thread that runs {}", name(program, id)));
                Some(Claim { span: None, text: format!("{text}{}", of.unwrap_or_default()) })
            });
            let claims = claims.take(2 * MOST_CLAIMS).collect();
            vec![Part { title: "the predicates that are enough to look at".to_owned(), claims }]
        }
        _ => Vec::new(),
    }
}

fn name(program: &Program, template: TemplateId) -> &str {
    program.templates.get(template).map_or("?", |code| code.name.as_str())
}

/// The conjuncts that occur most often.
fn most_frequent(names: &Names<'_>, invariants: &[&Term]) -> Vec<Claim> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for conjunct in invariants.iter().flat_map(|invariant| each_conjunct(invariant).take(MOST_CONJUNCTS)) {
        let Some(text) = names.text(&conjunct) else { continue };
        match found.iter_mut().find(|(known, _)| *known == text) {
            Some((_, times)) => *times += 1,
            None => found.push((text, 1)),
        }
    }
    found.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    found.into_iter().take(MOST_CLAIMS).map(|(text, _)| Claim { span: None, text }).collect()
}

/// The most conjuncts of a formula that are considered.
const MOST_CONJUNCTS: usize = 2_000;

/// The claims of an invariant, everywhere and at locations.
fn claims_of_group(
    program: &Program,
    names: &Names<'_>,
    templates: &[TemplateId],
    invariant: &Term,
) -> Vec<Claim> {
    let mut always: Vec<Claim> = Vec::new();
    let mut at_lines: Vec<Claim> = Vec::new();
    for (places, rest) in
        each_conjunct(invariant).take(MOST_CONJUNCTS).flat_map(|part| formulas::cases(&part))
    {
        for part in each_conjunct(&rest).take(MOST_CONJUNCTS) {
            let Some(text) = names.text(&part) else { continue };
            let place = places.iter().find_map(|(position, location)| {
                let code = program.templates.get(*templates.get(*position)?)?;
                let edge = code.edges.iter().find(|edge| edge.source == LocationId(*location))?;
                (edge.span.line > 0).then_some(Span { column: 0, ..edge.span })
            });
            let list = if places.is_empty() { &mut always } else { &mut at_lines };
            let claim = Claim { span: place, text };
            if !list.contains(&claim) {
                list.push(claim);
            }
        }
    }
    always.into_iter().chain(at_lines).take(MOST_CLAIMS).collect()
}
