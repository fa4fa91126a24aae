//! The only file that names the vectorising crate: four numbers at a time, on whatever the
//! processor offers.
//!
//! A [`Kernel`] is written once, over [`Lanes`]; [`dispatch`] runs the copy of it that was
//! compiled for the processor at hand. With a fused multiply-add the last bit of a result may
//! differ from a processor without; on one and the same processor it never does.

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
    /// Does the work; `FMA` says whether [`mul_add`] is one instruction.
    fn run<const FMA: bool>(self) -> Self::Output;
}

/// Runs a kernel as well as this processor can.
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    struct Dispatched<K>(K);
    impl<K: Kernel> pulp::WithSimd for Dispatched<K> {
        type Output = K::Output;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _: S) -> K::Output {
            // One lane is the fallback without vectors, where fusing is a slow library call.
            if S::F64_LANES > 1 { self.0.run::<true>() } else { self.0.run::<false>() }
        }
    }
    pulp::Arch::new().dispatch(Dispatched(kernel))
}

/// `a b + c`
#[inline(always)]
pub(crate) fn mul_add<const FMA: bool>(a: Lanes, b: Lanes, c: Lanes) -> Lanes {
    std::array::from_fn(|i| if FMA { a[i].mul_add(b[i], c[i]) } else { a[i] * b[i] + c[i] })
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

/// `b[i][j] = a[j][i]`, in the two rounds of shuffles that processors have instructions for.
#[inline(always)]
pub(crate) fn transpose(a: [Lanes; LANES]) -> [Lanes; LANES] {
    let even = |x: Lanes, y: Lanes| [x[0], y[0], x[2], y[2]];
    let odd = |x: Lanes, y: Lanes| [x[1], y[1], x[3], y[3]];
    let (e, o) = (even(a[0], a[1]), odd(a[0], a[1]));
    let (f, p) = (even(a[2], a[3]), odd(a[2], a[3]));
    [
        [e[0], e[1], f[0], f[1]],
        [o[0], o[1], p[0], p[1]],
        [e[2], e[3], f[2], f[3]],
        [o[2], o[3], p[2], p[3]],
    ]
}

/// The smaller of `x` and `y` each; `y` where `x` is not a number.
#[inline(always)]
pub(crate) fn smaller(x: Lanes, y: Lanes) -> Lanes {
    std::array::from_fn(|i| if x[i] < y[i] { x[i] } else { y[i] })
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

    #[test]
    fn transposing_exchanges_rows_and_columns() {
        let a: [Lanes; LANES] =
            std::array::from_fn(|i| std::array::from_fn(|j| (4 * i + j) as f64));
        let b = transpose(a);
        assert!((0..4).all(|i| (0..4).all(|j| b[i][j] == a[j][i])));
    }

    #[test]
    fn filling_up_repeats_the_last() {
        assert_eq!(filled(&[2.0, 3.0]), [2.0, 3.0, 3.0, 3.0]);
        assert_eq!(filled(&[1.0, 2.0, 3.0, 4.0]), [1.0, 2.0, 3.0, 4.0]);
    }
}
