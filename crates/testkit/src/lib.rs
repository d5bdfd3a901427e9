//! The annotated-program harness and random programs.
