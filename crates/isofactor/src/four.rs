//! Small symmetric positive definite systems, four at a time: one in each lane.
//!
//! Triangles are lower ones, row after row.

use crate::simd::{self, LANES, Lanes, Machine, ZERO};

/// Numbers in the lower triangle of a `p x p` matrix.
pub(crate) fn triangle(p: usize) -> usize {
    p * (p + 1) / 2
}

/// `A = LL'` in place, with the reciprocals of the diagonal of `L` in its place. Each column is
/// taken out of what remains: updates that do not wait for each other.
///
/// Every diagonal number of `A` is at least that of `least`, which stands in where rounding leaves
/// next to nothing of a pivot.
#[inline(always)]
pub(crate) fn factorise<M: Machine>(lower: &mut [Lanes], least: &[f64]) {
    let p = least.len();
    let lower = &mut lower[..triangle(p)];
    for (c, &least) in least.iter().enumerate() {
        let reciprocal = pivot(lower[triangle(c) + c], least);
        lower[triangle(c) + c] = reciprocal;
        for a in c + 1..p {
            lower[triangle(a) + c] = simd::mul(lower[triangle(a) + c], reciprocal);
        }
        for a in c + 1..p {
            let minus = simd::sub(ZERO, lower[triangle(a) + c]);
            for b in c + 1..=a {
                let place = triangle(a) + b;
                lower[place] = simd::mul_add::<M>(minus, lower[triangle(b) + c], lower[place]);
            }
        }
    }
}

/// The reciprocal root of a pivot.
#[inline(always)]
fn pivot(sum: Lanes, least: f64) -> Lanes {
    let mut roots = ZERO;
    for lane in 0..LANES {
        let sound = if sum[lane] > 1e-9 * least { sum[lane] } else { least };
        roots[lane] = 1.0 / sound.sqrt();
    }
    roots
}

/// `x` with `LL'x = b`, in the place of `b`.
#[inline(always)]
pub(crate) fn solve<M: Machine>(lower: &[Lanes], x: &mut [Lanes]) {
    let p = x.len();
    let lower = &lower[..triangle(p)];
    for c in 0..p {
        x[c] = simd::mul(x[c], lower[triangle(c) + c]);
        let minus = simd::sub(ZERO, x[c]);
        for a in c + 1..p {
            x[a] = simd::mul_add::<M>(minus, lower[triangle(a) + c], x[a]);
        }
    }
    for c in (0..p).rev() {
        x[c] = simd::mul(x[c], lower[triangle(c) + c]);
        let minus = simd::sub(ZERO, x[c]);
        for a in 0..c {
            x[a] = simd::mul_add::<M>(minus, lower[triangle(c) + a], x[a]);
        }
    }
}

/// `(LL')^-1` by way of `L^-1`, for which there is room in `way`.
#[inline(always)]
pub(crate) fn invert<M: Machine>(
    lower: &[Lanes],
    way: &mut [Lanes],
    inverse: &mut [Lanes],
    p: usize,
) {
    let (lower, way) = (&lower[..triangle(p)], &mut way[..triangle(p)]);
    way.fill(ZERO);
    for b in 0..p {
        way[triangle(b) + b] = [1.0; LANES];
        for c in b..p {
            let solved = simd::mul(way[triangle(c) + b], lower[triangle(c) + c]);
            way[triangle(c) + b] = solved;
            let minus = simd::sub(ZERO, solved);
            for a in c + 1..p {
                let place = triangle(a) + b;
                way[place] = simd::mul_add::<M>(minus, lower[triangle(a) + c], way[place]);
            }
        }
    }
    let sums = &mut inverse[..triangle(p)];
    sums.fill(ZERO);
    for c in 0..p {
        let row = &way[triangle(c)..triangle(c) + c + 1];
        for a in 0..=c {
            for b in 0..=a {
                let place = triangle(a) + b;
                sums[place] = simd::mul_add::<M>(row[a], row[b], sums[place]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        linalg::{self, Mat},
        simd::Plain,
    };

    /// Four positive definite matrices of size 5, and a right side of each.
    fn systems() -> (Vec<Mat<f64>>, Vec<Vec<f64>>) {
        let number = |i: usize| ((i as f64 + 1.0) * 1.7).sin();
        let matrix = |lane: usize| {
            let root = Mat::from_fn(5, 5, |a, b| number(100 * lane + 5 * a + b));
            let mut square = &root * root.transpose();
            (0..5).for_each(|a| square[(a, a)] += 0.1);
            square
        };
        let right = |lane: usize| (0..5).map(|a| number(7 * lane + a)).collect();
        ((0..LANES).map(matrix).collect(), (0..LANES).map(right).collect())
    }

    fn abreast(matrices: &[Mat<f64>]) -> Vec<Lanes> {
        let places = (0..5).flat_map(|a| (0..=a).map(move |b| (a, b)));
        places.map(|place| std::array::from_fn(|lane| matrices[lane][place])).collect()
    }

    #[test]
    fn four_solutions_are_those_of_one_at_a_time() {
        let (matrices, right) = systems();
        let mut lower = abreast(&matrices);
        factorise::<Plain<false>>(&mut lower, &[0.1; 5]);
        let mut x: Vec<Lanes> =
            (0..5).map(|a| std::array::from_fn(|lane| right[lane][a])).collect();
        solve::<Plain<false>>(&lower, &mut x);
        let (mut way, mut inverse) = (lower.clone(), lower.clone());
        invert::<Plain<false>>(&lower, &mut way, &mut inverse, 5);
        for lane in 0..LANES {
            let expected = linalg::solve_positive(matrices[lane].as_ref(), &right[lane]).unwrap();
            for a in 0..5 {
                assert!((x[a][lane] - expected[a]).abs() < 1e-12 * expected[a].abs().max(1.0));
                let by_inverse: f64 = (0..5)
                    .map(|b| inverse[triangle(a.max(b)) + a.min(b)][lane] * right[lane][b])
                    .sum();
                assert!((by_inverse - expected[a]).abs() < 1e-11 * expected[a].abs().max(1.0));
            }
        }
    }

    #[test]
    fn a_pivot_that_rounding_took_is_replaced() {
        let mut lower = vec![[1.0; LANES], [1.0; LANES], [1.0; LANES]];
        factorise::<Plain<false>>(&mut lower, &[0.5, 0.5]);
        assert_eq!(lower[2], [1.0 / 0.5f64.sqrt(); LANES]);
    }
}
