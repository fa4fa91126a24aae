//! Writing that leaves either the whole file or none.

use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use isofactor::Observations;
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    error::{Error, Result},
    labels::Labels,
};

/// A file to be written: tried at once, so that a path that cannot be written is noticed before
/// any work is done, then made beside its name and moved there when it is whole.
///
/// The file beside it exists while it is being written and no longer. A program that is killed
/// just then leaves it behind; its name says what it was to become, and whoever writes there next
/// removes it.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
}

impl Target {
    /// Prepares to write to a path.
    pub fn new(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Err(Error::writing(path, "it is a directory"));
        }
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        if let Some(missing) = folder.filter(|folder| !folder.is_dir()) {
            let reason = format!("there is no folder {}", missing.display());
            return Err(Error::writing(path, reason));
        }
        let target = Self { path: path.to_owned() };
        target.remove_left_behind();
        target.beside().map_err(|e| Error::writing(path, e.kind()))?;
        Ok(target)
    }

    fn folder(&self) -> &Path {
        let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty());
        folder.unwrap_or(Path::new("."))
    }

    /// How the names of files begin that are to become this one.
    fn prefix(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().as_encoded_bytes();
        format!(".isofactor-{:016x}-", xxh3_64(name))
    }

    /// A new file beside the final name.
    fn beside(&self) -> std::io::Result<NamedTempFile> {
        let prefix = self.prefix();
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        // As any new file: readable by others as far as the user's mask allows.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        builder.tempfile_in(self.folder())
    }

    /// Removes what a killed program left behind. Another program that is writing this very file
    /// just now fails with a sentence; the file under its name is whole all the same.
    fn remove_left_behind(&self) {
        let prefix = self.prefix();
        let Ok(files) = std::fs::read_dir(self.folder()) else { return };
        for file in files.flatten() {
            if file.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)) {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes everything and moves the file to its name.
    pub fn write(
        self,
        content: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
    ) -> Result<()> {
        let path = &self.path;
        let file = self.beside().map_err(|e| Error::writing(path, e.kind()))?;
        let mut out = BufWriter::new(&file);
        let written = content(&mut out).and_then(|()| out.flush());
        drop(out);
        written.and_then(|()| file.as_file().sync_all()).map_err(|e| Error::writing(path, e))?;
        file.persist(path).map_err(|e| Error::writing(path, e.error))?;
        Ok(())
    }
}

/// Writes entries in long form. Names come from the labels, or are numbers from 1.
pub fn write_entries(
    target: Target,
    observations: &Observations,
    labels: Option<(&Labels, &Labels)>,
) -> Result<()> {
    target.write(|out| {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(["row", "column", "value"])?;
        for entry in observations.iter() {
            let name = |labels: Option<&Labels>, number: usize| {
                labels.map_or_else(|| (number + 1).to_string(), |l| l.name(number).to_owned())
            };
            let row = name(labels.map(|l| l.0), entry.row);
            let column = name(labels.map(|l| l.1), entry.column);
            csv.write_record([row, column, entry.value.to_string()])?;
        }
        csv.flush()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.txt");
        std::fs::write(&path, "before").unwrap();
        let failed = Target::new(&path).unwrap().write(|out| {
            out.write_all(b"half")?;
            Err(std::io::Error::other("the disk is full"))
        });
        assert!(failed.unwrap_err().to_string().contains("the disk is full"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_killed_program_left_behind_is_removed_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("file.txt"), folder.path().join("other.txt"));
        let left = |path: &Path| Target::new(path).unwrap().beside().unwrap().keep().unwrap();
        left(&path);
        left(&other);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        Target::new(&path).unwrap().write(|out| out.write_all(b"whole")).unwrap();
        // What is to become another file is not its business.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        Target::new(&other).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
    }

    #[test]
    fn a_folder_that_is_not_there_is_noticed_at_once() {
        assert!(Target::new(Path::new("/no/such/folder/file")).is_err());
    }
}
