//! The sections of the page, a file each, in reading order.

mod choices;
mod convergence;
mod extremes;
mod factors;
pub mod fitted;
mod link;
mod predictions;
mod residuals;

use isofactor_report::{Block, Section};

use crate::{study::Study, warnings};

/// All sections.
pub fn all(study: &Study<'_>) -> Vec<Section> {
    let mut sections = vec![fitted::section(study), warned(study), link::section(study)];
    sections.push(convergence::section(study));
    sections.push(predictions::section(study));
    sections.push(residuals::section(study));
    sections.push(factors::section(study));
    sections.extend(extremes::section(study));
    sections.extend(choices::section(study));
    sections
}

fn warned(study: &Study<'_>) -> Section {
    let section = Section::new("Before you trust it");
    let notices = warnings::all(study);
    if notices.is_empty() {
        let text =
            "Nothing to warn of: every criterion of the report was computed and none was met.";
        return section.with(Block::Text(text.to_owned()));
    }
    section.with(Block::Notices(notices))
}
