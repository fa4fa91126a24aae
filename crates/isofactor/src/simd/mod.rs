//! The only folder that names the vectorising crate: several numbers at a time, on whatever the
//! processor offers.
//!
//! A [`Kernel`] is written once; [`dispatch`] runs the copy of it that was compiled for the
//! processor at hand, and tells it of the [`Machine`] it runs on. With a fused multiply-add, or where
//! more numbers are added up at a time, the last bits of a result may differ from another kind of
//! processor; on one and the same they never do.
//!
//! Most kernels work on [`Lanes`] by the functions here, and the compiler finds the instructions.
//! It finds poor ones where numbers come from several places and are exchanged among each other,
//! and never more than four at a time; a kernel for which that counts works on what the machine
//! holds, [`Machine::Many`], and is run by [`dispatch_wide`], on eight at a time where there is a
//! processor for it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;

pub(crate) use plain::Plain;

/// Four numbers that are worked on together.
pub(crate) type Lanes = [f64; LANES];
/// How many numbers are worked on together.
pub(crate) const LANES: usize = 4;
/// No numbers yet.
pub(crate) const ZERO: Lanes = [0.0; LANES];

/// Work that is compiled for several kinds of processors. Everything it calls must be
/// `#[inline(always)]`, or it stays as slow as on the oldest of them.
pub(crate) trait Kernel {
    /// What comes of it.
    type Output;
    /// Does the work on a machine.
    fn run<M: Machine>(self, machine: M) -> Self::Output;
}

/// A kind of processor, and what it does with as many numbers at once as it holds.
pub(crate) trait Machine: Copy {
    /// Whether [`mul_add`] is one instruction.
    const FMA: bool;
    /// How many numbers it holds together: a multiple of four.
    const WIDTH: usize;
    /// So many numbers as it holds them.
    type Many: Copy;
    /// So many numbers in memory, never on two lines of the cache.
    type Row: Copy + Default + AsRef<[f64]> + AsMut<[f64]>;

    /// The first numbers of a list.
    fn load(self, from: &[f64]) -> Self::Many;
    /// Writes to the first places of a list.
    fn store(self, many: Self::Many, to: &mut [f64]);
    /// The same number everywhere.
    fn splat(self, number: f64) -> Self::Many;
    /// `a b + c`
    fn mul_add(self, a: Self::Many, b: Self::Many, c: Self::Many) -> Self::Many;
    /// `a b`
    fn mul(self, a: Self::Many, b: Self::Many) -> Self::Many;
    /// `a + b`
    fn add(self, a: Self::Many, b: Self::Many) -> Self::Many;
    /// `a - b`
    fn sub(self, a: Self::Many, b: Self::Many) -> Self::Many;
    /// The larger of `|x|` and `size` each; `size` where `x` is not a number.
    fn larger(self, x: Self::Many, size: Self::Many) -> Self::Many;
    /// Numbers whose upper bits are the lower half of those of `a`, and whose others are zero.
    fn lower_half(self, a: Self::Many) -> Self::Many;
    /// Fours of a table, turned: `b[i][j]` is the number `i` of the one that `places[j]` has in its
    /// lowest bits. They are counted around: the table's length is a power of two.
    fn gather(self, table: &[Four], places: &Self::Row) -> [Self::Many; LANES];
    /// Counts four entries at the places that they have in the lowest bits, each in the next of the tallies
    /// there in turn. Places are counted around: their number is a power of two.
    fn tally(self, tallies: &mut [[Tally; TURNS]], places: &Lanes, t: &Lanes, y: &Lanes);
    /// Asks for what lies so many places from the beginning, there or not, to be at hand soon.
    fn fetch<T>(self, from: &[T], place: usize);

    /// The numbers in memory.
    #[inline(always)]
    fn row(self, many: Self::Many) -> Self::Row {
        let mut row = Self::Row::default();
        self.store(many, row.as_mut());
        row
    }

    /// Some numbers, at least one and at most as many as it holds, the last one repeated.
    #[inline(always)]
    fn filled(self, from: &[f64]) -> Self::Many {
        let mut row = Self::Row::default();
        row.as_mut().fill(from[from.len() - 1]);
        row.as_mut()[..from.len()].copy_from_slice(from);
        self.load(row.as_ref())
    }

    /// The sum of all, always in the same order.
    #[inline(always)]
    fn sum(self, many: Self::Many) -> f64 {
        let row = self.row(many);
        let (fours, _) = row.as_ref().as_chunks::<LANES>();
        sum(fours.iter().fold(ZERO, |sum, four| add(sum, *four)))
    }
}

/// Four numbers, so placed that they never lie on two lines of the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(align(32))]
pub(crate) struct Four(pub Lanes);

impl AsRef<[f64]> for Four {
    #[inline(always)]
    fn as_ref(&self) -> &[f64] {
        &self.0
    }
}

impl AsMut<[f64]> for Four {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [f64] {
        &mut self.0
    }
}

/// How many tallies of a place entries take in turn: those that follow each other then seldom wait for each
/// other. More of them no longer stay in the fastest cache.
pub(crate) const TURNS: usize = 2;

/// What some entries come to: sums of powers of a number each has, and of these times another. One line of the
/// cache.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(align(64))]
pub(crate) struct Tally {
    /// `sum_k t_k^p`, `p < 4`
    pub counts: Lanes,
    /// `sum_k y_k t_k^p`, `p < 4`
    pub sums: Lanes,
}

impl Tally {
    /// Counts an entry.
    #[inline(always)]
    pub fn count<M: Machine>(&mut self, t: f64, y: f64) {
        let square = t * t;
        let powers = [1.0, t, square, t * square];
        self.counts = add(self.counts, powers);
        self.sums = mul_add::<M>(powers, [y; LANES], self.sums);
    }
}

/// The numbers of four places in a table, counted around.
#[inline(always)]
pub(crate) fn around(length: usize, places: Lanes) -> [usize; LANES] {
    places.map(|place| place.to_bits() as usize & (length - 1))
}

/// Runs a kernel as well as this processor can, four numbers at a time.
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(machine) = pulp::x86::V3::try_new() {
        return machine.vectorize(On(kernel, machine));
    }
    struct Dispatched<K>(K);
    impl<K: Kernel> pulp::WithSimd for Dispatched<K> {
        type Output = K::Output;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _: S) -> K::Output {
            // One lane is the fallback without vectors, where fusing is a slow library call.
            if S::F64_LANES > 1 { self.0.run(Plain::<true>) } else { self.0.run(Plain::<false>) }
        }
    }
    pulp::Arch::new().dispatch(Dispatched(kernel))
}

/// Runs a kernel on as many numbers at a time as this processor holds. For kernels that work on
/// [`Machine::Many`]: others are no faster by it.
pub(crate) fn dispatch_wide<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(machine) = pulp::x86::V4::try_new() {
        return machine.vectorize(On(kernel, machine));
    }
    dispatch(kernel)
}

/// A kernel on a machine.
#[cfg(target_arch = "x86_64")]
struct On<K, M>(K, M);

#[cfg(target_arch = "x86_64")]
impl<K: Kernel, M: Machine> pulp::NullaryFnOnce for On<K, M> {
    type Output = K::Output;
    #[inline(always)]
    fn call(self) -> K::Output {
        self.0.run(self.1)
    }
}

/// Runs a kernel with its width `C` known to the compiler where it is at most eight (rank 32);
/// width 0 stands for any other, read from what it works on. By [`dispatch_wide`] where it says so.
macro_rules! by_width {
    (wide, $width:expr, $kernel:ident $fields:tt) => {
        $crate::simd::by_width!(@ dispatch_wide, $width, $kernel $fields)
    };
    ($width:expr, $kernel:ident $fields:tt) => {
        $crate::simd::by_width!(@ dispatch, $width, $kernel $fields)
    };
    (@ $dispatch:ident, $width:expr, $kernel:ident $fields:tt) => {
        match $width {
            1 => $crate::simd::$dispatch($kernel::<1> $fields),
            2 => $crate::simd::$dispatch($kernel::<2> $fields),
            3 => $crate::simd::$dispatch($kernel::<3> $fields),
            4 => $crate::simd::$dispatch($kernel::<4> $fields),
            5 => $crate::simd::$dispatch($kernel::<5> $fields),
            6 => $crate::simd::$dispatch($kernel::<6> $fields),
            7 => $crate::simd::$dispatch($kernel::<7> $fields),
            8 => $crate::simd::$dispatch($kernel::<8> $fields),
            _ => $crate::simd::$dispatch($kernel::<0> $fields),
        }
    };
}
pub(crate) use by_width;

/// `a b + c`
#[inline(always)]
pub(crate) fn mul_add<M: Machine>(a: Lanes, b: Lanes, c: Lanes) -> Lanes {
    std::array::from_fn(|i| if M::FMA { a[i].mul_add(b[i], c[i]) } else { a[i] * b[i] + c[i] })
}

/// `a b`
#[inline(always)]
pub(crate) fn mul(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i] * b[i])
}

/// `a + b`
#[inline(always)]
pub(crate) fn add(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i] + b[i])
}

/// `a - b`
#[inline(always)]
pub(crate) fn sub(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i] - b[i])
}

/// `a / b`
#[inline(always)]
pub(crate) fn div(a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| a[i] / b[i])
}

/// The sum of the four.
#[inline(always)]
pub(crate) fn sum(a: Lanes) -> f64 {
    (a[0] + a[2]) + (a[1] + a[3])
}

/// Writes as many of the four as there is room for.
#[inline(always)]
pub(crate) fn store(from: Lanes, to: &mut [f64]) {
    match to.first_chunk_mut::<LANES>() {
        Some(to) => *to = from,
        None => to.copy_from_slice(&from[..to.len()]),
    }
}

/// The first `live` numbers, and zeros.
#[inline(always)]
pub(crate) fn only<M: Machine>(m: M, many: M::Many, live: usize) -> M::Many {
    let mut row = m.row(many);
    row.as_mut()[live..].fill(0.0);
    m.load(row.as_ref())
}

/// One to four numbers, the last one repeated.
#[inline(always)]
pub(crate) fn filled(from: &[f64]) -> Lanes {
    let mut four = [from[from.len() - 1]; LANES];
    four[..from.len()].copy_from_slice(from);
    four
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many numbers are worked on: a multiple of what any machine holds.
    const ALL: usize = 8;
    /// How many fours a table has.
    const LENGTH: usize = 4;
    /// The table.
    const TABLE: [Four; LENGTH] = [
        Four([1.0, 2.0, 3.0, 4.0]),
        Four([5.0, 6.0, 7.0, 8.0]),
        Four([-1.0, -2.0, -3.0, -4.0]),
        Four([0.5, 0.25, 0.125, 0.0]),
    ];
    /// Numbers of fours beyond the table, some of them the same.
    const PLACES: [u64; ALL] = [4, 1, 1, 7, 0, 2, 5, 2];

    /// What a machine makes of each of some numbers by itself, of a table, and of sums to one.
    struct Everything([[f64; ALL]; 3]);

    impl Kernel for Everything {
        type Output = Vec<Vec<f64>>;

        #[inline(always)]
        fn run<M: Machine>(self, m: M) -> Vec<Vec<f64>> {
            let mut found = vec![Vec::new(); 7];
            let mut fours = vec![Vec::new(); ALL];
            let mut tallies = [[Tally::default(); TURNS]; LENGTH];
            m.fetch(&TABLE, 1000);
            for first in (0..ALL).step_by(M::WIDTH) {
                let [a, b, c] = [0, 1, 2].map(|i| m.load(&self.0[i][first..]));
                let each = [
                    m.mul_add(a, b, c),
                    m.mul(a, b),
                    m.add(a, b),
                    m.sub(a, b),
                    m.larger(a, b),
                    m.lower_half(a),
                    m.splat(self.0[0][1]),
                ];
                for (found, many) in found.iter_mut().zip(each) {
                    found.extend(m.row(many).as_ref());
                }
                let mut places = M::Row::default();
                for (place, number) in places.as_mut().iter_mut().zip(&PLACES[first..]) {
                    *place = f64::from_bits(*number);
                }
                let turned = m.gather(&TABLE, &places).map(|many| m.row(many));
                for (j, four) in fours[first..first + M::WIDTH].iter_mut().enumerate() {
                    four.extend(turned.iter().map(|row| row.as_ref()[j]));
                }
                let (a, b) = (m.row(a), m.row(b));
                let [places, a, b] =
                    [places.as_ref(), a.as_ref(), b.as_ref()].map(|row| row.as_chunks::<LANES>().0);
                for ((places, a), b) in places.iter().zip(a).zip(b) {
                    m.tally(&mut tallies, places, a, b);
                }
            }
            let tallies = tallies.as_flattened().iter().flat_map(|t| [t.counts, t.sums]);
            let total = m.sum(m.load(&self.0[2]));
            let some = m.row(m.filled(&self.0[1][..3]));
            found.extend(fours);
            found.extend([tallies.flatten().collect(), vec![total; 1]]);
            found.push(some.as_ref()[..LANES].to_vec());
            found
        }
    }

    /// Numbers of few digits, whose sums are exact in any order; `gap` is one of them.
    fn lists(gap: f64) -> [[f64; ALL]; 3] {
        let mut lists =
            [0, 1, 2].map(|i| std::array::from_fn(|k| ((7 * k + 3 * i) % 11) as f64 / 8.0 - 0.5));
        lists[0][5] = gap;
        lists
    }

    #[test]
    fn every_machine_finds_the_same_bits() {
        for gap in [-3.5, f64::NAN] {
            let lists = || Everything(lists(gap));
            let bits = |found: Vec<Vec<f64>>| -> Vec<Vec<u64>> {
                found.into_iter().map(|list| list.into_iter().map(f64::to_bits).collect()).collect()
            };
            let mut expected = bits(lists().run(Plain::<false>));
            assert_eq!(bits(dispatch(lists())), expected);
            assert_eq!(bits(lists().run(Plain::<true>)), expected);
            let wide = bits(dispatch_wide(lists()));
            // The sum is that of as many numbers as the machine holds.
            let total = expected.len() - 2;
            expected[total].clone_from(&wide[total]);
            assert_eq!(wide, expected);
        }
    }

    #[test]
    fn fours_come_from_their_places_and_entries_are_counted_at_them() {
        let [a, b, c] = lists(-3.5);
        let found = dispatch_wide(Everything([a, b, c]));
        let mut sums = [[[ZERO; 2]; TURNS]; LENGTH];
        for k in 0..ALL {
            let place = PLACES[k] as usize % LENGTH;
            assert_eq!(found[7 + k], TABLE[place].0);
            let powers = [0, 1, 2, 3].map(|p| a[k].powi(p));
            let [counts, weighted] = &mut sums[place][k % TURNS];
            *counts = add(*counts, powers);
            *weighted = add(*weighted, powers.map(|power| b[k] * power));
        }
        assert_eq!(found[7 + ALL], sums.as_flattened().as_flattened().as_flattened());
        let total = found[8 + ALL][0];
        assert!([4, 8].map(|width| c[..width].iter().sum::<f64>()).contains(&total));
        assert_eq!(found[9 + ALL], [b[0], b[1], b[2], b[2]]);
    }

    #[test]
    fn a_size_is_kept_where_there_is_no_number() {
        let found = dispatch_wide(Everything(lists(f64::NAN)));
        assert_eq!(found[4][5], lists(0.0)[1][5]);
    }

    #[test]
    fn filling_up_repeats_the_last() {
        assert_eq!(filled(&[2.0, 3.0]), [2.0, 3.0, 3.0, 3.0]);
        assert_eq!(filled(&[1.0, 2.0, 3.0, 4.0]), [1.0, 2.0, 3.0, 4.0]);
    }
}
