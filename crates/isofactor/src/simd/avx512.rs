//! x86 processors with AVX-512: eight numbers at a time.

use std::arch::x86_64::{__m256d, __m512d};

use pulp::{cast, x86::V4};

use super::{Four, LANES, Lanes, Machine, TURNS, Tally, around};

const WIDTH: usize = 8;

/// A line of the cache.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct Eight([f64; WIDTH]);

impl AsRef<[f64]> for Eight {
    #[inline(always)]
    fn as_ref(&self) -> &[f64] {
        &self.0
    }
}

impl AsMut<[f64]> for Eight {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [f64] {
        &mut self.0
    }
}

impl Eight {
    /// The places that its first four and its last four numbers have in tables of equal length.
    #[inline(always)]
    fn around(&self, length: usize) -> [[usize; LANES]; 2] {
        let fours = self.0.as_chunks::<LANES>().0;
        [around(length, fours[0]), around(length, fours[1])]
    }
}

/// Two fours side by side.
#[inline(always)]
fn beside(m: V4, a: &Lanes, b: &Lanes) -> __m512d {
    let [a, b]: [__m256d; 2] = [cast(*a), cast(*b)];
    m.avx512f._mm512_insertf64x4::<1>(m.avx512f._mm512_castpd256_pd512(a), b)
}

/// Both halves turned: `b[i][j] = a[j][i]` and `b[i][4 + j] = a[j][4 + i]`.
#[inline(always)]
fn turned(m: V4, [a, b, c, d]: [__m512d; LANES]) -> [__m512d; LANES] {
    let avx = m.avx512f;
    let (e, f) = (avx._mm512_unpacklo_pd(a, b), avx._mm512_unpackhi_pd(a, b));
    let (g, h) = (avx._mm512_unpacklo_pd(c, d), avx._mm512_unpackhi_pd(c, d));
    let lower = avx._mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let upper = avx._mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    [
        avx._mm512_permutex2var_pd(e, lower, g),
        avx._mm512_permutex2var_pd(f, lower, h),
        avx._mm512_permutex2var_pd(e, upper, g),
        avx._mm512_permutex2var_pd(f, upper, h),
    ]
}

impl Machine for V4 {
    const FMA: bool = true;
    const WIDTH: usize = WIDTH;
    type Many = __m512d;
    type Row = Eight;

    #[inline(always)]
    fn load(self, from: &[f64]) -> __m512d {
        cast(from.as_chunks::<WIDTH>().0[0])
    }
    #[inline(always)]
    fn store(self, many: __m512d, to: &mut [f64]) {
        to.as_chunks_mut::<WIDTH>().0[0] = cast(many);
    }
    #[inline(always)]
    fn splat(self, number: f64) -> __m512d {
        self.avx512f._mm512_set1_pd(number)
    }
    #[inline(always)]
    fn mul_add(self, a: __m512d, b: __m512d, c: __m512d) -> __m512d {
        self.avx512f._mm512_fmadd_pd(a, b, c)
    }
    #[inline(always)]
    fn mul(self, a: __m512d, b: __m512d) -> __m512d {
        self.avx512f._mm512_mul_pd(a, b)
    }
    #[inline(always)]
    fn add(self, a: __m512d, b: __m512d) -> __m512d {
        self.avx512f._mm512_add_pd(a, b)
    }
    #[inline(always)]
    fn sub(self, a: __m512d, b: __m512d) -> __m512d {
        self.avx512f._mm512_sub_pd(a, b)
    }
    #[inline(always)]
    fn larger(self, x: __m512d, size: __m512d) -> __m512d {
        self.avx512f._mm512_max_pd(self.avx512f._mm512_abs_pd(x), size)
    }
    #[inline(always)]
    fn lower_half(self, a: __m512d) -> __m512d {
        cast(self.avx512f._mm512_slli_epi64::<32>(cast(a)))
    }
    #[inline(always)]
    fn gather(self, table: &[Four], places: &Eight) -> [__m512d; LANES] {
        let [first, last] = places.around(table.len());
        let pair = |i: usize| beside(self, &table[first[i]].0, &table[last[i]].0);
        turned(self, [pair(0), pair(1), pair(2), pair(3)])
    }
    #[inline(always)]
    fn tally(self, tallies: &mut [[Tally; TURNS]], places: &Lanes, t: &Lanes, y: &Lanes) {
        Machine::tally(*self, tallies, places, t, y);
    }
    #[inline(always)]
    fn fetch<T>(self, from: &[T], place: usize) {
        Machine::fetch(*self, from, place);
    }
}
