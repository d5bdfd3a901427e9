//! A program that a front end has not read to the end.

use crate::Program;
use std::sync::{Arc, Mutex, PoisonError};

/// A program that is not read to the end: all functions are lowered, but nothing is done yet that needs to
/// know what pointers point to. Nothing follows from how it behaves; it says which variables code names.
///
/// The rest of reading may take long. Whoever gives up meanwhile still has this.
#[derive(Clone, Debug, Default)]
pub struct Draft(Arc<Mutex<Option<Program>>>);

impl Draft {
    /// All functions are lowered.
    pub fn put(&self, program: &Program) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(program.clone());
    }
    /// The program, if all functions are lowered.
    pub fn take(&self) -> Option<Program> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
