//! Table 3: the paper's two variants on Jester-1.

use std::path::Path;

use crate::reproduce::{
    error::Result,
    real::{RealData, Splits},
    tables::{LineSettings, Lines},
};

pub(super) fn plan(settings: LineSettings, data: Option<&Path>) -> Result<Lines> {
    Ok(Lines { settings, splits: Splits::of(RealData::Jester.read(data)?) })
}
