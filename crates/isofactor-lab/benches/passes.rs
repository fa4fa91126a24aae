//! The inner passes, each on its own: `cargo bench --bench passes`.

// A benchmark is for those who change the code: it stops where it cannot go on.
#![allow(clippy::expect_used)]

mod setup;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use isofactor::passes::{Entries, Evaluated, Need};
use setup::{Variant, factors, iterate, problem, uneven};

fn passes(criterion: &mut Criterion) {
    let observations = uneven(1_000_000, 1);
    let entries = Entries::new(&observations);
    for rank in [10, 16] {
        let mut group = criterion.benchmark_group(format!("passes, rank {rank}"));
        group.sample_size(20).throughput(Throughput::Elements(observations.len() as u64));
        let z = factors(&observations, rank);
        let mut scores = Vec::new();
        group.bench_function("gather and multiply", |b| b.iter(|| entries.gather(&z)));
        group.bench_function("scores", |b| b.iter(|| entries.scores(&z, &mut scores)));
        for (name, variant) in [("identity", Variant::Identity), ("learned", Variant::Learned)] {
            let (_, state) = problem(&observations, rank, variant);
            let mut evaluated = Evaluated::default();
            for (need, what) in
                [(Need::Nothing, "squares"), (Need::Counts, "counts"), (Need::Pull, "pull")]
            {
                group.bench_function(BenchmarkId::new(what, name), |b| {
                    b.iter(|| {
                        entries.evaluate(&z, &state.scores, &state.link, need, &mut evaluated)
                    });
                });
            }
        }
        group.finish();
    }
}

fn iterations(criterion: &mut Criterion) {
    let observations = uneven(1_000_000, 1);
    let mut group = criterion.benchmark_group("iteration");
    group.sample_size(20).throughput(Throughput::Elements(observations.len() as u64));
    let variants = [
        ("identity", Variant::Identity),
        ("learned", Variant::Learned),
        ("both projections", Variant::Projected),
    ];
    for rank in [10, 16] {
        for (name, variant) in variants {
            let (mut problem, mut state) = problem(&observations, rank, variant);
            group.bench_function(BenchmarkId::new(name, rank), |b| {
                b.iter(|| iterate(&mut problem, &mut state));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, passes, iterations);
criterion_main!(benches);
