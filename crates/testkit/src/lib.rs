//! What tests are made of: annotated programs and what they expect, random programs, and the oracle.
//!
//! A test program is a C file whose comments say the truth about it. `// expect: races=false` must be the
//! verdict. `// todo: races=true` is the truth, which the tool may not find yet: the opposite verdict is a
//! soundness failure, and finding it is a failure too, so that the line becomes an `expect`. `//~ RACE` and
//! `//~ ERROR` mark the lines that a violation's report must name.

pub mod annotation;
pub mod oracle;
pub mod random;
