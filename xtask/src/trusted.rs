//! `cargo xtask trusted`: how many lines an engine and the checker of its proofs share.
//!
//! A mistake in shared code can make an engine lie and its checker nod. The count is by reachability in the
//! source: from the engine's `verify` on one side, from the checker's rule on the other, following what each
//! item mentions. It over-approximates: methods are followed by name on every type that was reached, so a
//! line that is counted may not be shared, but a line that is shared is counted. Blank lines, comments and
//! tests do not count, and neither does the language that evidence is written in (`terms`).
//!
//! Modules whose result the checker tests by code of its own are not trusted: where a rule reaches that test,
//! they are counted apart.

mod graph;
mod source;

use graph::Graph;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A kind of proof: its name, where the engine begins, and where the checker's rule begins.
struct Kind {
    name: &'static str,
    engine: &'static [&'static str],
    rule: &'static [&'static str],
}

/// All kinds of proof that rest on more than the text of the program.
const KINDS: [Kind; 10] = [
    Kind { name: "flow", engine: &["engine_flow::engine::Flow::verify"], rule: &["checker::flow::check"] },
    Kind {
        name: "exhaustive",
        engine: &["engine_explicit::engine::Explicit::verify"],
        rule: &["checker::proof::check_all_executions"],
    },
    Kind {
        name: "states",
        engine: &["engine_states::engine::States::verify", "engine_states::engine::Counting::verify"],
        rule: &["checker::states::check"],
    },
    Kind {
        name: "abstraction",
        engine: &["engine_states::engine::States::verify"],
        rule: &["checker::abstraction::check"],
    },
    Kind {
        name: "product",
        engine: &["engine_horn::engine::Horn::verify"],
        rule: &["checker::product::check"],
    },
    Kind {
        name: "modular",
        engine: &["engine_horn::engine::Horn::verify"],
        rule: &["checker::modular::check"],
    },
    Kind {
        name: "queries",
        engine: &["engine_queries::engine::Queries::verify"],
        rule: &["checker::queries::check"],
    },
    Kind {
        name: "context",
        engine: &["engine_context::engine::ContextInference::verify"],
        rule: &["checker::context::check"],
    },
    Kind {
        name: "summaries",
        engine: &["engine_summaries::engine::Summaries::verify"],
        rule: &["checker::summaries::check"],
    },
    Kind { name: "spec", engine: &["engine_spec::engine::Spec::verify"], rule: &["checker::spec::check"] },
];

/// The crate that formulas are written in: without it there would be nothing to hand over.
const EVIDENCE: [&str; 1] = ["terms"];

/// Code whose result is tested: its modules, and the function of the checker that tests it.
struct Validated {
    modules: &'static [&'static str],
    validator: &'static str,
}

/// All that is tested. Of points-to sets, the ranges of amounts (`ranges`) are not, nor is what is derived of
/// the sets (`mod`, `cells`, `escape`, `outlive`).
const VALIDATED: [Validated; 1] = [Validated {
    modules: &[
        "ir::passes::points_to::claim",
        "ir::passes::points_to::constraints",
        "ir::passes::points_to::cycles",
        "ir::passes::points_to::shape",
        "ir::passes::points_to::solve",
    ],
    validator: "checker::closed::test",
}];

/// Prints the table; with `files`, also which files the shared lines are in.
pub fn trusted(files: bool) -> Result<(), String> {
    let graph = Graph::new(source::read(&crate::root())?);
    println!("{}", table(&graph, files)?);
    Ok(())
}

/// The table as Markdown.
fn table(graph: &Graph, files: bool) -> Result<String, String> {
    let mut text = String::from(
        "| proof kind | engine | rule | shared | of these: program and its meaning | passes | rest | validated |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let module = |item: &usize| graph.items[*item].module.join("::");
    let mut details = String::new();
    for kind in &KINDS {
        let engine = graph.reach(kind.engine)?;
        let rule = graph.reach(kind.rule)?;
        let mut tested: BTreeSet<&str> = BTreeSet::new();
        for Validated { modules, validator } in &VALIDATED {
            if graph.begins(validator)?.iter().any(|item| rule.contains(item)) {
                tested.extend(*modules);
            }
        }
        let both = engine
            .intersection(&rule)
            .copied()
            .filter(|item| !EVIDENCE.contains(&graph.items[*item].module[0].as_str()));
        let (validated, shared): (BTreeSet<usize>, BTreeSet<usize>) =
            both.partition(|item| tested.contains(module(item).as_str()));
        let lines =
            |items: &BTreeSet<usize>| items.iter().map(|item| graph.items[*item].lines).sum::<usize>();
        let of = |wanted: &dyn Fn(&[String]) -> bool| {
            let items = shared.iter().map(|item| &graph.items[*item]);
            items.filter(|item| wanted(&item.module)).map(|item| item.lines).sum::<usize>()
        };
        let is_pass =
            |module: &[String]| module[0] == "ir" && module.get(1).is_some_and(|name| name == "passes");
        let is_meaning = |module: &[String]| module[0] == "ir" && !is_pass(module);
        let all = lines(&shared);
        let (meaning, passes) = (of(&is_meaning), of(&is_pass));
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {all} | {meaning} | {passes} | {} | {} |",
            kind.name,
            lines(&engine),
            lines(&rule),
            all - meaning - passes,
            lines(&validated),
        );
        if files {
            let mut by_module: BTreeMap<String, usize> = BTreeMap::new();
            for item in &shared {
                *by_module.entry(module(item)).or_default() += graph.items[*item].lines;
            }
            let mut by_module: Vec<(String, usize)> = by_module.into_iter().collect();
            by_module.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
            let _ = writeln!(details, "\n## {}", kind.name);
            for (module, lines) in by_module {
                let _ = writeln!(details, "{lines:6} {module}");
            }
        }
    }
    for Validated { modules, validator } in &VALIDATED {
        let of = |wanted: &dyn Fn(&str) -> bool| {
            let items = graph.items.iter().filter(|item| wanted(&item.module.join("::")));
            items.map(|item| item.lines).sum::<usize>()
        };
        let folder = validator.rsplit_once("::").map_or(*validator, |(folder, _)| folder);
        let (validating, validated) =
            (of(&|module| module.starts_with(folder)), of(&|module| modules.contains(&module)));
        let _ = writeln!(text, "\n`{folder}` ({validating} lines) validates {validated} lines.");
    }
    Ok(text + &details)
}
