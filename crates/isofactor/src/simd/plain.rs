//! Any processor: four numbers at a time, as the compiler sees fit.

use super::{Four, LANES, Lanes, Machine, add, around, mul, mul_add, sub};

/// Any processor. The numbers are fused where that is one instruction.
#[derive(Clone, Copy)]
pub(crate) struct Plain<const FMA: bool>;

impl<const FMA: bool> Machine for Plain<FMA> {
    const FMA: bool = FMA;
    const WIDTH: usize = LANES;
    type Many = Lanes;
    type Row = Four;
    type Tables<'a> = &'a mut [Four];

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
    fn tables(self, list: &mut [Four], length: usize) -> &mut [Four] {
        &mut list[..length]
    }
    #[inline(always)]
    fn add_to(self, table: &mut &mut [Four], places: &Four, by: [Lanes; LANES]) {
        for (j, place) in around(table.len(), places.0).into_iter().enumerate() {
            table[place].0 = add(table[place].0, by.map(|by| by[j]));
        }
    }
    #[inline(always)]
    fn fetch<T>(self, _: &[T], _: usize) {}
}
