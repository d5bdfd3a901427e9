//! Strongly connected components.

use ir::{EdgeId, IdVec, LocationId, Template};

/// The strongly connected components of a template's graph, targets before sources.
pub fn components(code: &Template, outgoing: &IdVec<LocationId, Vec<EdgeId>>) -> Vec<Vec<LocationId>> {
    let targets =
        |location: u32| outgoing[LocationId(location)].iter().map(|edge| code.edges[*edge].target.0);
    let found = ir::components::components(code.locations.len() as u32, targets).members;
    found.into_iter().map(|members| members.into_iter().map(LocationId).collect()).collect()
}
