//! Where a fit begins that goes on from factors of the user's own or from an earlier model.

use isofactor::{
    Factors, FitConfig, FitInput, Shape,
    config::{Bandwidth, LinkChoice, Shrinkage, SolverKind},
    link::LearnedLink,
    model::Offsets,
};

use crate::{factor_file::FactorFile, labels::Labels, model_file::LabelledModel};

/// A start in the order of the data; what it does not know begins at zero.
#[derive(Debug, Clone)]
pub struct GivenStart {
    factors: Factors,
    /// Level and effects, where it is a model that has them.
    offsets: Option<Offsets>,
    link: Option<LearnedLink>,
    /// What that model chose, so that it need not be chosen again.
    choices: Option<(LinkChoice, f64)>,
}

impl GivenStart {
    /// Factors alone.
    pub fn from_factors(file: &FactorFile, rows: &Labels, columns: &Labels) -> Self {
        Self { factors: file.arranged(rows, columns), offsets: None, link: None, choices: None }
    }

    /// All that an earlier model knows.
    pub fn from_model(earlier: &LabelledModel, rows: &Labels, columns: &Labels) -> Self {
        let LabelledModel { model, rows: known_rows, columns: known_columns } = earlier;
        let provenance = &model.provenance;
        Self {
            factors: arranged(&model.factors, (known_rows, known_columns), (rows, columns)),
            offsets: model.offsets.as_ref().map(|offsets| Offsets {
                rows: reordered(rows, known_rows, &offsets.rows),
                columns: reordered(columns, known_columns, &offsets.columns),
                ..offsets.clone()
            }),
            link: model.link.learned().cloned(),
            choices: provenance
                .chosen
                .as_ref()
                .map(|chosen| (provenance.config.link.clone(), chosen.shrinkage)),
        }
    }

    /// Takes over what need not be chosen again: the kernel of the link, and the fast solver's
    /// choices where the settings leave them open.
    pub fn settle(&self, config: &mut FitConfig) {
        if let Some(link) = &self.link {
            let kernel = link.space().kernel();
            (config.kernel, config.bandwidth) = (kernel.family, Bandwidth::Fixed(kernel.bandwidth));
        }
        let choices = self.choices.as_ref().filter(|_| config.solver == SolverKind::Fast);
        let Some((link, shrinkage)) = choices else { return };
        if config.link == LinkChoice::Auto {
            config.link = link.clone();
        }
        if config.shrinkage == Shrinkage::Auto {
            config.shrinkage = Shrinkage::Fixed(*shrinkage);
        }
    }

    /// The input of a fit that begins here.
    pub fn begin<'a>(&'a self, input: FitInput<'a>) -> FitInput<'a> {
        FitInput {
            start: Some(&self.factors),
            start_offsets: self.offsets.as_ref(),
            start_link: self.link.as_ref(),
            ..input
        }
    }
}

/// How many of the wanted names are among the known ones, rows and columns each.
pub(crate) fn known(known: (&Labels, &Labels), wanted: (&Labels, &Labels)) -> usize {
    let count = |wanted: &Labels, known: &Labels| {
        wanted.names().filter(|name| known.find(name).is_some()).count()
    };
    count(wanted.0, known.0) + count(wanted.1, known.1)
}

/// The factors of known names for the wanted ones, rows and columns each; zeros for names that are
/// not known.
pub(crate) fn arranged(
    factors: &Factors,
    known: (&Labels, &Labels),
    wanted: (&Labels, &Labels),
) -> Factors {
    let rank = factors.rank();
    let zeros = vec![0.0; rank];
    let side = |wanted: &Labels, known: &Labels, of: &dyn Fn(usize) -> Vec<f64>| -> Vec<f64> {
        let numbers = wanted.names().map(|name| known.find(name));
        numbers.flat_map(|number| number.map_or_else(|| zeros.clone(), of)).collect()
    };
    let row_factors = side(wanted.0, known.0, &|i| factors.row(i).to_vec());
    let column_factors = side(wanted.1, known.1, &|t| factors.column(t).to_vec());
    let shape = Shape { rows: wanted.0.len(), columns: wanted.1.len() };
    Factors::from_vecs(rank, row_factors, column_factors)
        .unwrap_or_else(|| Factors::zeros(shape, rank))
}

/// Effects in the order of the data; zero for what the model does not know.
fn reordered(wanted: &Labels, known: &Labels, effects: &[f64]) -> Vec<f64> {
    wanted.names().map(|name| known.find(name).map_or(0.0, |i| effects[i])).collect()
}
