//! x86 processors with AVX2 and a fused multiply-add: nearly all there are.

use std::arch::x86_64::{__m128d, __m256d, _MM_HINT_T0};

use pulp::{cast, x86::V3};

use super::{Four, LANES, Lanes, Machine, TURNS, Tally, around};

/// `b[i][j] = a[j][i]`
#[inline(always)]
fn turned(m: V3, [a, b, c, d]: [__m256d; LANES]) -> [__m256d; LANES] {
    let avx = m.avx;
    let (e, f) = (avx._mm256_unpacklo_pd(a, b), avx._mm256_unpackhi_pd(a, b));
    let (g, h) = (avx._mm256_unpacklo_pd(c, d), avx._mm256_unpackhi_pd(c, d));
    [
        avx._mm256_permute2f128_pd::<0x20>(e, g),
        avx._mm256_permute2f128_pd::<0x20>(f, h),
        avx._mm256_permute2f128_pd::<0x31>(e, g),
        avx._mm256_permute2f128_pd::<0x31>(f, h),
    ]
}

impl Machine for V3 {
    const FMA: bool = true;
    const WIDTH: usize = LANES;
    type Many = __m256d;
    type Row = Four;

    #[inline(always)]
    fn load(self, from: &[f64]) -> __m256d {
        cast(from.as_chunks::<LANES>().0[0])
    }
    #[inline(always)]
    fn store(self, many: __m256d, to: &mut [f64]) {
        to.as_chunks_mut::<LANES>().0[0] = cast(many);
    }
    #[inline(always)]
    fn splat(self, number: f64) -> __m256d {
        self.avx._mm256_set1_pd(number)
    }
    #[inline(always)]
    fn mul_add(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        self.fma._mm256_fmadd_pd(a, b, c)
    }
    #[inline(always)]
    fn mul(self, a: __m256d, b: __m256d) -> __m256d {
        self.avx._mm256_mul_pd(a, b)
    }
    #[inline(always)]
    fn add(self, a: __m256d, b: __m256d) -> __m256d {
        self.avx._mm256_add_pd(a, b)
    }
    #[inline(always)]
    fn sub(self, a: __m256d, b: __m256d) -> __m256d {
        self.avx._mm256_sub_pd(a, b)
    }
    #[inline(always)]
    fn larger(self, x: __m256d, size: __m256d) -> __m256d {
        let sign = self.avx._mm256_set1_pd(-0.0);
        self.avx._mm256_max_pd(self.avx._mm256_andnot_pd(sign, x), size)
    }
    #[inline(always)]
    fn lower_half(self, a: __m256d) -> __m256d {
        cast(self.avx2._mm256_slli_epi64::<32>(cast(a)))
    }
    /// Halves are put together on the way from memory, which saves half of the exchanges.
    #[inline(always)]
    fn gather(self, table: &[Four], places: &Four) -> [__m256d; LANES] {
        let avx = self.avx;
        let [a, b, c, d] = around(table.len(), places.0).map(|place| &table[place].0);
        let half = |from: &Lanes, which: usize| -> __m128d { cast(from.as_chunks::<2>().0[which]) };
        let halves = |a: &Lanes, b: &Lanes, which: usize| {
            let first = avx._mm256_castpd128_pd256(half(a, which));
            avx._mm256_insertf128_pd::<1>(first, half(b, which))
        };
        let (e, f) = (halves(a, c, 0), halves(b, d, 0));
        let (g, h) = (halves(a, c, 1), halves(b, d, 1));
        [
            avx._mm256_unpacklo_pd(e, f),
            avx._mm256_unpackhi_pd(e, f),
            avx._mm256_unpacklo_pd(g, h),
            avx._mm256_unpackhi_pd(g, h),
        ]
    }
    #[inline(always)]
    fn tally(self, tallies: &mut [[Tally; TURNS]], places: &Lanes, t: &Lanes, y: &Lanes) {
        let (one, t) = (self.splat(1.0), cast(*t));
        let square = self.mul(t, t);
        let powers = turned(self, [one, t, square, self.mul(square, t)]);
        let places = around(tallies.len(), *places);
        for (turn, (place, powers)) in places.into_iter().zip(powers).enumerate() {
            let Tally { counts, sums } = &mut tallies[place][turn % TURNS];
            *counts = cast(self.add(cast(*counts), powers));
            *sums = cast(self.mul_add(powers, self.splat(y[turn]), cast(*sums)));
        }
    }
    #[inline(always)]
    fn fetch<T>(self, from: &[T], place: usize) {
        self.sse._mm_prefetch::<_MM_HINT_T0>(from.as_ptr().wrapping_add(place).cast());
    }
}
