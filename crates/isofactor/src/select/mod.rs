//! Choosing entries to judge a fit by.

mod holdout;

pub use holdout::hold_out;
