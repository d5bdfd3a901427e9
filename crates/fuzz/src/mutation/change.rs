//! Random changes of evidence, as someone would make them who wants it to be accepted for another program.

use super::json::Json;
use testkit::random::Random;

/// Names that rules make up, or that steps have: no formula of a proof may have one.
const NAMES: [&str; 10] = [
    "made up",
    "input 0 of 0:0",
    "input 0 of 1:0",
    "input 0 of 1:1#0",
    "location#1",
    "passed 1",
    "old x+0@1",
    "kept x+0@1 at 0",
    "number of threads",
    "x+0@1",
];

/// Numbers at the edges of what is read.
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "31",
    "32",
    "63",
    "64",
    "255",
    "4294967295",
    "9223372036854775807",
    "18446744073709551615",
    "170141183460469231731687303715884105727",
];

/// Words that formulas and claims are replaced by.
const CONSTANTS: [&str; 2] = [r#"{"operation":{"Bool":false}}"#, r#"{"operation":{"Bool":true}}"#];

/// Changes evidence in one to three places.
pub fn change(original: &Json, random: &mut Random) -> Json {
    let mut changed = original.clone();
    for _ in 0..=random.below(3) {
        // Some changes do nothing where they are tried.
        for _ in 0..20 {
            let before = changed.clone();
            change_once(&mut changed, random);
            if changed != before {
                break;
            }
        }
    }
    changed
}

fn number(random: &mut Random, old: &str) -> String {
    let around = |by: i128| old.parse::<i128>().ok().and_then(|old| old.checked_add(by));
    let near = match random.below(5) {
        0 => around(1),
        1 => around(-1),
        2 => old.parse::<i128>().ok().map(|old| old ^ (1 << random.below(12))),
        _ => None,
    };
    near.map_or_else(|| random.pick(&NUMBERS).to_owned(), |near| near.to_string())
}

fn change_once(evidence: &mut Json, random: &mut Random) {
    let size = evidence.size();
    let other = random.below(size);
    let at = random.below(size);
    // Another piece, to be put here.
    let borrowed = evidence.piece(other).map(|piece| piece.clone());
    let Some(piece) = evidence.piece(at) else { return };
    match piece {
        Json::Word(word) => match (word.as_str(), random.below(6)) {
            ("true", _) => *word = "false".to_owned(),
            ("false", _) => *word = "true".to_owned(),
            (_, 0) => *word = "null".to_owned(),
            ("null", _) | (_, 1) => {
                if let Some(borrowed @ Json::Word(_)) = borrowed {
                    *piece = borrowed;
                }
            }
            (old, _) => *word = number(random, old),
        },
        Json::Text(text) => match borrowed {
            Some(Json::Text(other)) if random.once_in(2) => *text = other,
            _ => random.pick(&NAMES).clone_into(text),
        },
        Json::List(list) => change_list(list, borrowed, random),
        Json::Object(fields) => {
            let is_term = fields.first().is_some_and(|(name, _)| name == "operation");
            match random.below(6) {
                0 => fields.push(("more".to_owned(), Json::Word("0".to_owned()))),
                1 if !fields.is_empty() => {
                    let at = random.below(fields.len());
                    fields.remove(at);
                }
                2 if !fields.is_empty() => {
                    let at = random.below(fields.len());
                    if let Some(borrowed) = borrowed {
                        fields[at].1 = borrowed;
                    }
                }
                _ if is_term => {
                    if let Some(constant) = Json::read(random.pick(&CONSTANTS)) {
                        *piece = constant;
                    }
                }
                _ => {
                    if let Some(borrowed @ Json::Object(_)) = borrowed {
                        *piece = borrowed;
                    }
                }
            }
        }
    }
}

fn change_list(list: &mut Vec<Json>, borrowed: Option<Json>, random: &mut Random) {
    let length = list.len();
    if length == 0 {
        list.extend(borrowed);
        return;
    }
    let (one, two) = (random.below(length), random.below(length));
    match random.below(8) {
        0 | 1 => {
            list.remove(one);
        }
        2 => list.insert(two, list[one].clone()),
        3 => list.swap(one, two),
        4 => list[one] = list[two].clone(),
        5 => list.clear(),
        6 => list.truncate(one),
        _ => list.extend(borrowed),
    }
}
