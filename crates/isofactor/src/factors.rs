//! A few numbers per row and per column, and the scores they make.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    linalg,
    observations::{Shape, Side},
    products,
    simd::{self, Kernel, LANES, Lanes, Machine, ZERO},
};

/// How many rows or columns are worked on in one go, whatever the number of threads.
pub(crate) const CHUNK: usize = 1 << 11;

/// The factors of rows (`U`) and columns (`V`); stacked they are the paper's `Z = [U; V]`.
///
/// They are held four abreast, as the passes over the entries read them; what is left of the last
/// four is zero and stays so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Factors {
    rank: usize,
    rows: Vec<Lanes>,
    columns: Vec<Lanes>,
}

/// A square matrix for each side, row after row, four abreast like the factors themselves.
#[derive(Debug)]
pub(crate) struct Turn {
    pub rows: Vec<f64>,
    pub columns: Vec<f64>,
}

impl Turn {
    /// For what is measured along factors that turn and keep their scores: the gradient of a
    /// function of the scores turns with the other side's matrix.
    pub fn opposite(&self) -> Turn {
        Turn { rows: self.columns.clone(), columns: self.rows.clone() }
    }
}

impl Factors {
    /// All zero.
    pub fn zeros(shape: Shape, rank: usize) -> Self {
        let width = rank.div_ceil(LANES);
        let zeros = |count: usize| vec![ZERO; count * width];
        Self { rank, rows: zeros(shape.rows), columns: zeros(shape.columns) }
    }

    /// From numbers laid out row after row; `None` when their count is no multiple of the rank.
    pub fn from_vecs(rank: usize, rows: Vec<f64>, columns: Vec<f64>) -> Option<Self> {
        let whole =
            rank > 0 && rows.len().is_multiple_of(rank) && columns.len().is_multiple_of(rank);
        let shape = || Shape { rows: rows.len() / rank, columns: columns.len() / rank };
        let mut factors = whole.then(|| Self::zeros(shape(), rank))?;
        factors.each_row_mut().zip(rows.chunks(rank)).for_each(|(z, from)| z.copy_from_slice(from));
        let pairs = factors.each_column_mut().zip(columns.chunks(rank));
        pairs.for_each(|(z, from)| z.copy_from_slice(from));
        Some(factors)
    }

    /// From numbers as they are held, four abreast; a side that is not needed may be empty.
    pub(crate) fn from_held(rank: usize, rows: Vec<Lanes>, columns: Vec<Lanes>) -> Self {
        Self { rank, rows, columns }
    }

    /// Factors per row and column (`r`).
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many times four numbers each row and column takes.
    pub(crate) fn width(&self) -> usize {
        self.rank.div_ceil(LANES)
    }

    /// Rows and columns of the matrix they describe.
    pub fn shape(&self) -> Shape {
        let width = self.width();
        Shape { rows: self.rows.len() / width, columns: self.columns.len() / width }
    }

    /// Whether others are of the same shape and rank.
    pub(crate) fn is_like(&self, other: &Factors) -> bool {
        self.rank == other.rank && self.shape() == other.shape()
    }

    /// The factors of a row (`u_i`).
    pub fn row(&self, row: usize) -> &[f64] {
        &self.rows[row * self.width()..].as_flattened()[..self.rank]
    }

    /// The factors of a column (`v_t`).
    pub fn column(&self, column: usize) -> &[f64] {
        &self.columns[column * self.width()..].as_flattened()[..self.rank]
    }

    /// The factors of each row.
    pub fn each_row(&self) -> impl Iterator<Item = &[f64]> {
        self.rows.chunks_exact(self.width()).map(|z| &z.as_flattened()[..self.rank])
    }

    /// The factors of each column.
    pub fn each_column(&self) -> impl Iterator<Item = &[f64]> {
        self.columns.chunks_exact(self.width()).map(|z| &z.as_flattened()[..self.rank])
    }

    /// The factors of all rows, row after row.
    pub fn rows(&self) -> Vec<f64> {
        self.each_row().flatten().copied().collect()
    }

    /// The factors of all columns, column after column.
    pub fn columns(&self) -> Vec<f64> {
        self.each_column().flatten().copied().collect()
    }

    pub(crate) fn each_row_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        let (width, rank) = (self.width(), self.rank);
        self.rows.chunks_exact_mut(width).map(move |z| &mut z.as_flattened_mut()[..rank])
    }

    pub(crate) fn each_column_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        let (width, rank) = (self.width(), self.rank);
        self.columns.chunks_exact_mut(width).map(move |z| &mut z.as_flattened_mut()[..rank])
    }

    /// The factors of each row, then of each column, on all threads.
    pub(crate) fn units(&self) -> impl IndexedParallelIterator<Item = &[f64]> {
        let (width, rank) = (self.width(), self.rank);
        let units = self.rows.par_chunks_exact(width).chain(self.columns.par_chunks_exact(width));
        units.map(move |z| &z.as_flattened()[..rank]).with_min_len(CHUNK)
    }

    /// The same, to be changed.
    pub(crate) fn units_mut(&mut self) -> impl IndexedParallelIterator<Item = &mut [f64]> {
        let (width, rank) = (self.width(), self.rank);
        let rows = self.rows.par_chunks_exact_mut(width);
        let units = rows.chain(self.columns.par_chunks_exact_mut(width));
        units.map(move |z| &mut z.as_flattened_mut()[..rank]).with_min_len(CHUNK)
    }

    /// The factors of all rows as they are held.
    pub(crate) fn held_rows(&self) -> &[Lanes] {
        &self.rows
    }

    /// The factors of all columns as they are held.
    pub(crate) fn held_columns(&self) -> &[Lanes] {
        &self.columns
    }

    /// The factors of both sides, to be changed.
    pub(crate) fn both_mut(&mut self) -> (&mut [Lanes], &mut [Lanes]) {
        (&mut self.rows, &mut self.columns)
    }

    /// The factors of a side as they are held.
    pub(crate) fn held(&self, side: Side) -> &[Lanes] {
        match side {
            Side::Rows => &self.rows,
            Side::Columns => &self.columns,
        }
    }

    pub(crate) fn held_mut(&mut self, side: Side) -> &mut [Lanes] {
        self.sides_mut(side).0
    }

    /// The factors of a side, to be changed, and those of the other.
    pub(crate) fn sides_mut(&mut self, side: Side) -> (&mut [Lanes], &[Lanes]) {
        match side {
            Side::Rows => (&mut self.rows, &self.columns),
            Side::Columns => (&mut self.columns, &self.rows),
        }
    }

    /// The factors of a side, with nothing for the other.
    pub(crate) fn only(&self, side: Side) -> Factors {
        let (held, none) = (self.held(side).to_vec(), Vec::new());
        match side {
            Side::Rows => Self::from_held(self.rank, held, none),
            Side::Columns => Self::from_held(self.rank, none, held),
        }
    }

    /// The score of an entry: `x = <A_k, ZZ'> = u_i . v_t`.
    #[inline]
    pub fn score(&self, row: usize, column: usize) -> f64 {
        linalg::dot(self.row(row), self.column(column))
    }

    /// `Z + a S`
    pub fn moved(&self, a: f64, direction: &Factors) -> Factors {
        let side = |z: &[Lanes], s: &[Lanes]| -> Vec<Lanes> {
            let pairs = z.par_iter().with_min_len(CHUNK).zip(s);
            pairs.map(|(z, s)| std::array::from_fn(|i| z[i] + a * s[i])).collect()
        };
        Factors {
            rank: self.rank,
            rows: side(&self.rows, &direction.rows),
            columns: side(&self.columns, &direction.columns),
        }
    }

    /// `self <- a self`
    pub(crate) fn scale(&mut self, a: f64) {
        for side in [&mut self.rows, &mut self.columns] {
            side.par_chunks_mut(CHUNK)
                .for_each(|z| z.as_flattened_mut().iter_mut().for_each(|z| *z *= a));
        }
    }

    /// `self <- self + a S`, on the sides that both have.
    pub(crate) fn add(&mut self, a: f64, direction: &Factors) {
        for side in [Side::Rows, Side::Columns] {
            let (to, from) = (self.held_mut(side), direction.held(side));
            to.par_iter_mut().with_min_len(CHUNK).zip(from).for_each(|(to, from)| {
                *to = std::array::from_fn(|i| to[i] + a * from[i]);
            });
        }
    }

    /// Zeros in place of a unit's numbers, if its side is there.
    pub(crate) fn hold(&mut self, side: Side, unit: usize) {
        let width = self.width();
        if let Some(z) = self.held_mut(side).get_mut(unit * width..(unit + 1) * width) {
            z.fill(ZERO);
        }
    }

    /// Every number becomes what it makes with those of others at its place. What is to be summed
    /// on the way comes back: one pass where two or three would wait for memory.
    pub(crate) fn update<const N: usize, const S: usize>(
        &mut self,
        others: [&Factors; N],
        with: impl Fn(f64, [f64; N]) -> (f64, [f64; S]) + Sync,
    ) -> [f64; S] {
        let side = |to: &mut [Lanes], others: [&[Lanes]; N]| -> Vec<[f64; S]> {
            let chunks = to.par_chunks_mut(CHUNK).enumerate();
            let chunks = chunks.map(|(number, to)| {
                let others = others.map(|other| &other[number * CHUNK..][..to.len()]);
                simd::dispatch(Update { to, others, with: &with })
            });
            chunks.collect()
        };
        let mut parts = side(&mut self.rows, others.map(|other| &other.rows[..]));
        parts.extend(side(&mut self.columns, others.map(|other| &other.columns[..])));
        parts.iter().fold([0.0; S], |sums, part| std::array::from_fn(|i| sums[i] + part[i]))
    }

    /// Sums over what the numbers of several make at each place.
    pub(crate) fn sums<const N: usize, const S: usize>(
        of: [&Factors; N],
        term: impl Fn([f64; N]) -> [f64; S] + Sync,
    ) -> [f64; S] {
        let side = |of: [&[Lanes]; N]| -> Vec<[f64; S]> {
            let chunks = of[0].par_chunks(CHUNK).enumerate();
            let chunks = chunks.map(|(number, first)| {
                let of = of.map(|of| &of[number * CHUNK..][..first.len()]);
                simd::dispatch(Sums { of, term: &term })
            });
            chunks.collect()
        };
        let mut parts = side(of.map(|of| &of.rows[..]));
        parts.extend(side(of.map(|of| &of.columns[..])));
        parts.iter().fold([0.0; S], |sums, part| std::array::from_fn(|i| sums[i] + part[i]))
    }

    /// `<Z, W>`
    pub fn inner(&self, other: &Factors) -> f64 {
        let [sum] = Self::sums([self, other], |[z, w]| [z * w]);
        sum
    }

    /// `|Z|_F`
    pub fn norm(&self) -> f64 {
        self.inner(self).sqrt()
    }

    /// `|Z|_{2,inf}`: the length of the longest row of `Z`.
    pub fn longest_row(&self) -> f64 {
        self.lengths().fold(0.0, f64::max)
    }

    /// `mu = (n + T) |Z|_{2,inf}^2 / |Z|_F^2`, from 1 (all rows alike) to `n + T`.
    pub fn incoherence(&self) -> f64 {
        let Shape { rows, columns } = self.shape();
        (rows + columns) as f64 * self.longest_row().powi(2) / self.inner(self)
    }

    /// `beta = (4/3) sqrt(mu / (n+T)) |Z|_F`, which is four thirds of the longest row.
    pub fn radius(&self) -> f64 {
        let Shape { rows, columns } = self.shape();
        4.0 / 3.0 * (self.incoherence() / (rows + columns) as f64).sqrt() * self.norm()
    }

    /// `U'U` and `V'V`, row after row, four abreast like the factors themselves.
    pub(crate) fn squares(&self) -> [Vec<f64>; 2] {
        products::squares([&self.rows, &self.columns], self.width())
    }

    /// `Z <- a Z + [U A; V B]` for other factors `[U; V]` and matrices `A` and `B`.
    pub(crate) fn add_products(&mut self, a: f64, of: &Factors, by: [&[f64]; 2]) {
        let (width, by) = (self.width(), by.map(|by| of.of_rank(by)));
        let to = [&mut self.rows[..], &mut self.columns[..]];
        products::add_products(to, a, [&of.rows, &of.columns], by, width);
    }

    /// The rows of a square matrix that factors are multiplied by: those beyond the rank would meet
    /// nothing but zeros.
    pub(crate) fn of_rank<'b>(&self, by: &'b [f64]) -> &'b [f64] {
        &by[..self.rank * LANES * self.width()]
    }

    /// `[U A; V B]` for the matrices of a turn.
    pub(crate) fn turned(&self, by: &Turn) -> Factors {
        let mut turned = Factors::zeros(self.shape(), self.rank);
        turned.add_products(0.0, self, [&by.rows, &by.columns]);
        turned
    }

    fn lengths(&self) -> impl Iterator<Item = f64> + '_ {
        self.each_row().chain(self.each_column()).map(|z| linalg::dot(z, z).sqrt())
    }
}

/// `c <- a + s b`
pub(crate) fn combine(c: &mut [Lanes], a: &[Lanes], s: f64, b: &[Lanes]) {
    let with = |_, [a, b]: [f64; 2]| (a + s * b, []);
    let [] = simd::dispatch(Update { to: c, others: [a, b], with: &with });
}

/// Every number becomes what it makes with those of others at its place; sums on the way.
struct Update<'a, F, const N: usize> {
    to: &'a mut [Lanes],
    others: [&'a [Lanes]; N],
    with: &'a F,
}

impl<const N: usize, const S: usize, F> Kernel for Update<'_, F, N>
where
    F: Fn(f64, [f64; N]) -> (f64, [f64; S]),
{
    type Output = [f64; S];

    #[inline(always)]
    fn run<M: Machine>(self, _: M) -> [f64; S] {
        let mut sums = [ZERO; S];
        for (j, to) in self.to.iter_mut().enumerate() {
            let from = self.others.map(|other| other[j]);
            for lane in 0..LANES {
                let (value, terms) = (self.with)(to[lane], from.map(|from| from[lane]));
                to[lane] = value;
                (0..S).for_each(|i| sums[i][lane] += terms[i]);
            }
        }
        sums.map(simd::sum)
    }
}

/// Sums over what the numbers of several make at each place.
struct Sums<'a, F, const N: usize> {
    of: [&'a [Lanes]; N],
    term: &'a F,
}

impl<const N: usize, const S: usize, F> Kernel for Sums<'_, F, N>
where
    F: Fn([f64; N]) -> [f64; S],
{
    type Output = [f64; S];

    #[inline(always)]
    fn run<M: Machine>(self, _: M) -> [f64; S] {
        let mut sums = [ZERO; S];
        for j in 0..self.of[0].len() {
            let numbers = self.of.map(|of| of[j]);
            for lane in 0..LANES {
                let terms = (self.term)(numbers.map(|numbers| numbers[lane]));
                (0..S).for_each(|i| sums[i][lane] += terms[i]);
            }
        }
        sums.map(simd::sum)
    }
}

/// Factors row after row, without what fills up the fours.
#[derive(Serialize, Deserialize)]
struct Stored {
    rank: usize,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl From<Factors> for Stored {
    fn from(factors: Factors) -> Self {
        Self { rank: factors.rank, rows: factors.rows(), columns: factors.columns() }
    }
}

impl TryFrom<Stored> for Factors {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { rank, rows, columns } = stored;
        let finite = rows.iter().chain(&columns).all(|z| z.is_finite());
        let factors = Factors::from_vecs(rank, rows, columns).filter(|_| finite);
        factors.ok_or("the factors are damaged")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Factors {
        let rows = vec![1.0, 2.0, -1.0, 0.5, 3.0, 0.0];
        let columns = vec![0.2, 0.4, -2.0, 1.0];
        Factors::from_vecs(2, rows, columns).unwrap()
    }

    #[test]
    fn a_score_is_the_product_of_its_factors() {
        assert_eq!(sample().score(0, 1), -2.0 + 2.0);
        assert_eq!(sample().score(2, 0), 3.0 * 0.2);
    }

    #[test]
    fn the_radius_is_four_thirds_of_the_longest_row() {
        let z = sample();
        assert!((z.radius() - 4.0 / 3.0 * 3.0).abs() < 1e-14);
        let mu = 5.0 * 9.0 / (5.0 + 1.25 + 9.0 + 0.2 + 5.0);
        assert!((z.incoherence() - mu).abs() < 1e-12);
    }
}
