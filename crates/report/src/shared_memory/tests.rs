//! The listing of a small program in all formats.

use super::*;
use crate::style::Style;
use crate::{Answer, Outcome, Report, Sources, html, human, json, markdown, sarif};
use checker::Checked;
use expect_test::expect;
use ir::{EdgeId, TemplateId};
use verdict::{Check, LockBase, LockFact, Reason};

/// A pool with a lock, a flag that nobody guards, a counter that is guarded at one side only.
const PROGRAM: &str = "program lp64 file \"pool.c\"
    assumes \"inline assembly is left out\" limits proof @ 0:3:1
    start main 1
    static m: mutex size 40 @ 0:4:1
    static flag: i32 @ 0:5:5
    static count: i32 @ 0:6:5
    static slots: [4 of { id: i32 at 0, done: i32 at 4 }] @ 0:7:5
    site block: bytes 48 @ 0:12:9
    uses block \"pool\" \"struct pool\": { size: i32 at 0, guard: mutex at 8 } size 48
    template main(p: u64) { locations 6
        l2 -> l3: i32[&flag] := 1 @ 0:20:3
        l3 -> l4: i32[&count] := 1 @ 0:21:3
        l4 -> l5: i32[p] := 1 @ 0:22:3
        l0 -> l1: p := allocate block 48u64 @ 0:12:9
        l1 -> l2: spawn worker(p) @ 0:13:3 }
    template worker(q: u64) { locations 4
        l0 -> l1: i32[&flag] := 2 @ 0:30:3
        l1 -> l2: i32[&count] := 2 @ 0:31:3
        l2 -> l3: i32[q] := 2 @ 0:32:3 }";

fn program() -> Program {
    ir::text::parse(PROGRAM).expect("it is a program")
}

fn access(template: u32, edge: u32, write: bool, locks: Vec<LockFact>) -> LocationAccess {
    let template = TemplateId(template);
    LocationAccess { template, edge: EdgeId(edge), kind: template, write, atomic: false, locks }
}

fn cell(object: u32, first: u64, stride: u64) -> Target {
    Target { object: ObjectId(object), first, stride, count: if stride > 0 { 4 } else { 1 } }
}

fn locations() -> Locations {
    let lock = LockFact { base: LockBase::Object(ObjectId(0)), offset: 0, shared: false };
    let own = LockFact { base: LockBase::Local(ir::LocalId(0)), offset: 8, shared: false };
    let location = |cell, accesses, status| SharedLocation { cell, size: 4, accesses, more: 0, status };
    Locations {
        locations: vec![
            location(
                cell(1, 0, 0),
                vec![access(0, 0, true, vec![]), access(1, 0, true, vec![])],
                LocationStatus::Open(vec![(0, 1), (1, 1)]),
            ),
            location(
                cell(2, 0, 0),
                vec![access(0, 1, false, vec![]), access(1, 1, true, vec![lock])],
                LocationStatus::Open(vec![(0, 1)]),
            ),
            location(
                cell(3, 4, 8),
                vec![access(0, 0, true, vec![]), access(1, 0, true, vec![])],
                LocationStatus::RaceFree(vec![WhyNoRace::Order]),
            ),
            location(
                cell(4, 0, 0),
                vec![access(0, 2, true, vec![own]), access(1, 2, true, vec![own])],
                LocationStatus::RaceFree(vec![WhyNoRace::Lock(own)]),
            ),
        ],
        reached: Reached { functions: (2, 3), thread_starts: (1, 1) },
    }
}

/// Hands a report about the program to a renderer.
fn with_report<T>(memory: &SharedMemory, render: impl FnOnce(&Report<'_>) -> T) -> T {
    let program = program();
    let sources = Sources::default();
    let reason = Reason::NotSupported("inline assembly is left out".to_owned(), program.assumptions[0].span);
    let outcomes = [Outcome {
        check: Check::Races,
        variable: None,
        verdict: Checked::Unknown(reason),
        decisions: None,
        seconds: 1.0,
        tries: Vec::new(),
    }];
    let answer = Answer::of(&outcomes, &[]);
    render(&Report {
        program: &program,
        sources: &sources,
        outcomes: &outcomes,
        answer: &answer,
        explain: false,
        stories: &[],
        memory: Some(memory),
        baseline: None,
    })
}

fn listing() -> SharedMemory {
    let program = program();
    assert_eq!(ir::check::check(&program), Ok(()));
    SharedMemory::of(&program, &locations(), Some(&PointsTo::of(&program)))
}

#[test]
fn what_is_open_comes_first_and_ranked() {
    let text = with_report(&listing(), |report| human::render(report, Style::default()));
    expect![[r#"
        data races: unknown: unsupported, line 3: inline assembly is left out.
          2 of 4 shared memory locations are race-free, provided that what is taken for granted is so (listed below).
          What may help:
            avoid, or write in plain C, what is not modelled (pool.c:3:1: inline assembly is left out)

        Shared memory: 4 locations: 2 open, 2 race-free, assuming what could hide behaviour (below).
        Reached: 2 of 3 functions, 1 of 1 thread starts.
          open      `count`, pool.c:6
                   pool.c:21: main reads, holds no known lock
              with pool.c:31: worker writes, holds `m`
          open      `flag`, pool.c:5
                   pool.c:20: main writes, holds no known lock
              with pool.c:30: worker writes, holds no known lock
              or   pool.c:30: worker writes, holds no known lock
              with the same in another thread
          race-free, assuming what could hide behaviour (below):
              1 because lock `p->guard` is held: pool->size of the struct pool allocated in pool.c:12
              1 because one is before the other's thread starts, or after it has ended: slots[].done

        This takes for granted:
          pool.c:3:1: inline assembly is left out

        in words: it is open whether there is a data race
        verdict: unknown(races: unsupported, line 3: inline assembly is left out)
    "#]]
    .assert_eq(&text);
}

#[test]
fn both_accesses_of_a_possible_race_are_shown() {
    let mut memory = listing();
    let steps = memory.locations[0].candidates[0];
    memory.possible(cell(2, 0, 0), "if `f` in pool.c:9 gives 1", Some(steps));
    assert!(memory.race(
        ObjectId(1),
        2,
        "replayed: main writes it, holds no lock; worker writes it, holds m"
    ));
    let text = with_report(&memory, |report| human::render(report, Style::default()));
    let shown =
        text.lines().skip_while(|line| !line.starts_with("Reached")).skip(1).take(7).map(|line| &line[2..]);
    expect![[r#"
          race      `flag`, pool.c:5
              replayed: main writes it, holds no lock
              with worker writes it, holds m
          possible  `count`, pool.c:6
              but for: if `f` in pool.c:9 gives 1
                   pool.c:21: main reads, holds no known lock
              with pool.c:31: worker writes, holds `m`"#]]
    .assert_eq(&shown.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_race_and_a_possible_one_come_before_the_rest() {
    let mut memory = listing();
    assert!(memory.race(ObjectId(1), 2, "replayed: main writes it; worker writes it"));
    assert!(!memory.race(ObjectId(0), 0, "no shared location"));
    memory.possible(cell(2, 0, 0), "a value that is not modelled", None);
    let names: Vec<(&str, &str)> =
        memory.locations.iter().map(|found| (found.status.name(), found.name.as_str())).collect();
    assert_eq!(
        names,
        [
            ("race", "flag"),
            ("possible", "count"),
            ("race-free", "slots[].done"),
            ("race-free", "pool->size of the struct pool allocated in pool.c:12")
        ]
    );
    assert!(memory.race(ObjectId(3), 8 + 6, "inside of an element"), "each element belongs to the location");
    assert!(!memory.race(ObjectId(3), 8 + 2, "another member"));
    memory.proved("by another engine");
    assert_eq!(
        memory.counts(),
        [2, 0, 0, 2],
        "a proof does not take races back; it is contradicted elsewhere"
    );
}

#[test]
fn the_listing_for_programs() {
    let text = with_report(&listing(), json::render);
    let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let shown = serde_json::json!({ "locations": value["locations"], "reached": value["reached"] });
    expect![[r#"
        {
          "locations": [
            {
              "accesses": [
                {
                  "file": "pool.c",
                  "kind": "read",
                  "line": 21,
                  "locks": [],
                  "thread": "main"
                },
                {
                  "file": "pool.c",
                  "kind": "write",
                  "line": 31,
                  "locks": [
                    "m"
                  ],
                  "thread": "worker"
                }
              ],
              "because": "main reads and holds no known lock, worker writes and holds `m`: nothing is known that keeps them apart",
              "declared": "pool.c:6:5",
              "name": "count",
              "status": "open"
            },
            {
              "accesses": [
                {
                  "file": "pool.c",
                  "kind": "write",
                  "line": 20,
                  "locks": [],
                  "thread": "main"
                },
                {
                  "file": "pool.c",
                  "kind": "write",
                  "line": 30,
                  "locks": [],
                  "thread": "worker"
                }
              ],
              "because": "main writes and holds no known lock, worker writes and holds no known lock: nothing is known that keeps them apart; and one more pair of accesses",
              "declared": "pool.c:5:5",
              "name": "flag",
              "status": "open"
            },
            {
              "accesses": [
                {
                  "file": "pool.c",
                  "kind": "write",
                  "line": 20,
                  "locks": [],
                  "thread": "main"
                },
                {
                  "file": "pool.c",
                  "kind": "write",
                  "line": 30,
                  "locks": [],
                  "thread": "worker"
                }
              ],
              "because": "one is before the other's thread starts, or after it has ended; assuming: inline assembly is left out",
              "declared": "pool.c:7:5",
              "name": "slots[].done",
              "status": "race-free"
            },
            {
              "accesses": [
                {
                  "file": "pool.c",
                  "kind": "write",
                  "line": 22,
                  "locks": [
                    "p->guard"
                  ],
                  "thread": "main"
                },
                {
                  "file": "pool.c",
                  "kind": "write",
                  "line": 32,
                  "locks": [
                    "q->guard"
                  ],
                  "thread": "worker"
                }
              ],
              "because": "lock `p->guard` is held; assuming: inline assembly is left out",
              "declared": "pool.c:12:9",
              "name": "pool->size of the struct pool allocated in pool.c:12",
              "status": "race-free"
            }
          ],
          "reached": {
            "functions": 2,
            "of_functions": 3,
            "of_thread_starts": 1,
            "thread_starts": 1
          }
        }"#]].assert_eq(&format!("{shown:#}"));
}

#[test]
fn the_listing_for_comments() {
    expect![[r#"
        ## threadproof: <code>unknown(races: unsupported, line 3: inline assembly is left out)</code>

        it is open whether there is a data race.

        ### data races: unknown

        unsupported, line 3: inline assembly is left out.


        ### shared memory

        Shared memory: 4 locations: 2 open, 2 race-free, assuming what could hide behaviour (below). Reached: 2 of 3 functions, 1 of 1 thread starts.

        | status | location | declared | accesses |
        |---|---|---|---|
        | open | <code>count</code> | pool.c:6 | pool.c:21: main reads, holds no known lock<br>pool.c:31: worker writes, holds &#96;m&#96; |
        | open | <code>flag</code> | pool.c:5 | pool.c:20: main writes, holds no known lock<br>pool.c:30: worker writes, holds no known lock |

        <details><summary>race-free, assuming what could hide behaviour</summary>

        * lock &#96;p-&gt;guard&#96; is held: <code>pool-&gt;size of the struct pool allocated in pool.c:12</code>
        * one is before the other's thread starts, or after it has ended: <code>slots&#91;&#93;.done</code>

        </details>

        This takes for granted:

        * pool.c:3:1: inline assembly is left out

        verdict: unknown(races: unsupported, line 3: inline assembly is left out)
    "#]].assert_eq(&with_report(&listing(), markdown::render));
}

#[test]
fn the_listing_for_code_scanning() {
    let text = with_report(&listing(), sarif::render);
    let log: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let results = log["runs"][0]["results"].as_array().expect("there are results");
    assert_eq!(results.len(), 2);
    expect![[r#"
        {
          "level": "note",
          "locations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "pool.c"
                },
                "region": {
                  "startColumn": 3,
                  "startLine": 21
                }
              }
            }
          ],
          "message": {
            "text": "Open whether there is a data race on `count`: main reads and holds no known lock, worker writes and holds `m`: nothing is known that keeps them apart."
          },
          "partialFingerprints": {
            "threadproof/v1": "33b097fa790675f1ac694a9ef1da246d",
            "threadproof/v2": "0d6b30b3120a2d734002da20c2b32735"
          },
          "relatedLocations": [
            {
              "id": 1,
              "message": {
                "text": "main reads, holds no known lock"
              },
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "pool.c"
                },
                "region": {
                  "startColumn": 3,
                  "startLine": 21
                }
              }
            },
            {
              "id": 2,
              "message": {
                "text": "worker writes, holds `m`"
              },
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "pool.c"
                },
                "region": {
                  "startColumn": 3,
                  "startLine": 31
                }
              }
            }
          ],
          "ruleId": "no-data-race",
          "ruleIndex": 0
        }"#]].assert_eq(&format!("{:#}", results[0]));
}

#[test]
fn the_listing_on_the_page() {
    let program = program();
    let page = with_report(&listing(), |report| {
        html::render(report, &html::Extras { lowered: &program, listing: None, contexts: &[] })
    });
    let start = page.find("<section id=\"memory\">").expect("it is there");
    let end = start + page[start..].find("</section>").expect("it ends");
    expect![[r##"
        <section id="memory"><h2>Shared memory</h2>
        <p>Shared memory: 4 locations: 2 open, 2 race-free, assuming what could hide behaviour (below). Reached: 2 of 3 functions, 1 of 1 thread starts.</p>
        <table class="memory"><thead><tr><th>status</th><th>location</th><th>declared</th><th>because</th></tr></thead><tbody>
        <tr><td class="open">open</td><td><code>count</code></td><td>pool.c:6</td><td>main reads and holds no known lock, worker writes and holds `m`: nothing is known that keeps them apart<details><summary>2 accesses</summary><ul><li><a href="#line-0-21">pool.c:21</a> main reads, holds no known lock</li><li><a href="#line-0-31">pool.c:31</a> worker writes, holds `m`</li></ul></details></td></tr>
        <tr><td class="open">open</td><td><code>flag</code></td><td>pool.c:5</td><td>main writes and holds no known lock, worker writes and holds no known lock: nothing is known that keeps them apart; and one more pair of accesses<details><summary>2 accesses</summary><ul><li><a href="#line-0-20">pool.c:20</a> main writes, holds no known lock</li><li><a href="#line-0-30">pool.c:30</a> worker writes, holds no known lock</li></ul></details></td></tr>
        <tr><td class="good">race-free, assuming …</td><td><code>slots[].done</code></td><td>pool.c:7</td><td>one is before the other&#39;s thread starts, or after it has ended<details><summary>2 accesses</summary><ul><li><a href="#line-0-20">pool.c:20</a> main writes, holds no known lock</li><li><a href="#line-0-30">pool.c:30</a> worker writes, holds no known lock</li></ul></details></td></tr>
        <tr><td class="good">race-free, assuming …</td><td><code>pool-&gt;size of the struct pool allocated in pool.c:12</code></td><td>pool.c:12</td><td>lock `p-&gt;guard` is held<details><summary>2 accesses</summary><ul><li><a href="#line-0-22">pool.c:22</a> main writes, holds `p-&gt;guard`</li><li><a href="#line-0-32">pool.c:32</a> worker writes, holds `q-&gt;guard`</li></ul></details></td></tr>
        </tbody></table>
    "##]].assert_eq(&page[start..end]);
}

#[test]
fn that_no_thread_is_reached_is_said_first() {
    let mut memory = listing();
    memory.reached = Reached { functions: (1, 3), thread_starts: (0, 1) };
    let text = with_report(&memory, |report| human::render(report, Style::default()));
    expect!["No thread is ever started in what was analysed (1 of 3 functions, 0 of 1 thread starts are reached): what follows says nothing about threads."].assert_eq(text.lines().next().unwrap_or_default());
}

#[test]
fn what_has_one_name_is_one_location() {
    let mut memory = listing();
    let [open, free] = ["open", "race-free"].map(|status| {
        memory.locations.iter().find(|finding| finding.status.name() == status).cloned().expect("one is")
    });
    let count = memory.locations.len();
    assert_eq!(memory.merged().locations.len(), count);
    // Another location with the name of the open one, and with an access of its own.
    let copy = Finding { name: open.name.clone(), declared: open.declared, ..free.clone() };
    memory.locations.push(copy);
    let merged = memory.merged();
    assert_eq!(merged.locations.len(), count);
    let found = merged.locations.iter().find(|finding| finding.name == open.name).expect("it is there");
    assert_eq!(found.status, open.status);
    assert!(free.accesses.iter().chain(&open.accesses).all(|access| found.accesses.contains(access)));
}
