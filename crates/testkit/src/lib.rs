//! The parts of tests: annotated programs with their expectations, random programs, and the oracle.
//!
//! A test program is a C file whose comments state the truth about it. With `// expect: races=false`, the
//! tool must give this verdict. With `// todo: races=true`, it need not find this verdict yet: the opposite
//! verdict is a soundness failure. The right verdict fails the test, too, so that the line gets turned into
//! an `expect`. `//~ RACE` and `//~ ERROR` mark the lines that the report of a violation must name.

pub mod annotation;
pub mod oracle;
pub mod random;
