//! No file is read and written, or written twice, in one run.

use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Refuses a file to write that is also a file to read, or to write under another option. Each
/// path comes with what the sentence calls it.
pub fn check(
    read: &[(&str, Option<&PathBuf>)],
    written: &[(&str, Option<&PathBuf>)],
) -> Result<(), Failure> {
    let mut taken: Vec<(&str, PathBuf)> =
        read.iter().filter_map(|(name, path)| Some((*name, whole((*path)?)))).collect();
    for (option, path) in written {
        let Some(path) = path else { continue };
        let place = whole(path);
        if let Some((name, _)) = taken.iter().find(|(_, other)| *other == place) {
            let path = path.display();
            let sentence = format!("{option} {path} would overwrite {name}: choose another name");
            return Err(Failure::Usage(sentence));
        }
        taken.push((option, place));
    }
    Ok(())
}

/// A path in full, so that two ways of writing it are seen to be the same.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}
