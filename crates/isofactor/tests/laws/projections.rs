//! Laws of P_C and P_H.

use isofactor::{
    Factors, KernelFamily,
    link::SlopeBounds,
    steps::project::{keeps_to, project_factors, project_link},
};
use proptest::prelude::*;

use crate::sample::{SHAPE, factors, link, space};

fn clipped(z: &Factors, radius: f64) -> Factors {
    let mut z = z.clone();
    project_factors(&mut z, radius);
    z
}

proptest! {
    #[test]
    fn clipping_rows_is_idempotent_non_expansive_and_the_nearest_point(
        a in 0usize..1000, b in 0usize..1000, radius in 0.05f64..2.0
    ) {
        let (za, zb) = (factors(a, 3), factors(b, 3));
        let (pa, pb) = (clipped(&za, radius), clipped(&zb, radius));
        prop_assert!(pa.longest_row() <= radius * (1.0 + 1e-12));
        let again = clipped(&pa, radius);
        prop_assert!(again.moved(-1.0, &pa).norm() <= 1e-14);
        prop_assert!(pa.moved(-1.0, &pb).norm() <= za.moved(-1.0, &zb).norm() + 1e-12);
        // <Z - P(Z), W - P(Z)> <= 0 for every feasible W: P(Z) is the nearest point.
        let outward = za.moved(-1.0, &pa);
        prop_assert!(outward.inner(&pb.moved(-1.0, &pa)) <= 1e-12);
    }

    #[test]
    fn short_rows_are_left_alone(seed in 0usize..1000) {
        let z = factors(seed, 2);
        prop_assert_eq!(clipped(&z, z.longest_row()), z);
    }

    #[test]
    fn a_projected_link_keeps_its_bounds_and_is_nearest_in_the_spaces_norm(
        a in 0usize..1000, b in 0usize..1000, low in 0.0f64..0.3
    ) {
        let space = space(KernelFamily::Gaussian);
        let bounds = SlopeBounds { low, high: low + 0.5 };
        let (fa, fb) = (link(&space, a), link(&space, b));
        let pa = project_link(fa.clone(), bounds, &mut Default::default()).unwrap();
        let pb = project_link(fb.clone(), bounds, &mut Default::default()).unwrap();
        prop_assert!(keeps_to(&pa, bounds));
        // Bounds tightened against bulges between nodes shift a projection by some parts in a
        // hundred thousand; the exact laws are those of the program at the nodes.
        let shift = 1e-4 * (1.0 + fa.distance(pa.weights()));
        prop_assert!(pa.distance(pb.weights()) <= fa.distance(fb.weights()) + shift);
        let product: f64 = fa.weights().iter().zip(pa.weights()).zip(pb.weights())
            .map(|((f, p), w)| (f - p) * (w - p)).sum();
        prop_assert!(product <= shift, "{product}");
    }
}

#[test]
fn beta_and_mu_are_those_of_the_paper() {
    let z = factors(3, 2);
    let total = (SHAPE.rows + SHAPE.columns) as f64;
    let mu = total * z.longest_row().powi(2) / z.norm().powi(2);
    assert!((z.incoherence() - mu).abs() < 1e-12);
    let beta = 4.0 / 3.0 * (mu / total).sqrt() * z.norm();
    assert!((z.radius() - beta).abs() < 1e-12);
    assert!(z.incoherence() >= 1.0 && z.incoherence() <= total);
}
