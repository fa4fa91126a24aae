//! Any processor: four numbers at a time, as the compiler sees fit.

use super::{Four, LANES, Lanes, Machine, TURNS, Tally, add, around, mul, mul_add, sub};

/// Any processor. The numbers are fused where that is one instruction.
#[derive(Clone, Copy)]
pub(crate) struct Plain<const FMA: bool>;

impl<const FMA: bool> Machine for Plain<FMA> {
    const FMA: bool = FMA;
    const WIDTH: usize = LANES;
    type Many = Lanes;
    type Row = Four;

    #[inline(always)]
    fn load(self, from: &[f64]) -> Lanes {
        from.as_chunks().0[0]
    }
    #[inline(always)]
    fn store(self, many: Lanes, to: &mut [f64]) {
        to.as_chunks_mut().0[0] = many;
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
    fn larger(self, x: Lanes, size: Lanes) -> Lanes {
        std::array::from_fn(|i| if x[i].abs() > size[i] { x[i].abs() } else { size[i] })
    }
    #[inline(always)]
    fn lower_half(self, a: Lanes) -> Lanes {
        a.map(|a| f64::from_bits(a.to_bits() << 32))
    }
    #[inline(always)]
    fn gather(self, table: &[Four], places: &Four) -> [Lanes; LANES] {
        let fours = around(table.len(), places.0).map(|place| &table[place].0);
        std::array::from_fn(|i| fours.map(|four| four[i]))
    }
    #[inline(always)]
    fn tally(self, tallies: &mut [[Tally; TURNS]], places: &Lanes, t: &Lanes, y: &Lanes) {
        for (turn, place) in around(tallies.len(), *places).into_iter().enumerate() {
            tallies[place][turn % TURNS].count::<Self>(t[turn], y[turn]);
        }
    }
    #[inline(always)]
    fn fetch<T>(self, _: &[T], _: usize) {}
}
