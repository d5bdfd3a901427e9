//! How many bytes objects have.

use ir::{Expr, IdVec, ObjectId, Op, Program, Storage};
use rustc_hash::FxHashMap;

/// For each object the number of its bytes, where it is always the same: it is declared, or all steps that
/// allocate at a site ask for the same number.
pub fn sizes(program: &Program) -> IdVec<ObjectId, Option<u64>> {
    let mut allocated: FxHashMap<ObjectId, Option<u64>> = FxHashMap::default();
    for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
        if let Op::Allocate { site, size, .. } = op {
            let asked = match size {
                Expr::Const(bytes, _) => u64::try_from(*bytes).ok(),
                _ => None,
            };
            let known = allocated.entry(*site).or_insert(asked);
            if *known != asked {
                *known = None;
            }
        }
    }
    let size = |(id, object): (ObjectId, &ir::Object)| match object.storage {
        Storage::Static | Storage::Frame(_) | Storage::ThreadLocal => Some(object.size),
        Storage::Site => allocated.get(&id).copied().flatten(),
    };
    program.objects.enumerate().map(size).collect()
}
