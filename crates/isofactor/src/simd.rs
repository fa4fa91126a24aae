//! The only file that names the vectorising crate: four numbers at a time, on whatever the
//! processor offers.
//!
//! A [`Kernel`] is written once; [`dispatch`] runs the copy of it that was compiled for the
//! processor at hand, and tells it of the [`Machine`] it runs on. With a fused multiply-add the
//! last bit of a result may differ from a processor without; on one and the same processor it
//! never does.
//!
//! Most kernels work on [`Lanes`] by the functions here, and the compiler finds the instructions.
//! It finds poor ones where four numbers come from four places and are exchanged among each other;
//! a kernel that does so works on what the machine holds, [`Machine::Four`].

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

/// A kind of processor, and what it does with four numbers at once.
pub(crate) trait Machine: Copy {
    /// Whether [`mul_add`] is one instruction.
    const FMA: bool;
    /// Four numbers as it holds them.
    type Four: Copy;

    fn load(self, from: &Lanes) -> Self::Four;
    fn lanes(self, four: Self::Four) -> Lanes;
    /// The same number four times.
    fn splat(self, number: f64) -> Self::Four;
    /// `a b + c`
    fn mul_add(self, a: Self::Four, b: Self::Four, c: Self::Four) -> Self::Four;
    /// `a b`
    fn mul(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `a + b`
    fn add(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `a - b`
    fn sub(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// The smaller of `a` and `b` each; `b` where `a` is not a number.
    fn smaller(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `b[i][j] = a[j][i]`
    fn transpose(self, a: [Self::Four; LANES]) -> [Self::Four; LANES];
    /// The same of what lies in four places.
    fn load_transposed(self, from: [&Lanes; LANES]) -> [Self::Four; LANES];
    /// Numbers whose upper bits are the lower half of those of `a`, and whose others are zero.
    fn lower_half(self, a: Self::Four) -> Self::Four;
    /// Asks for what lies so many places from the beginning, there or not, to be at hand soon.
    fn fetch<T>(self, from: &[T], place: usize);
}

/// Any processor. The numbers are fused where that is one instruction.
#[derive(Clone, Copy)]
pub(crate) struct Plain<const FMA: bool>;

impl<const FMA: bool> Machine for Plain<FMA> {
    const FMA: bool = FMA;
    type Four = Lanes;

    #[inline(always)]
    fn load(self, from: &Lanes) -> Lanes {
        *from
    }
    #[inline(always)]
    fn lanes(self, four: Lanes) -> Lanes {
        four
    }
    #[inline(always)]
    fn splat(self, number: f64) -> Lanes {
        [number; LANES]
    }
    #[inline(always)]
    fn mul_add(self, a: Lanes, b: Lanes, c: Lanes) -> Lanes {
        mul_add::<Self>(a, b, c)
    }
    #[inline(always)]
    fn mul(self, a: Lanes, b: Lanes) -> Lanes {
        mul(a, b)
    }
    #[inline(always)]
    fn add(self, a: Lanes, b: Lanes) -> Lanes {
        add(a, b)
    }
    #[inline(always)]
    fn sub(self, a: Lanes, b: Lanes) -> Lanes {
        sub(a, b)
    }
    #[inline(always)]
    fn smaller(self, a: Lanes, b: Lanes) -> Lanes {
        std::array::from_fn(|i| if a[i] < b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn transpose(self, a: [Lanes; LANES]) -> [Lanes; LANES] {
        std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
    }
    #[inline(always)]
    fn load_transposed(self, from: [&Lanes; LANES]) -> [Lanes; LANES] {
        self.transpose(from.map(|lanes| *lanes))
    }
    #[inline(always)]
    fn lower_half(self, a: Lanes) -> Lanes {
        a.map(|a| f64::from_bits(a.to_bits() << 32))
    }
    #[inline(always)]
    fn fetch<T>(self, _: &[T], _: usize) {}
}

/// x86 processors with AVX2 and a fused multiply-add: nearly all there are.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{__m128d, __m256d, _MM_HINT_T0};

    use pulp::{cast, x86::V3};

    use super::{LANES, Lanes, Machine};

    impl Machine for V3 {
        const FMA: bool = true;
        type Four = __m256d;

        #[inline(always)]
        fn load(self, from: &Lanes) -> __m256d {
            cast(*from)
        }
        #[inline(always)]
        fn lanes(self, four: __m256d) -> Lanes {
            cast(four)
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
        fn smaller(self, a: __m256d, b: __m256d) -> __m256d {
            self.avx._mm256_min_pd(a, b)
        }
        #[inline(always)]
        fn transpose(self, [a, b, c, d]: [__m256d; LANES]) -> [__m256d; LANES] {
            let avx = self.avx;
            let (e, f) = (avx._mm256_unpacklo_pd(a, b), avx._mm256_unpackhi_pd(a, b));
            let (g, h) = (avx._mm256_unpacklo_pd(c, d), avx._mm256_unpackhi_pd(c, d));
            [
                avx._mm256_permute2f128_pd::<0x20>(e, g),
                avx._mm256_permute2f128_pd::<0x20>(f, h),
                avx._mm256_permute2f128_pd::<0x31>(e, g),
                avx._mm256_permute2f128_pd::<0x31>(f, h),
            ]
        }
        /// Halves are put together on the way from memory, which saves half of the exchanges.
        #[inline(always)]
        fn load_transposed(self, [a, b, c, d]: [&Lanes; LANES]) -> [__m256d; LANES] {
            let avx = self.avx;
            let half =
                |from: &Lanes, which: usize| -> __m128d { cast(from.as_chunks::<2>().0[which]) };
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
        fn lower_half(self, a: __m256d) -> __m256d {
            cast(self.avx2._mm256_slli_epi64::<32>(cast(a)))
        }
        #[inline(always)]
        fn fetch<T>(self, from: &[T], place: usize) {
            self.sse._mm_prefetch::<_MM_HINT_T0>(from.as_ptr().wrapping_add(place).cast());
        }
    }
}

/// Runs a kernel as well as this processor can.
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(machine) = pulp::x86::V3::try_new() {
        struct On<K, M>(K, M);
        impl<K: Kernel, M: Machine> pulp::NullaryFnOnce for On<K, M> {
            type Output = K::Output;
            #[inline(always)]
            fn call(self) -> K::Output {
                self.0.run(self.1)
            }
        }
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

/// Runs a kernel with its width `C` known to the compiler where it is at most eight (rank 32);
/// width 0 stands for any other, read from what it works on.
macro_rules! by_width {
    ($width:expr, $kernel:ident $fields:tt) => {
        match $width {
            1 => $crate::simd::dispatch($kernel::<1> $fields),
            2 => $crate::simd::dispatch($kernel::<2> $fields),
            3 => $crate::simd::dispatch($kernel::<3> $fields),
            4 => $crate::simd::dispatch($kernel::<4> $fields),
            5 => $crate::simd::dispatch($kernel::<5> $fields),
            6 => $crate::simd::dispatch($kernel::<6> $fields),
            7 => $crate::simd::dispatch($kernel::<7> $fields),
            8 => $crate::simd::dispatch($kernel::<8> $fields),
            _ => $crate::simd::dispatch($kernel::<0> $fields),
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

    /// What a machine makes of four times four numbers.
    struct Everything([Lanes; LANES]);
    impl Kernel for Everything {
        type Output = Vec<[u64; LANES]>;
        #[inline(always)]
        fn run<M: Machine>(self, m: M) -> Vec<[u64; LANES]> {
            let places = &self.0;
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| m.load(&places[i]));
            let ops = [m.mul_add(a, b, c), m.mul(a, b), m.add(c, d), m.sub(c, d), m.smaller(d, a)];
            let first = ops.into_iter().chain([m.splat(places[1][2])]);
            let turned = m.transpose([a, b, c, d]);
            let loaded = m.load_transposed([&places[0], &places[1], &places[2], &places[3]]);
            m.fetch(places, 1000);
            let all = first.chain(turned).chain(loaded).chain([m.lower_half(b)]);
            all.map(|four| m.lanes(four).map(f64::to_bits)).collect()
        }
    }

    #[test]
    fn transposing_exchanges_rows_and_columns() {
        let a: [Lanes; LANES] =
            std::array::from_fn(|i| std::array::from_fn(|j| (4 * i + j) as f64));
        let found = dispatch(Everything(a));
        for b in [&found[6..10], &found[10..14]] {
            assert!((0..4).all(|i| (0..4).all(|j| f64::from_bits(b[i][j]) == a[j][i])));
        }
    }

    #[test]
    fn every_machine_finds_the_same_bits() {
        let a: [Lanes; LANES] =
            std::array::from_fn(|i| std::array::from_fn(|j| ((4 * i + j) as f64 * 1.7).sin()));
        let mut with_gap = a;
        with_gap[3][1] = f64::NAN;
        for a in [a, with_gap] {
            let found = dispatch(Everything(a));
            let [fused, rounded] =
                [Everything(a).run(Plain::<true>), Everything(a).run(Plain::<false>)];
            #[cfg(target_arch = "x86_64")]
            let is_fused = pulp::x86::V3::try_new().is_some();
            #[cfg(not(target_arch = "x86_64"))]
            let is_fused = found[0] == fused[0];
            assert_eq!(found, if is_fused { fused } else { rounded });
        }
    }

    #[test]
    fn filling_up_repeats_the_last() {
        assert_eq!(filled(&[2.0, 3.0]), [2.0, 3.0, 3.0, 3.0]);
        assert_eq!(filled(&[1.0, 2.0, 3.0, 4.0]), [1.0, 2.0, 3.0, 4.0]);
    }
}
