//! The sizes that the pages of a Parquet file claim, looked at before any page is unpacked.
//!
//! The reader of the `parquet` crate reserves what a page header says the page unpacks to. Headers are
//! small structures in Thrift's compact protocol, each before its page; here just the three numbers that
//! matter are taken from them, and everything else is passed over.

use std::{
    fs::File,
    io::{BufReader, ErrorKind, Read, Seek, SeekFrom},
};

/// What is wrong with the pages, in words.
pub(crate) type Wrong = String;

/// The pages of one column in one group of rows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PageSizes {
    /// Bytes that are held at a time: a dictionary and the largest page.
    pub held: u64,
}

/// Kinds of pages.
const DICTIONARY: i64 = 2;
/// No header of a page is longer; statistics in it may hold two texts.
const LONGEST_HEADER: u64 = 16 << 20;

/// Looks at the headers of all pages from `start` to `start + length`.
pub(crate) fn page_sizes(file: &File, start: u64, length: u64) -> Result<PageSizes, Wrong> {
    let end = start.checked_add(length).ok_or("a column begins or ends nowhere")?;
    let mut reader = BufReader::with_capacity(1 << 10, file);
    reader.seek(SeekFrom::Start(start)).map_err(|e| e.to_string())?;
    let (mut at, mut dictionary, mut largest) = (start, 0, 0);
    while at < end {
        let mut header = Compact { from: (&mut reader).take(LONGEST_HEADER), taken: 0 };
        let page = match header.page() {
            Ok(page) => page,
            // Some writers count a few bytes too many; what follows is not read either.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof && at > start => break,
            Err(error) => return Err(format!("a page header cannot be read ({error})")),
        };
        let [kind, unpacked, packed] = page.map(|n| u64::try_from(n).ok());
        let (Some(kind), Some(unpacked), Some(packed)) = (kind, unpacked, packed) else {
            return Err("a page claims a negative size".to_owned());
        };
        at += header.taken + packed;
        if kind == DICTIONARY as u64 {
            dictionary = unpacked.max(dictionary);
        } else {
            largest = unpacked.max(largest);
        }
        let forward = i64::try_from(packed).map_err(|_| "a page claims too large a size")?;
        reader.seek_relative(forward).map_err(|e| e.to_string())?;
    }
    Ok(PageSizes { held: dictionary + largest })
}

/// Thrift's compact protocol, as far as it is needed.
struct Compact<R> {
    from: R,
    taken: u64,
}

impl<R: Read> Compact<R> {
    /// Kind, unpacked size and packed size of a page.
    fn page(&mut self) -> std::io::Result<[i64; 3]> {
        let mut found = [None; 3];
        let mut field = 0;
        while let Some(kind) = self.field(&mut field)? {
            match (field, kind) {
                (1..=3, 5) => found[field as usize - 1] = Some(self.signed()?),
                _ => self.pass(kind, 0)?,
            }
        }
        match found {
            [Some(kind), Some(unpacked), Some(packed)] => Ok([kind, unpacked, packed]),
            _ => Err(std::io::Error::new(ErrorKind::InvalidData, "it names no sizes")),
        }
    }

    fn byte(&mut self) -> std::io::Result<u8> {
        let mut byte = [0];
        self.from.read_exact(&mut byte)?;
        self.taken += 1;
        Ok(byte[0])
    }

    fn unsigned(&mut self) -> std::io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(std::io::Error::new(ErrorKind::InvalidData, "a number does not end"))
    }

    fn signed(&mut self) -> std::io::Result<i64> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The kind of the next field, whose number is left in `field`; none at the end of a structure.
    fn field(&mut self, field: &mut i64) -> std::io::Result<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        *field = match byte >> 4 {
            0 => self.signed()?,
            step => field.wrapping_add(i64::from(step)),
        };
        Ok(Some(byte & 0x0f))
    }

    /// Passes over a value.
    fn pass(&mut self, kind: u8, depth: u32) -> std::io::Result<()> {
        let odd = |what| Err(std::io::Error::new(ErrorKind::InvalidData, what));
        if depth > 16 {
            return odd("it is nested too deeply");
        }
        match kind {
            // True and false are in the kind itself.
            1 | 2 => Ok(()),
            3 => self.byte().map(|_| ()),
            4..=6 => self.unsigned().map(|_| ()),
            7 => self.pass_bytes(8),
            8 => {
                let length = self.unsigned()?;
                self.pass_bytes(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.unsigned()?,
                    count => u64::from(count),
                };
                // Lists of true and false take a byte each.
                let of = head & 0x0f;
                for _ in 0..count {
                    if of <= 2 { self.pass_bytes(1)? } else { self.pass(of, depth + 1)? }
                }
                Ok(())
            }
            12 => {
                let mut field = 0;
                while let Some(kind) = self.field(&mut field)? {
                    self.pass(kind, depth + 1)?;
                }
                Ok(())
            }
            _ => odd("it has a field of an unknown kind"),
        }
    }

    fn pass_bytes(&mut self, count: u64) -> std::io::Result<()> {
        let copied = std::io::copy(&mut self.from.by_ref().take(count), &mut std::io::sink())?;
        self.taken += copied;
        if copied == count { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }
}
