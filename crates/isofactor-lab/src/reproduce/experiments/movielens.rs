//! Tables 1 and 2 and figure 5: the paper's four variants on MovieLens-small.

use std::path::Path;

use crate::reproduce::{
    error::Result,
    real::{RealData, Splits},
    tables::{LineSettings, Lines},
};

pub(super) fn plan(settings: LineSettings, data: Option<&Path>) -> Result<Lines> {
    Ok(Lines { settings, splits: Splits::of(RealData::MovieLens.read(data)?) })
}
