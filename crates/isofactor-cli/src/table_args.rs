//! How tables are read, for every command that reads one.

use isofactor_io::{FileKind, HeaderRule, TableFormat, parse_delimiter};

/// Which columns of a table hold what, and how it is read.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Reading")]
pub struct TableArgs {
    /// Name or number of the column that names rows (the one called row, or the first, by
    /// default; with --wide rows are numbered by default).
    #[arg(long, value_name = "NAME")]
    pub row: Option<String>,
    /// Name or number of the column that names columns (the one called column, or the second).
    #[arg(long, value_name = "NAME")]
    pub column: Option<String>,
    /// Name or number of the column of values (the one called value, or the third); of an .npz
    /// file with several arrays, the array.
    #[arg(long, value_name = "NAME")]
    pub value: Option<String>,
    #[command(flatten)]
    text: TextArgs,
}

/// The same where --row and --column mean something else: entries of --known and --new.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Reading the entries of --known and --new")]
pub struct EntryArgs {
    /// Name or number of the column that names rows (the first by default).
    #[arg(long, value_name = "NAME")]
    pub entry_row: Option<String>,
    /// Name or number of the column that names columns (the second by default).
    #[arg(long, value_name = "NAME")]
    pub entry_column: Option<String>,
    /// Name or number of the column of values (the third by default).
    #[arg(long, value_name = "NAME")]
    pub entry_value: Option<String>,
    #[command(flatten)]
    text: TextArgs,
}

/// How a table is written down.
#[derive(Debug, Clone, clap::Args)]
struct TextArgs {
    /// Each line is a row of the matrix, one field a column; empty or NA is missing.
    #[arg(long)]
    wide: bool,
    /// A value that marks a missing entry; may be given several times.
    #[arg(long, value_name = "MARK", allow_hyphen_values = true)]
    missing: Vec<String>,
    /// With --wide, a column to leave out: its name, or its number from 1; may be given several
    /// times.
    #[arg(long, value_name = "COLUMN", requires = "wide")]
    skip: Vec<String>,
    /// Whether the first line of a text is a header: yes, no, or auto (it is, unless it has a
    /// number where the value should be).
    #[arg(long, value_name = "RULE", default_value = "auto")]
    header: HeaderRule,
    /// What separates the fields of a text: a character or tab; found out by default.
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Numbers in a text have a comma, as in 3,5.
    #[arg(long)]
    decimal_comma: bool,
    /// The kind of file, whatever its ending: csv, tsv, parquet, arrow, mtx, npy or npz.
    #[arg(long, value_name = "KIND")]
    format: Option<FileKind>,
}

impl TableArgs {
    /// As the readers want it.
    pub fn format(&self) -> TableFormat {
        self.text.format([&self.row, &self.column, &self.value])
    }
}

impl EntryArgs {
    /// As the readers want it.
    pub fn format(&self) -> TableFormat {
        self.text.format([&self.entry_row, &self.entry_column, &self.entry_value])
    }
}

impl TextArgs {
    fn format(&self, names: [&Option<String>; 3]) -> TableFormat {
        let [row, column, value] = names.map(Clone::clone);
        TableFormat {
            row,
            column,
            value,
            wide: self.wide,
            missing: self.missing.clone(),
            skip: self.skip.clone(),
            header: self.header,
            delimiter: self.delimiter,
            decimal_comma: self.decimal_comma,
            kind: self.format,
        }
    }
}
