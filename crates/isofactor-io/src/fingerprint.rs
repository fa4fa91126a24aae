//! A number for everything that a fit is made from, so that a checkpoint is not taken for another's.

use isofactor::{FitInput, Observations, model::Offsets};
use xxhash_rust::xxh3::Xxh3;

/// A fingerprint of the entries, the held-out entries, the start and the truth of a fit: the same
/// for the same numbers, different otherwise but for a chance of 2^-128. In which order the entries of
/// a row came does not matter.
pub fn fingerprint(input: &FitInput<'_>) -> String {
    let mut sum = Sum(Xxh3::new());
    sum.observations(Some(input.train));
    sum.observations(input.validation);
    sum.factors(input.start);
    sum.offsets(input.start_offsets);
    if let Some(link) = input.start_link {
        sum.numbers(&[link.space().half_width(), link.space().kernel().bandwidth]);
        sum.numbers(link.space().centres());
        sum.numbers(link.weights());
    }
    sum.factors(input.truth.map(|truth| truth.factors()));
    if let Some(truth) = input.truth {
        sum.text(&format!("{:?}", truth.link()));
    }
    format!("{:032x}", sum.0.digest128())
}

struct Sum(Xxh3);

impl Sum {
    fn count(&mut self, count: usize) {
        self.0.update(&(count as u64).to_le_bytes());
    }

    /// Lengths are part of it, so that no two lists run together.
    fn numbers(&mut self, numbers: &[f64]) {
        self.count(numbers.len());
        numbers.iter().for_each(|number| self.0.update(&number.to_le_bytes()));
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text.as_bytes());
    }

    fn observations(&mut self, observations: Option<&Observations>) {
        let Some(observations) = observations else { return self.count(0) };
        let shape = observations.shape();
        for count in [observations.len(), shape.rows, shape.columns] {
            self.count(count);
        }
        for entry in observations.iter() {
            let mut bytes = [0; 24];
            bytes[..8].copy_from_slice(&(entry.row as u64).to_le_bytes());
            bytes[8..16].copy_from_slice(&(entry.column as u64).to_le_bytes());
            bytes[16..].copy_from_slice(&entry.value.to_le_bytes());
            self.0.update(&bytes);
        }
    }

    fn factors(&mut self, factors: Option<&isofactor::Factors>) {
        let Some(factors) = factors else { return self.count(0) };
        self.count(factors.rank());
        self.numbers(&factors.rows());
        self.numbers(&factors.columns());
    }

    fn offsets(&mut self, offsets: Option<&Offsets>) {
        let Some(offsets) = offsets else { return self.count(0) };
        self.numbers(&[offsets.level, offsets.range.0, offsets.range.1]);
        self.numbers(&offsets.rows);
        self.numbers(&offsets.columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isofactor::{Entry, Factors, Shape};

    fn entries(value: f64) -> Observations {
        let shape = Shape { rows: 3, columns: 2 };
        let entry = |row, column, value| Entry { row, column, value };
        let list = [entry(0, 0, 1.0), entry(1, 1, value), entry(2, 0, 3.0)];
        Observations::try_new(shape, &list).unwrap()
    }

    #[test]
    fn everything_that_a_fit_is_made_from_changes_it() {
        let (a, b) = (entries(2.0), entries(2.0f64.next_up()));
        let factors = Factors::from_vecs(1, vec![1.0, 2.0, 3.0], vec![1.0, 2.0]).unwrap();
        let plain = FitInput::new(&a);
        let all = [
            plain,
            FitInput::new(&b),
            FitInput { validation: Some(&a), ..plain },
            FitInput { validation: Some(&b), ..plain },
            FitInput { start: Some(&factors), ..plain },
        ];
        let sums: Vec<String> = all.iter().map(fingerprint).collect();
        for (i, sum) in sums.iter().enumerate() {
            assert!(!sums[..i].contains(sum), "{i}");
        }
        assert_eq!(fingerprint(&FitInput { threads: 7, ..FitInput::new(&entries(2.0)) }), sums[0]);
    }
}
