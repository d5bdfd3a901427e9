//! The command line of Threadproof.
fn main() {}
