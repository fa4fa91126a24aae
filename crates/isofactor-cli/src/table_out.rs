//! Where a table goes: a file, or standard output, aligned on a terminal.

use std::{
    io::{self, BufWriter, IsTerminal, Write},
    path::Path,
};

use isofactor_io::{Cell, Field, TableKind, TableWriter, Target};

use crate::{
    failure::Failure,
    text::{aligned, harmless, short, show},
};

/// A place for a table, found before the work begins.
pub enum TableOut {
    /// A file, moved to its name when it is whole.
    File(Target, TableKind),
    /// Standard output.
    Stream,
}

impl TableOut {
    /// The file, or standard output without one.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        Ok(match path {
            Some(path) => TableOut::File(Target::new(path)?, TableKind::of(path)?),
            None => TableOut::Stream,
        })
    }

    /// Writes the table; standard output gets CSV.
    pub fn write(
        self,
        content: impl FnOnce(&mut (dyn Write + Send), TableKind) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self {
            TableOut::File(target, kind) => Ok(target.write(|out| content(out, kind))?),
            TableOut::Stream => {
                let mut out = BufWriter::with_capacity(1 << 16, io::stdout());
                match content(&mut out, TableKind::Csv).and_then(|()| out.flush()) {
                    // `isofactor ... | head` is not an error.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    written => Ok(written?),
                }
            }
        }
    }

    /// Writes a table of a few lines, which is aligned where someone reads it.
    pub fn write_short(self, fields: &[Field], lines: &[Vec<Cell<'_>>]) -> Result<(), Failure> {
        if matches!(self, TableOut::Stream) && io::stdout().is_terminal() {
            let cells = lines.iter().map(|line| line.iter().map(shown).collect()).collect();
            let names = fields.iter().map(|field| field.name().to_owned()).collect();
            return Ok(show(&aligned(names, cells))?);
        }
        self.write(|out, kind| {
            let mut table = TableWriter::new(out, kind, fields.to_vec())?;
            for line in lines {
                table.line(line.iter().copied())?;
            }
            table.finish()
        })
    }
}

fn shown(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Text(text) => harmless(text),
        Cell::Number(number) => short(*number),
        Cell::Whole(number) => number.to_string(),
        Cell::Flag(flag) => flag.to_string(),
    }
}
