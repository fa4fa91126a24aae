//! Cuts a delimited text into records and these into fields, a block at a time.
//!
//! A record without quotes, as nearly all are, is cut where its delimiters are; one that has a quoted
//! field goes through `csv-core`, which knows the rules of quoting. Both see the same records.

use std::{io::Read, ops::Range, path::PathBuf};

use crate::error::{Error, Result};

/// The longest record that is read, in bytes.
pub(crate) const LONGEST: usize = 64 << 20;
/// The most columns, each of which takes some bytes beside the text.
const MOST_FIELDS: usize = 1 << 22;
/// How much is read at a time.
const BLOCK: usize = 1 << 20;

/// Cuts a text into records and these into fields.
pub(crate) struct Scanner<R> {
    path: PathBuf,
    input: R,
    delimiter: u8,
    buffer: Vec<u8>,
    /// What of the buffer has been read but not given out.
    ahead: Range<usize>,
    ended: bool,
    /// The fields of the record at hand, in the buffer or, if it has quotes, in `unquoted`.
    pub fields: Vec<(usize, usize)>,
    quoted: bool,
    unquoted: Vec<u8>,
    /// Where the fields of such a record end.
    ends: Vec<usize>,
    core: csv_core::Reader,
    /// The line on which the record at hand begins, from 1.
    pub line: u64,
    /// The line on which the next one begins.
    next_line: u64,
}

impl<R: Read> Scanner<R> {
    pub fn new(path: PathBuf, input: R) -> Self {
        Self::with_block(path, input, BLOCK)
    }

    fn with_block(path: PathBuf, input: R, block: usize) -> Self {
        Self {
            path,
            input,
            delimiter: b',',
            buffer: vec![0; block],
            ahead: 0..0,
            ended: false,
            fields: Vec::new(),
            quoted: false,
            unquoted: vec![0; 1 << 10],
            ends: vec![0; 16],
            core: csv_core::Reader::new(),
            line: 0,
            next_line: 1,
        }
    }

    /// What separates the fields; a comma until it is said.
    pub fn set_delimiter(&mut self, delimiter: u8) {
        self.delimiter = delimiter;
        self.core = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
    }

    /// A field of the record at hand, without the spaces around it.
    #[inline]
    pub fn field(&self, place: usize) -> &[u8] {
        let (start, end) = self.fields[place];
        let of = if self.quoted { &self.unquoted } else { &self.buffer };
        of[start..end].trim_ascii()
    }

    /// Fills the buffer behind what is ahead, after making it longer if all of it is ahead; false
    /// at the end of the text. Whoever reads the same bytes again after this does so at most as
    /// often as the buffer doubles.
    fn refill(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        self.buffer.copy_within(self.ahead.clone(), 0);
        self.ahead = 0..self.ahead.len();
        if self.ahead.end == self.buffer.len() {
            if self.buffer.len() >= LONGEST {
                self.line = self.next_line;
                let most = LONGEST >> 20;
                let reason = format!(
                    "the line is longer than {most} MiB; is a quotation mark left open there?"
                );
                return Err(self.wrong(reason));
            }
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let before = self.ahead.end;
        while !self.ended && self.ahead.end < self.buffer.len() {
            match self.input.read(&mut self.buffer[self.ahead.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.ahead.end += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::reading(&self.path, &error)),
            }
        }
        Ok(self.ahead.end > before)
    }

    pub fn skip_byte_order_mark(&mut self) -> Result<()> {
        const MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];
        while self.ahead.len() < MARK.len() && self.refill()? {}
        if self.buffer[self.ahead.clone()].starts_with(&MARK) {
            self.ahead.start += MARK.len();
        }
        Ok(())
    }

    /// What the first lines are plainly separated by: of comma, semicolon and tab the one that
    /// every line has equally often, and most often.
    pub fn guess_delimiter(&mut self, decimal_comma: bool) -> Result<u8> {
        const LINES: usize = 20;
        if self.ahead.len() < self.buffer.len() {
            self.refill()?;
        }
        let text = &self.buffer[self.ahead.clone()];
        let whole = if self.ended {
            text.len()
        } else {
            memchr::memrchr(b'\n', text).unwrap_or(text.len())
        };
        let lines = text[..whole].split(|&byte| byte == b'\n' || byte == b'\r');
        let lines: Vec<&[u8]> =
            lines.filter(|line| !line.trim_ascii().is_empty()).take(LINES).collect();
        let often = |delimiter: u8| {
            let counts = lines.iter().map(|line| outside_quotes(line, delimiter));
            let (least, most) =
                counts.fold((usize::MAX, 0), |(l, m), count| (l.min(count), m.max(count)));
            if least == most { most } else { 0 }
        };
        let candidates: &[u8] = if decimal_comma { b";\t" } else { b",;\t" };
        let mut best = (0, candidates[0]);
        for &delimiter in candidates {
            let count = often(delimiter);
            if count > best.0 {
                best = (count, delimiter);
            }
        }
        Ok(best.1)
    }

    /// Goes to the next record; false at the end. Blank lines are none.
    #[inline]
    pub fn advance(&mut self) -> Result<bool> {
        loop {
            match self.cut() {
                Cut::Record => return Ok(true),
                Cut::Blank => {}
                Cut::Quoted => return self.cut_quoted(),
                Cut::TooMany => return Err(self.too_many()),
                Cut::Short => {
                    if !self.refill()? && self.ahead.is_empty() {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Cuts the next line at its delimiters.
    #[inline]
    fn cut(&mut self) -> Cut {
        let text = &self.buffer[self.ahead.clone()];
        let (base, delimiter) = (self.ahead.start, self.delimiter);
        self.fields.clear();
        let mut start = 0;
        let mut at = 0;
        let (end, next) = loop {
            let Some(&byte) = text.get(at) else {
                if !self.ended || text.is_empty() {
                    return Cut::Short;
                }
                break (at, at);
            };
            if byte == delimiter {
                if self.fields.len() == MOST_FIELDS {
                    return Cut::TooMany;
                }
                self.fields.push((base + start, base + at));
                start = at + 1;
            } else if byte == b'\n' {
                break (at, at + 1);
            } else if byte == b'"' && at == start {
                return Cut::Quoted;
            } else if byte == b'\r' {
                match text.get(at + 1) {
                    Some(b'\n') => break (at, at + 2),
                    None if !self.ended => return Cut::Short,
                    _ => break (at, at + 1),
                }
            }
            at += 1;
        };
        self.ahead.start += next;
        self.line = self.next_line;
        self.next_line += 1;
        if self.fields.is_empty() && text[..end].trim_ascii().is_empty() {
            return Cut::Blank;
        }
        self.fields.push((base + start, base + end));
        self.quoted = false;
        Cut::Record
    }

    /// Cuts a record that has a quoted field, which may go over several lines.
    fn cut_quoted(&mut self) -> Result<bool> {
        use csv_core::ReadRecordResult as Outcome;
        'again: loop {
            self.core.reset();
            let (mut consumed, mut written, mut ended) = (0, 0, 0);
            loop {
                let text = &self.buffer[self.ahead.start + consumed..self.ahead.end];
                let (unquoted, ends) = (&mut self.unquoted[written..], &mut self.ends[ended..]);
                let (outcome, read, out, more) = self.core.read_record(text, unquoted, ends);
                (consumed, written, ended) = (consumed + read, written + out, ended + more);
                match outcome {
                    // An empty text tells the parser that there is no more.
                    Outcome::InputEmpty if self.refill()? => continue 'again,
                    Outcome::InputEmpty => {}
                    Outcome::OutputFull => self.unquoted.resize(2 * self.unquoted.len(), 0),
                    Outcome::OutputEndsFull if self.ends.len() > MOST_FIELDS => {
                        return Err(self.too_many());
                    }
                    Outcome::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                    Outcome::Record | Outcome::End => break,
                }
            }
            let taken = &self.buffer[self.ahead.start..self.ahead.start + consumed];
            self.line = self.next_line;
            self.next_line += lines_of(taken);
            self.ahead.start += consumed;
            // The parser takes the first half of a line end of two bytes.
            if taken.ends_with(b"\r") {
                if self.ahead.is_empty() {
                    self.refill()?;
                }
                if self.buffer[self.ahead.clone()].starts_with(b"\n") {
                    self.ahead.start += 1;
                }
            }
            let ends = self.ends[..ended].iter().copied();
            self.fields.clear();
            self.fields.extend(std::iter::once(0).chain(ends.clone()).zip(ends));
            self.quoted = true;
            return Ok(true);
        }
    }

    fn too_many(&mut self) -> Error {
        self.line = self.next_line;
        self.wrong(format!("the line has more than {MOST_FIELDS} fields"))
    }

    pub fn wrong(&self, reason: String) -> Error {
        Error::Line { path: self.path.clone(), line: self.line, reason }
    }

    pub fn uneven(&self, width: usize) -> Error {
        let (found, lines) = (self.fields.len(), self.next_line - self.line);
        let open = if self.quoted && lines > 1 {
            format!("; the record goes over {lines} lines: is a quotation mark left open?")
        } else {
            String::new()
        };
        self.wrong(format!("{found} field(s) where the lines above have {width}{open}"))
    }
}

/// What cutting a line came to.
enum Cut {
    Record,
    /// A line with nothing on it.
    Blank,
    /// It has a quoted field.
    Quoted,
    /// It has more fields than are read.
    TooMany,
    /// Its end has not been read yet, or there is nothing left.
    Short,
}

/// How many lines end in a text: at `\n`, `\r\n` and `\r`.
fn lines_of(text: &[u8]) -> u64 {
    let ends = text.iter().enumerate().filter(|&(at, &byte)| {
        byte == b'\r' || (byte == b'\n' && (at == 0 || text[at - 1] != b'\r'))
    });
    ends.count() as u64
}

/// How often a byte occurs outside quotation marks.
fn outside_quotes(line: &[u8], delimiter: u8) -> usize {
    let mut inside = false;
    let mut count = 0;
    for &byte in line {
        inside ^= byte == b'"';
        count += usize::from(!inside && byte == delimiter);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Found = Vec<(u64, Vec<Vec<u8>>)>;

    fn scanned(text: &[u8], block: usize) -> Found {
        let mut scanner = Scanner::with_block("t.csv".into(), text, block);
        let mut found = Vec::new();
        while scanner.advance().unwrap() {
            let fields = (0..scanner.fields.len()).map(|i| scanner.field(i).to_vec()).collect();
            found.push((scanner.line, fields));
        }
        found
    }

    /// What the csv crate makes of the same text.
    fn by_crate(text: &[u8]) -> Found {
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
        let records = reader.byte_records().map(|record| record.unwrap());
        let fields = records.map(|record| {
            let line = record.position().unwrap().line();
            (line, record.iter().map(|field| field.trim_ascii().to_vec()).collect::<Vec<_>>())
        });
        // Lines of spaces are blank here.
        fields.filter(|(_, f)| f.len() > 1 || !f[0].is_empty()).collect()
    }

    proptest! {
        #[test]
        fn records_are_those_of_the_csv_crate_whatever_the_blocks(
            text in "[ab,\"\n\r ]{0,60}", block in 1..9_usize
        ) {
            let fields = |found: Found| -> Vec<_> {
                // A record of one quoted, empty field is nothing to either.
                let full = found.into_iter().map(|(_, fields)| fields);
                full.filter(|f| f.len() > 1 || !f[0].is_empty()).collect()
            };
            prop_assert_eq!(fields(scanned(text.as_bytes(), block)), fields(by_crate(text.as_bytes())));
            prop_assert_eq!(scanned(text.as_bytes(), block), scanned(text.as_bytes(), 1000));
        }
    }

    #[test]
    fn lines_are_counted_through_blank_lines_and_quotes() {
        let text = b"a,b\n\r\n\n\"x\r\ny\",2\r\nc,d\re,\"f\"";
        let lines: Vec<u64> = scanned(text, 3).iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 4, 6, 7]);
    }

    #[test]
    fn what_separates_fields_is_found_out() {
        let guess = |text: &str| {
            let mut scanner = Scanner::new("t.csv".into(), text.as_bytes());
            scanner.guess_delimiter(false).unwrap()
        };
        assert_eq!(guess("row;column;value\na;b;3,5\n"), b';');
        assert_eq!(guess("a;b;3,5\na;c;4,5\n"), b';');
        assert_eq!(guess("row,column,value\na;x,b,3\n"), b',');
        assert_eq!(guess("a\tb\t1\nc\td\t2\n"), b'\t');
        assert_eq!(guess("\"a;b\",c;d,1\n"), b',');
        assert_eq!(guess("alone\n"), b',');
    }

    #[test]
    fn a_line_of_nothing_but_delimiters_is_not_read_to_its_end() {
        for first in ["", "\"x\""] {
            let text = format!("a,b\n{first}{}", ",".repeat(3 * MOST_FIELDS));
            let mut scanner = Scanner::new("t.csv".into(), text.as_bytes());
            assert!(scanner.advance().unwrap());
            let error = scanner.advance().unwrap_err().to_string();
            assert!(error.contains("line 2") && error.contains("fields"), "{error}");
        }
    }

    #[test]
    fn an_open_quotation_mark_is_suspected() {
        let text = format!("a,b\n\"c,d\n{}", "x,y\n".repeat(LONGEST / 4));
        let mut scanner = Scanner::new("t.csv".into(), text.as_bytes());
        assert!(scanner.advance().unwrap());
        let error = scanner.advance().unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("left open"), "{error}");
    }
}
