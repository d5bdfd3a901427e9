//! Weighted sums that are invariant under some changes: an integer basis of the null space of a matrix.

/// A basis of the vectors of weights, `width` long, whose product with each row is 0. Gives up (with none)
/// where numbers grow too large.
pub(crate) fn unchanged_sums(rows: &[Vec<i128>], width: usize) -> Vec<Vec<i128>> {
    null_space(rows, width).unwrap_or_default()
}

fn null_space(rows: &[Vec<i128>], width: usize) -> Option<Vec<Vec<i128>>> {
    // Rows in echelon form, each with the column of its first number.
    let mut echelon: Vec<(usize, Vec<i128>)> = Vec::new();
    for row in rows {
        let mut row = row.clone();
        for (column, known) in &echelon {
            eliminate(&mut row, known, *column)?;
        }
        let Some(column) = row.iter().position(|number| *number != 0) else { continue };
        shorten(&mut row);
        for (_, known) in &mut echelon {
            eliminate(known, &row, column)?;
        }
        echelon.push((column, row));
    }
    let mut basis = Vec::new();
    for free in (0..width).filter(|column| !echelon.iter().any(|(lead, _)| lead == column)) {
        let mut scale: i128 = 1;
        for (lead, row) in &echelon {
            let needed = row[*lead].abs() / gcd(row[*lead], row[free]).max(1);
            scale = scale.checked_mul(needed / gcd(scale, needed))?;
        }
        let mut weights = vec![0i128; width];
        weights[free] = scale;
        for (lead, row) in &echelon {
            weights[*lead] = -scale.checked_mul(row[free])? / row[*lead];
        }
        shorten(&mut weights);
        basis.push(weights);
    }
    Some(basis)
}

/// Makes a number of a row 0 by means of another row.
fn eliminate(row: &mut [i128], with: &[i128], column: usize) -> Option<()> {
    if row[column] == 0 {
        return Some(());
    }
    let (mine, its) = (row[column], with[column]);
    for (number, other) in row.iter_mut().zip(with) {
        *number = number.checked_mul(its)?.checked_sub(other.checked_mul(mine)?)?;
    }
    shorten(row);
    Some(())
}

fn shorten(row: &mut [i128]) {
    let common = row.iter().fold(0, |common, number| gcd(common, *number));
    if common > 1 {
        row.iter_mut().for_each(|number| *number /= common);
    }
}

fn gcd(one: i128, two: i128) -> i128 {
    ir::gcd(one, two).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stay() {
        let rows = vec![vec![1, -1, 1, 0], vec![-1, 0, -1, 1], vec![0, 2, 0, -2]];
        let basis = unchanged_sums(&rows, 4);
        assert!(!basis.is_empty());
        for weights in &basis {
            for row in &rows {
                assert_eq!(row.iter().zip(weights).map(|(a, b)| a * b).sum::<i128>(), 0);
            }
        }
        assert_eq!(unchanged_sums(&[], 2), [[1, 0], [0, 1]]);
        assert!(unchanged_sums(&[vec![1, 0], vec![3, 5]], 2).is_empty());
    }
}
