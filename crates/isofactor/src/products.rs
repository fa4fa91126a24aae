//! Products of factors with themselves and with small square matrices, and of long matrices with
//! vectors.
//!
//! Factors are long and few abreast: a general product of matrices spends more time on arranging
//! them than on the product. Here a few rows at a time stay in registers. Whatever the number of
//! threads, the parts that are added up are the same.

use crate::{
    linalg,
    simd::{self, Kernel, LANES, Lanes, Machine, ZERO, by_width},
    threads::in_turn,
};

/// How many rows are worked on in one go, whatever the number of threads.
const PART: usize = 1 << 9;
/// How many rows are in the fastest cache together.
const NEAR: usize = 1 << 7;

/// `A'A` of two sides, row after row; a row of `A` is `width` times four numbers.
pub(crate) fn squares(sides: [&[Lanes]; 2], width: usize) -> [Vec<f64>; 2] {
    let parts = |side: usize| sides[side].chunks(PART * width).map(move |part| (side, part));
    let squares =
        in_turn(parts(0).chain(parts(1)), || (), |(), (side, part)| (side, square(part, width)));
    sum_of_squares(&squares, width)
}

/// Writes both sides, part by part: `write` is told the side, and where in it the part begins. `A'A`
/// of what was written comes back, found while the part is in a fast cache.
pub(crate) fn written<S: Copy + Send>(
    sides: [(S, &mut [Lanes]); 2],
    width: usize,
    write: impl Fn(S, usize, &mut [Lanes]) + Sync + Send,
) -> [Vec<f64>; 2] {
    let parts = sides.into_iter().enumerate().flat_map(|(number, (side, all))| {
        let parts = all.chunks_mut(PART * width).enumerate();
        parts.map(move |(part, all)| (number, side, part * PART * width, all))
    });
    let squares = in_turn(
        parts,
        || (),
        |(), (number, side, first, part)| {
            write(side, first, part);
            (number, square(part, width))
        },
    );
    sum_of_squares(&squares, width)
}

/// `A'A` of a part, above and on the diagonal.
fn square(part: &[Lanes], width: usize) -> Vec<Lanes> {
    let mut square = vec![ZERO; LANES * width * width];
    by_width!(width, AddSquare { part, width, square: &mut square });
    square
}

/// The sums of the squares of each side's parts.
fn sum_of_squares(squares: &[(usize, Vec<Lanes>)], width: usize) -> [Vec<f64>; 2] {
    let mut sums = [0, 1].map(|_| vec![0.0; (LANES * width).pow(2)]);
    for (side, square) in squares {
        linalg::add_scaled(&mut sums[*side], 1.0, square.as_flattened());
    }
    sums.each_mut().map(|sum| {
        mirror(sum, LANES * width);
        std::mem::take(sum)
    })
}

/// Copies what is above the diagonal of a square matrix to below it.
fn mirror(square: &mut [f64], size: usize) {
    for i in 0..size {
        for j in 0..i {
            square[i * size + j] = square[j * size + i];
        }
    }
}

/// `C <- a C + A B` with a square matrix `B`, row after row; its last rows may be left out where the
/// last columns of `A` are zero.
pub(crate) fn add_product(to: &mut [Lanes], a: f64, part: &[Lanes], by: &[f64], width: usize) {
    let (by, _) = by.as_chunks::<LANES>();
    by_width!(wide, width, AddProduct { to, a, part, by, width });
}

/// The same for both sides `s`: `C_s <- a C_s + A_s B_s`.
pub(crate) fn add_products(
    to: [&mut [Lanes]; 2],
    a: f64,
    sides: [&[Lanes]; 2],
    by: [&[f64]; 2],
    width: usize,
) {
    let parts = to.into_iter().zip(sides).zip(by).flat_map(|((to, side), by)| {
        let parts = to.chunks_mut(PART * width).zip(side.chunks(PART * width));
        parts.map(move |(to, part)| (to, part, by))
    });
    in_turn(parts, || (), |(), (to, part, by)| add_product(to, a, part, by, width));
}

/// `S <- S + A'A` above and on the diagonal, four columns at a time.
struct AddSquare<'a, const C: usize> {
    part: &'a [Lanes],
    width: usize,
    /// Row after row.
    square: &'a mut [Lanes],
}

impl<const C: usize> Kernel for AddSquare<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, _: M) {
        let width = if C > 0 { C } else { self.width };
        for near in self.part.chunks(NEAR * width) {
            for i in 0..width {
                let mut j = i;
                while j + 1 < width {
                    add_tile::<M, C, 2>(self.square, near, width, i, j);
                    j += 2;
                }
                if j < width {
                    add_tile::<M, C, 1>(self.square, near, width, i, j);
                }
            }
        }
    }
}

/// Four rows of the square, those of the four numbers `i`, and `N` times four of its columns.
#[inline(always)]
fn add_tile<M: Machine, const C: usize, const N: usize>(
    square: &mut [Lanes],
    part: &[Lanes],
    width: usize,
    i: usize,
    j: usize,
) {
    let mut sums = [[ZERO; N]; LANES];
    // From the four numbers on, so that no bound is checked for every row.
    let (ahead, width) = (j - i, if C > 0 { C } else { width });
    for z in part[i..].chunks(width) {
        let Some(to) = z.get(ahead..ahead + N) else { break };
        for lane in 0..LANES {
            for n in 0..N {
                sums[lane][n] = simd::mul_add::<M>([z[0][lane]; LANES], to[n], sums[lane][n]);
            }
        }
    }
    for (lane, sums) in sums.iter().enumerate() {
        let row = (LANES * i + lane) * width;
        for (n, sum) in sums.iter().enumerate() {
            square[row + j + n] = simd::add(square[row + j + n], *sum);
        }
    }
}

/// `C <- a C + A B`
struct AddProduct<'a, const C: usize> {
    to: &'a mut [Lanes],
    a: f64,
    part: &'a [Lanes],
    /// Row after row.
    by: &'a [Lanes],
    width: usize,
}

impl<const C: usize> Kernel for AddProduct<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        let Self { to, a, part, by, width } = self;
        if C == 0 {
            return add_in_place::<M>(to, a, part, by, width);
        }
        // As many rows at a time as there are registers for, and enough that no sum waits for itself.
        let (to, part) = if C <= 3 || M::WIDTH > LANES {
            add_rows_by::<M, C, 4>(m, to, a, part, by)
        } else {
            add_rows_by::<M, C, 2>(m, to, a, part, by)
        };
        add_rows_by::<M, C, 1>(m, to, a, part, by);
    }
}

/// Rows of any width.
#[inline(always)]
fn add_in_place<M: Machine>(to: &mut [Lanes], a: f64, z: &[Lanes], by: &[Lanes], width: usize) {
    for (to, z) in to.chunks_exact_mut(width).zip(z.chunks_exact(width)) {
        to.iter_mut().for_each(|to| *to = simd::mul([a; LANES], *to));
        for (number, by) in z.as_flattened().iter().zip(by.chunks_exact(width)) {
            for (to, by) in to.iter_mut().zip(by) {
                *to = simd::mul_add::<M>([*number; LANES], *by, *to);
            }
        }
    }
}

/// As many rows of the product as `N` at a time make up; the rest comes back.
#[inline(always)]
fn add_rows_by<'t, 'z, M: Machine, const C: usize, const N: usize>(
    m: M,
    to: &'t mut [Lanes],
    a: f64,
    z: &'z [Lanes],
    by: &[Lanes],
) -> (&'t mut [Lanes], &'z [Lanes]) {
    let (whole, rest) = z.as_chunks::<C>();
    let (whole_to, to_rest) = to.as_chunks_mut::<C>();
    debug_assert!(rest.is_empty() && to_rest.is_empty());
    let (z, z_rest) = whole.as_chunks::<N>();
    let (to, to_rest) = whole_to.as_chunks_mut::<N>();
    for (to, z) in to.iter_mut().zip(z) {
        add_rows(m, to, a, z, by);
    }
    (to_rest.as_flattened_mut(), z_rest.as_flattened())
}

/// `N` rows of the product.
#[inline(always)]
fn add_rows<M: Machine, const C: usize, const N: usize>(
    m: M,
    to: &mut [[Lanes; C]; N],
    a: f64,
    z: &[[Lanes; C]; N],
    by: &[Lanes],
) {
    let mut sums = [Held::<M, C>::zero(m); N];
    for n in 0..N {
        sums[n].add(m, a, &Held::load(m, &to[n]));
    }
    for (i, by) in by.as_chunks::<C>().0.iter().enumerate() {
        let by = Held::load(m, by);
        for n in 0..N {
            sums[n].add(m, z[n][i / LANES][i % LANES], &by);
        }
    }
    for n in 0..N {
        sums[n].store(m, &mut to[n]);
    }
}

/// A row of factors as a machine holds it: as many numbers at a time as it can, and the four that may
/// be left.
#[derive(Clone, Copy)]
struct Held<M: Machine, const C: usize> {
    /// The first [`Self::WHOLE`] of them.
    many: [M::Many; C],
    last: Lanes,
}

impl<M: Machine, const C: usize> Held<M, C> {
    const WHOLE: usize = C * LANES / M::WIDTH;
    const ODD: bool = !(C * LANES).is_multiple_of(M::WIDTH);

    #[inline(always)]
    fn zero(m: M) -> Self {
        Self { many: [m.splat(0.0); C], last: ZERO }
    }

    #[inline(always)]
    fn load(m: M, row: &[Lanes; C]) -> Self {
        let mut held = Self::zero(m);
        for i in 0..Self::WHOLE {
            held.many[i] = m.load(&row.as_flattened()[i * M::WIDTH..]);
        }
        if Self::ODD {
            held.last = row[C - 1];
        }
        held
    }

    /// Adds `number row`.
    #[inline(always)]
    fn add(&mut self, m: M, number: f64, row: &Self) {
        for i in 0..Self::WHOLE {
            self.many[i] = m.mul_add(m.splat(number), row.many[i], self.many[i]);
        }
        if Self::ODD {
            self.last = simd::mul_add::<M>([number; LANES], row.last, self.last);
        }
    }

    #[inline(always)]
    fn store(&self, m: M, row: &mut [Lanes; C]) {
        for i in 0..Self::WHOLE {
            m.store(self.many[i], &mut row.as_flattened_mut()[i * M::WIDTH..]);
        }
        if Self::ODD {
            row[C - 1] = self.last;
        }
    }
}

/// How many rows of a matrix are worked on in one go, whatever the number of threads, and from how
/// many numbers on a second thread is worth having.
const ROWS: usize = 1 << 6;
pub(crate) const WORTH_A_THREAD: usize = 1 << 17;

/// `A w` for a matrix given by its rows.
pub(crate) fn times(rows: &[&[f64]], w: &[f64]) -> Vec<f64> {
    let mut products = vec![0.0; rows.len()];
    let parts = products.chunks_mut(ROWS).zip(rows.chunks(ROWS));
    each(parts, rows.len() * w.len(), |(products, rows)| {
        simd::dispatch(Times { rows, w, products })
    });
    products
}

/// `A'g` for a matrix given by its rows, nothing where there are none.
pub(crate) fn transpose_times(rows: &[&[f64]], g: &[f64]) -> Vec<f64> {
    let size = rows.first().map_or(0, |row| row.len());
    let parts = rows.chunks(ROWS).zip(g.chunks(ROWS));
    let sums =
        each(parts, rows.len() * size, |(rows, g)| simd::dispatch(SumOfRows { rows, g, size }));
    let mut sum = vec![0.0; size];
    sums.iter().for_each(|part| linalg::add_scaled(&mut sum, 1.0, part));
    sum
}

/// Works on parts of so many numbers in all: on one thread where they are few.
fn each<T: Send, R: Send>(
    parts: impl Iterator<Item = T>,
    numbers: usize,
    work: impl Fn(T) -> R + Sync + Send,
) -> Vec<R> {
    if numbers < WORTH_A_THREAD {
        parts.map(work).collect()
    } else {
        in_turn(parts, || (), |(), part| work(part))
    }
}

/// `A w` for some rows.
struct Times<'a> {
    rows: &'a [&'a [f64]],
    w: &'a [f64],
    products: &'a mut [f64],
}

impl Kernel for Times<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self, m: M) {
        // Four rows at a time, or each addition would wait for the one before.
        let (rows, rest) = self.rows.as_chunks::<4>();
        let (fours, one_by_one) = self.products.split_at_mut(4 * rows.len());
        for (rows, products) in rows.iter().zip(fours.chunks_exact_mut(4)) {
            products.copy_from_slice(&dots(m, *rows, self.w));
        }
        for (row, product) in rest.iter().zip(one_by_one) {
            [*product] = dots(m, [*row], self.w);
        }
    }
}

/// `a . w` for `N` rows `a`.
#[inline(always)]
fn dots<M: Machine, const N: usize>(m: M, rows: [&[f64]; N], w: &[f64]) -> [f64; N] {
    let (rows, whole) = (rows.map(|row| &row[..w.len()]), w.len() / M::WIDTH * M::WIDTH);
    let mut sums = [m.splat(0.0); N];
    for k in (0..whole).step_by(M::WIDTH) {
        let w = m.load(&w[k..]);
        for (sum, row) in sums.iter_mut().zip(rows) {
            *sum = m.mul_add(m.load(&row[k..]), w, *sum);
        }
    }
    let mut dots = sums.map(|sum| m.sum(sum));
    for k in whole..w.len() {
        for (dot, row) in dots.iter_mut().zip(rows) {
            *dot += row[k] * w[k];
        }
    }
    dots
}

/// `A'g` for some rows.
struct SumOfRows<'a> {
    rows: &'a [&'a [f64]],
    g: &'a [f64],
    size: usize,
}

impl Kernel for SumOfRows<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<M: Machine>(self, _: M) -> Vec<f64> {
        let add = |g: f64, a: f64, sum: f64| if M::FMA { g.mul_add(a, sum) } else { g * a + sum };
        let mut sum = vec![0.0; self.size];
        // Four rows at a time, or most of the time would go into sums on their way to memory.
        let (rows, rest) = self.rows.as_chunks::<4>();
        let (g, g_rest) = self.g.as_chunks::<4>();
        for (rows, g) in rows.iter().zip(g).filter(|(_, g)| **g != [0.0; 4]) {
            let [a, b, c, d] = rows.map(|row| &row[..self.size]);
            for (j, sum) in sum.iter_mut().enumerate() {
                let more = add(g[0], a[j], g[1] * b[j]);
                *sum += add(g[3], d[j], add(g[2], c[j], more));
            }
        }
        for (row, &g) in rest.iter().zip(g_rest) {
            sum.iter_mut().zip(*row).for_each(|(sum, a)| *sum = add(g, *a, *sum));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Plain;

    fn numbers(count: usize, seed: f64) -> Vec<Lanes> {
        (0..count)
            .map(|k| std::array::from_fn(|i| ((LANES * k + i) as f64 * 1.7 + seed).sin()))
            .collect()
    }

    #[test]
    fn products_are_those_of_a_general_library_at_any_width_and_length() {
        for width in [1, 2, 3, 4, 5, 8, 9] {
            let size = LANES * width;
            for rows in [1, 2, NEAR - 1, 2 * PART + 3] {
                let sides = [numbers(rows * width, 0.3), numbers((rows + 1) * width, 0.9)];
                let by = [numbers(size * width, 1.3), numbers(size * width, 2.1)];
                let square = squares([&sides[0], &sides[1]], width);
                let before = [numbers(rows * width, 3.3), numbers((rows + 1) * width, 4.1)];
                let mut to = before.clone();
                let [first, second] = &mut to;
                let matrices = [by[0].as_flattened(), by[1].as_flattened()];
                add_products([first, second], -0.7, [&sides[0], &sides[1]], matrices, width);
                for s in 0..2 {
                    let z = sides[s].as_flattened();
                    let mut expected = vec![0.0; size * size];
                    linalg::add_transpose_times(&mut expected, 1.0, z, size);
                    let gap = |a: &[f64], b: &[f64]| {
                        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
                    };
                    assert!(gap(&square[s], &expected) < 1e-11 * rows as f64);
                    let mut expected = before[s].as_flattened().to_vec();
                    expected.iter_mut().for_each(|c| *c *= -0.7);
                    linalg::add_product(&mut expected, 1.0, z, matrices[s], size);
                    assert!(gap(to[s].as_flattened(), &expected) < 1e-12 * size as f64);
                    // Without the last two rows of the matrix, and of the columns that meet them.
                    let mut short = sides[s].clone();
                    short.chunks_mut(width).for_each(|z| z[width - 1][2..].fill(0.0));
                    let mut both = [before[s].clone(), before[s].clone()];
                    let matrix = &matrices[s];
                    for (to, by) in both.iter_mut().zip([matrix, &matrix[..(size - 2) * size]]) {
                        add_product(to, 0.3, &short, by, width);
                    }
                    assert_eq!(both[0], both[1]);
                }
            }
        }
    }

    #[test]
    fn a_machine_that_holds_four_finds_the_same_as_one_that_holds_more() {
        fn same<const C: usize>() {
            let (size, rows) = (LANES * C, 7);
            let (z, by) = (numbers(rows * C, 0.4), numbers(size * C, 1.7));
            let mut both = [numbers(rows * C, 2.2), numbers(rows * C, 2.2)];
            let [four, most] = &mut both;
            let a = -1.3;
            AddProduct::<C> { to: four, a, part: &z, by: &by, width: C }.run(Plain::<true>);
            simd::dispatch_wide(AddProduct::<C> { to: most, a, part: &z, by: &by, width: C });
            let gap =
                four.as_flattened().iter().zip(most.as_flattened()).map(|(a, b)| (a - b).abs());
            assert!(gap.fold(0.0, f64::max) < 1e-12, "{C}");
        }
        same::<1>();
        same::<2>();
        same::<3>();
        same::<4>();
        same::<7>();
    }

    #[test]
    fn products_with_vectors_are_sums_over_rows_and_columns() {
        for (rows, size) in [(1usize, 1usize), (3, 7), (700, 42), (3000, 45)] {
            let a = numbers((rows * size).div_ceil(LANES), 0.4);
            let a: Vec<&[f64]> = a.as_flattened()[..rows * size].chunks(size).collect();
            let (w, mut g) = (numbers(size, 1.1), numbers(rows, 2.2));
            let (w, g) = (&w.as_flattened()[..size], &mut g.as_flattened_mut()[..rows]);
            g[rows / 2] = 0.0;
            let bound = 1e-13 * (rows + size) as f64;
            for (row, product) in a.iter().zip(times(&a, w)) {
                assert!((product - linalg::dot(row, w)).abs() < bound);
            }
            for (j, sum) in transpose_times(&a, g).into_iter().enumerate() {
                let direct: f64 = a.iter().zip(&*g).map(|(row, g)| row[j] * g).sum();
                assert!((sum - direct).abs() < bound);
            }
        }
    }
}
