//! One NumPy array (`.npy`), number by number.

use std::io::Read;

use arrow_array::types::{ArrowPrimitiveType, Float16Type};

use crate::{
    error::{Error, Result},
    reading::{
        cells::{Cell, Collector, finite},
        source::Source,
    },
};

/// The longest header; NumPy itself reads no more than 10,000 bytes unless told to.
const LONGEST_HEADER: u32 = 1 << 16;

/// What the numbers of an array are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    class: Class,
    width: usize,
    big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Float,
    Signed,
    Unsigned,
    Boolean,
    /// Text of bytes, or of four bytes a letter.
    Text,
}

/// An array whose header has been read.
pub(crate) struct Array<R> {
    pub shape: Vec<u64>,
    columns_first: bool,
    kind: Kind,
    bytes: R,
}

/// Gives all cells of an array of two dimensions.
pub(crate) fn read(source: &Source, bytes: impl Read, into: &mut Collector) -> Result<()> {
    let array = Array::open(bytes).map_err(|reason| damaged(source, reason))?;
    array.cells(source, into)
}

pub(crate) fn damaged(source: &Source, reason: String) -> Error {
    Error::Damaged { path: source.name(), kind: "NumPy", reason }
}

impl<R: Read> Array<R> {
    pub fn open(mut bytes: R) -> std::result::Result<Self, String> {
        let cut_off = |_| "it is cut off".to_owned();
        let mut head = [0; 8];
        bytes.read_exact(&mut head).map_err(cut_off)?;
        if !head.starts_with(b"\x93NUMPY") {
            return Err("it does not begin as a NumPy array does".to_owned());
        }
        let mut length = [0; 4];
        let size = if head[6] == 1 { 2 } else { 4 };
        bytes.read_exact(&mut length[..size]).map_err(cut_off)?;
        let length = u32::from_le_bytes(length);
        if length > LONGEST_HEADER {
            return Err(format!("it claims a header of {length} bytes"));
        }
        let mut header = vec![0; length as usize];
        bytes.read_exact(&mut header).map_err(cut_off)?;
        let header = String::from_utf8_lossy(&header).into_owned();
        let (kind, columns_first, shape) = parsed(&header)?;
        Ok(Self { shape, columns_first, kind, bytes })
    }

    /// The next number; none at the end of the file.
    pub fn number(&mut self) -> std::result::Result<Option<f64>, String> {
        let Some(eight) = self.raw()? else { return Ok(None) };
        let bits = u64::from_le_bytes(eight);
        let value = match (self.kind.class, self.kind.width) {
            (Class::Float, 2) => {
                <Float16Type as ArrowPrimitiveType>::Native::from_bits(bits as u16).to_f64()
            }
            (Class::Float, 4) => f64::from(f32::from_bits(bits as u32)),
            (Class::Float, _) => f64::from_bits(bits),
            (Class::Unsigned, _) => bits as f64,
            (Class::Boolean, _) => f64::from(u8::from(bits != 0)),
            (Class::Signed, width) => signed(bits, width) as f64,
            (Class::Text, _) => return Err("it holds text where numbers should be".to_owned()),
        };
        Ok(Some(value))
    }

    /// The next number, which must be whole and not negative; none at the end of the file.
    pub fn index(&mut self) -> std::result::Result<Option<u64>, String> {
        let Some(eight) = self.raw()? else { return Ok(None) };
        let bits = u64::from_le_bytes(eight);
        match self.kind.class {
            Class::Unsigned => Ok(Some(bits)),
            Class::Signed => match u64::try_from(signed(bits, self.kind.width)) {
                Ok(index) => Ok(Some(index)),
                Err(_) => Err("a row or column has a negative number".to_owned()),
            },
            _ => Err("rows and columns must have whole numbers".to_owned()),
        }
    }

    /// The one word that an array without dimensions holds.
    pub fn word(mut self) -> std::result::Result<String, String> {
        if self.kind.class != Class::Text {
            return Err("there should be text".to_owned());
        }
        let mut bytes = Vec::new();
        let length = self.kind.width.min(1 << 10) as u64;
        self.bytes.by_ref().take(length).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes.iter().filter(|byte| byte.is_ascii_graphic()).map(|&b| char::from(b)).collect())
    }

    /// The bytes of the next number, the lowest first.
    fn raw(&mut self) -> std::result::Result<Option<[u8; 8]>, String> {
        let width = self.kind.width;
        if self.kind.class == Class::Text {
            return Err("it holds text where numbers should be".to_owned());
        }
        let mut eight = [0; 8];
        let mut have = 0;
        while have < width {
            match self.bytes.read(&mut eight[have..width]) {
                Ok(0) if have == 0 => return Ok(None),
                Ok(0) => return Err("it is cut off".to_owned()),
                Ok(count) => have += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        if self.kind.big_endian {
            eight[..width].reverse();
        }
        Ok(Some(eight))
    }

    /// Gives all cells of a matrix, in the order in which they stand.
    pub fn cells(mut self, source: &Source, into: &mut Collector) -> Result<()> {
        let &[rows, columns] = self.shape.as_slice() else {
            let reason = format!(
                "the array has {} dimension(s); a matrix of rows and columns is needed",
                self.shape.len()
            );
            return Err(Error::Unsupported { path: source.name(), reason });
        };
        let (outer, inner) = if self.columns_first { (columns, rows) } else { (rows, columns) };
        for i in 0..if inner == 0 { 0 } else { outer } {
            for j in 0..inner {
                let value = self.number().map_err(|reason| damaged(source, reason))?;
                let value = value.ok_or_else(|| {
                    let reason =
                        format!("it is cut off: there should be {rows} x {columns} numbers");
                    damaged(source, reason)
                })?;
                let (row, column) = if self.columns_first { (j, i) } else { (i, j) };
                into.take(finite(source, Cell { row, column, value })?);
            }
        }
        Ok(())
    }
}

fn signed(bits: u64, width: usize) -> i64 {
    let unused = 64 - 8 * width as u32;
    (bits << unused) as i64 >> unused
}

/// The type, whether columns come first, and the shape, from the header: a literal of Python such
/// as `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
fn parsed(header: &str) -> std::result::Result<(Kind, bool, Vec<u64>), String> {
    let odd = || {
        format!(
            "its header cannot be read: {}",
            header.trim().chars().take(200).collect::<String>()
        )
    };
    let mut rest = header.trim().strip_prefix('{').ok_or_else(odd)?.trim_start();
    let (mut kind, mut order, mut shape) = (None, None, None);
    while !rest.starts_with('}') {
        let (key, after) = quoted(rest).ok_or_else(odd)?;
        let value = after.trim_start().strip_prefix(':').ok_or_else(odd)?.trim_start();
        rest = match key {
            "descr" => {
                let (text, after) = quoted(value)
                    .ok_or("its elements are records of several fields; save one field of them")?;
                kind = Some(kind_of(text)?);
                after
            }
            "fortran_order" => match (value.strip_prefix("True"), value.strip_prefix("False")) {
                (Some(after), _) => {
                    order = Some(true);
                    after
                }
                (_, Some(after)) => {
                    order = Some(false);
                    after
                }
                _ => return Err(odd()),
            },
            "shape" => {
                let (inside, after) =
                    value.strip_prefix('(').and_then(|v| v.split_once(')')).ok_or_else(odd)?;
                let sizes = inside.split(',').map(str::trim).filter(|size| !size.is_empty());
                let sizes = sizes.map(|size| size.trim_end_matches('L').parse().ok());
                shape = Some(sizes.collect::<Option<Vec<u64>>>().ok_or_else(odd)?);
                after
            }
            _ => return Err(odd()),
        };
        rest = rest.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    match (kind, order, shape) {
        (Some(kind), Some(order), Some(shape)) => Ok((kind, order, shape)),
        _ => Err(odd()),
    }
}

/// A text in quotation marks, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '\'' | '"'))?;
    text[1..].split_once(mark)
}

fn kind_of(text: &str) -> std::result::Result<Kind, String> {
    let unknown = || format!("its elements are of the type '{text}'; save it as float64");
    if !text.is_ascii() || text.len() < 3 {
        return Err(unknown());
    }
    let (order, class, width) = (&text[..1], &text[1..2], &text[2..]);
    if class == "O" {
        return Err(
            "its elements are Python objects, which are not read: save it as float64".into()
        );
    }
    let mut width: usize = width.parse().map_err(|_| unknown())?;
    let class = match (class, width) {
        ("f", 2 | 4 | 8) => Class::Float,
        ("i", 1 | 2 | 4 | 8) => Class::Signed,
        ("u", 1 | 2 | 4 | 8) => Class::Unsigned,
        ("b", 1) => Class::Boolean,
        ("S", _) => Class::Text,
        ("U", _) => {
            width = width.saturating_mul(4);
            Class::Text
        }
        _ => return Err(unknown()),
    };
    match order {
        "<" | "|" | "=" => Ok(Kind { class, width, big_endian: false }),
        ">" => Ok(Kind { class, width, big_endian: true }),
        _ => Err(unknown()),
    }
}
