//! `isofactor demo`: made data, a fit, what was recovered, a page to look at.
pub fn run(_args: &crate::args::DemoArgs) -> Result<(), crate::failure::Failure> {
    Ok(())
}
