//! Sets of pointees as rising lists of their numbers.

use super::solve::PointeeId;

/// What is in the first of two rising lists and not in the second.
pub fn difference(left: &[PointeeId], right: &[PointeeId]) -> Vec<PointeeId> {
    let is_much_shorter = left.len() * 16 < right.len();
    if is_much_shorter {
        return left.iter().copied().filter(|id| right.binary_search(id).is_err()).collect();
    }
    let mut rest = right.iter().peekable();
    let is_new = |id: &PointeeId| {
        while rest.next_if(|other| *other < id).is_some() {}
        rest.peek() != Some(&id)
    };
    left.iter().copied().filter(is_new).collect()
}

/// What is in either of two rising lists.
pub fn merge(left: &[PointeeId], right: &[PointeeId]) -> Vec<PointeeId> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        match left[i].cmp(&right[j]) {
            std::cmp::Ordering::Less => {
                merged.push(left[i]);
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                merged.push(right[j]);
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                merged.push(left[i]);
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    merged.extend_from_slice(&left[i..]);
    merged.extend_from_slice(&right[j..]);
    merged
}
