//! The listing of shared memory as text: races and open locations with their accesses, and the others
//! summarised by the reason for safety.

use super::{Finding, FoundAccess, Possible, SharedMemory, Status};
use crate::Sources;
use crate::sources::position;
use crate::style::{Style, Tone, clean};
use ir::{Program, Span};

/// The most open locations that are listed by default.
const MOST_OPEN: usize = 25;
/// The most names of race-free locations that are listed for one reason.
const MOST_NAMES: usize = 6;
/// The most pairs of accesses of a location that are listed by default.
const MOST_PAIRS: usize = 2;

/// The first line.
pub(crate) fn headline(memory: &SharedMemory) -> String {
    let [races, possible, open, free] = memory.counts();
    let mut parts = Vec::new();
    let mut part = |count: usize, one: &str, many: &str| {
        if count > 0 {
            parts.push(format!("{count} {}", if count == 1 { one } else { many }));
        }
    };
    part(races, "race", "races");
    part(possible, "possible race", "possible races");
    part(open, "open", "open");
    let assuming = if memory.conditional { ", assuming what could hide behaviour (below)" } else { "" };
    part(free, &format!("race-free{assuming}"), &format!("race-free{assuming}"));
    let all = memory.locations.len();
    let what = if all == 1 { "location" } else { "locations" };
    let incomplete =
        memory.incomplete.as_ref().map(|why| format!(" Not all are listed: {why}.")).unwrap_or_default();
    if parts.is_empty() && memory.incomplete.is_some() {
        return format!("Shared memory: no location is listed.{incomplete}");
    }
    if parts.is_empty() {
        return "Shared memory: no location is written by one thread and accessed by another.".to_owned();
    }
    format!("Shared memory: {all} {what}: {}.{incomplete}", parts.join(", "))
}

/// How much was reached, with a warning if no thread is.
pub(crate) fn reached(memory: &SharedMemory) -> String {
    let (functions, all_functions) = memory.reached.functions;
    let (starts, all_starts) = memory.reached.thread_starts;
    let said = format!("{functions} of {all_functions} functions, {starts} of {all_starts} thread starts");
    match memory.is_empty_claim() {
        true => format!(
            "No thread is ever started in what was analysed ({said} are reached): what follows says nothing about threads."
        ),
        false => format!("Reached: {said}."),
    }
}

/// An access in one line, without its place.
pub(crate) fn access(access: &FoundAccess) -> String {
    format!("{} {}, {}", clean(&access.thread), access.verb(), clean(&access.held()))
}

/// The displayed name of a status.
pub(crate) fn status(memory: &SharedMemory, finding: &Finding) -> &'static str {
    match &finding.status {
        Status::RaceFree(_) if memory.conditional => "race-free, assuming …",
        Status::RaceFree(_) | Status::Race(_) | Status::Possible(_) | Status::Open(_) => {
            finding.status.name()
        }
    }
}

/// The pairs of accesses of a location that are shown: those that may race, or did but for a condition.
pub(crate) fn pairs(finding: &Finding, most: usize) -> Vec<[&FoundAccess; 2]> {
    match &finding.status {
        Status::Possible(Possible { pair, .. }) => {
            pair.and_then(|pair| finding.pair(pair)).into_iter().collect()
        }
        Status::Open(pairs) => {
            let mut shown: Vec<[&FoundAccess; 2]> = Vec::new();
            for pair in pairs.iter().filter_map(|pair| finding.pair(*pair)) {
                if !shown.contains(&pair) && shown.len() < most {
                    shown.push(pair);
                }
            }
            shown
        }
        Status::Race(_) | Status::RaceFree(_) => Vec::new(),
    }
}

/// Race-free locations by reason, the most frequent reason first: the reason and the names.
pub(crate) fn by_reason(memory: &SharedMemory) -> Vec<(String, Vec<&str>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for finding in &memory.locations {
        let Status::RaceFree(_) = &finding.status else { continue };
        let because = finding.because();
        match found.iter_mut().find(|(reason, _)| *reason == because) {
            Some((_, names)) => names.push(&finding.name),
            None => found.push((because, vec![&finding.name])),
        }
    }
    found.sort_by(|one, other| other.1.len().cmp(&one.1.len()).then_with(|| one.0.cmp(&other.0)));
    found
}

/// The text for this many more pairs.
pub(super) fn more_pairs(count: usize) -> String {
    if count == 1 {
        "one more pair of accesses".to_owned()
    } else {
        format!("{count} more pairs of accesses")
    }
}

/// Renders the listing for a terminal. On request, lists race-free locations as well.
pub(crate) fn render(
    program: &Program,
    sources: &Sources,
    memory: &SharedMemory,
    everything: bool,
    style: Style,
) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    line(&headline(memory));
    // The warning that no thread is reached comes first.
    if !memory.is_empty_claim() {
        line(&reached(memory));
    }
    let at = |span: Span| clean(&position(program, Span { column: 0, ..span }));
    let (most, most_pairs) = if everything { (usize::MAX, usize::MAX) } else { (MOST_OPEN, MOST_PAIRS) };
    let undecided = memory.locations.iter().filter(|finding| !matches!(finding.status, Status::RaceFree(_)));
    for finding in undecided.clone().take(most) {
        let tone = if matches!(finding.status, Status::Race(_)) { Tone::Bad } else { Tone::Open };
        let word = style.paint(tone, &format!("{:<9}", status(memory, finding)));
        let allocated = finding.name.contains(" allocated in ");
        let declared = if allocated { String::new() } else { format!(", {}", at(finding.declared)) };
        line(&format!("  {word} `{}`{declared}", clean(&finding.name)));
        match &finding.status {
            Status::Possible(Possible { condition, .. }) => {
                line(&format!("      but for: {}", clean(condition)))
            }
            Status::Race(what) => {
                for (index, access) in what.split("; ").enumerate() {
                    let word = if index == 0 { "" } else { "with " };
                    line(&format!("      {word}{}", clean(access)));
                }
            }
            Status::Open(_) | Status::RaceFree(_) => {}
        }
        let shown = pairs(finding, most_pairs);
        for (index, pair) in shown.iter().enumerate() {
            let [one, other] = pair;
            let mut show = |word: &str, found: &FoundAccess| {
                line(&format!("      {word:<4} {}: {}", at(found.span), access(found)));
                let code = sources.line(found.span).map(clean).filter(|code| !code.is_empty());
                if let (true, Some(code)) = (index == 0, code) {
                    line(&style.paint(Tone::Faint, &format!("               {code}")));
                }
            };
            show(if index > 0 { "or" } else { "" }, one);
            match one == other {
                true => line("      with the same in another thread"),
                false => show("with", other),
            }
        }
        if let Status::Open(pairs) = &finding.status
            && pairs.len() > shown.len()
            && !everything
        {
            line(&format!("      and {}", more_pairs(pairs.len() - shown.len())));
        }
    }
    let hidden = undecided.count().saturating_sub(most);
    if hidden > 0 {
        line(&format!("  and {hidden} more that are open; --explain lists them"));
    }
    let free = by_reason(memory);
    if !free.is_empty() {
        let assuming = if memory.conditional { ", assuming what could hide behaviour (below)" } else { "" };
        line(&format!("  {}{assuming}:", style.paint(Tone::Good, "race-free")));
    }
    for (because, names) in free {
        let most = if everything { usize::MAX } else { MOST_NAMES };
        let shown: Vec<String> = names.iter().take(most).map(|name| clean(name)).collect();
        let more = names.len().saturating_sub(most);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        line(&format!("      {} because {}: {}{more}", names.len(), clean(&because), shown.join(", ")));
    }
    out
}
