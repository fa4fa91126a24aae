//! A column of an Arrow batch as names or as values, whatever its type.

use std::fmt::Write;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Decimal128Array, Decimal256Array,
    FixedSizeBinaryArray, Float64Array, Int64Array, LargeBinaryArray, LargeStringArray,
    StringArray, StringViewArray, UInt64Array,
    cast::AsArray,
    temporal_conversions::{
        date32_to_datetime, date64_to_datetime, timestamp_ms_to_datetime, timestamp_ns_to_datetime,
        timestamp_s_to_datetime, timestamp_us_to_datetime,
    },
    types::{
        Date32Type, Date64Type, Decimal32Type, Decimal64Type, Float16Type, Float32Type,
        Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
        TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
        UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_schema::{DataType, TimeUnit};

use crate::{
    labels::Labels,
    reading::number::{Field, Marks},
};

/// The longest name, in bytes: a file may hold a text once and refer to it a million times, and each
/// time it would be read.
pub(crate) const LONGEST_NAME: usize = 1 << 16;

/// What a column holds.
pub(crate) enum Column {
    Floats(Float64Array),
    Signed(Int64Array),
    Unsigned(UInt64Array),
    Booleans(BooleanArray),
    Decimals(Decimal128Array),
    LargeDecimals(Decimal256Array),
    Texts(Texts),
    /// Days or moments, in units of their own.
    Moments(Int64Array, Moment),
    /// Numbers of values that stand elsewhere.
    Coded(Int64Array, Box<Column>),
    /// Nothing but nulls.
    Nothing,
}

/// Text, in the ways that Arrow lays it out; bytes are taken as text.
pub(crate) enum Texts {
    Small(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
    SmallBytes(BinaryArray),
    LargeBytes(LargeBinaryArray),
    ViewBytes(BinaryViewArray),
    FixedBytes(FixedSizeBinaryArray),
}

/// What a whole number says about time.
#[derive(Clone, Copy)]
pub(crate) enum Moment {
    Day,
    DayInMilliseconds,
    /// A moment; of the world's clock if that is so, else of a clock on a wall.
    Time(TimeUnit, bool),
}

/// Why a field is no name.
pub(crate) enum NoName {
    Null,
    NotText,
    TooLong,
    Fraction(f64),
    OutOfRange,
}

/// What a field is, that should be a value.
pub(crate) enum Cell {
    Value(f64),
    Missing,
    NotFinite(f64),
    Text(String),
    /// A date or time.
    Moment,
}

/// Whether columns of a type can be read.
pub(crate) fn is_readable(kind: &DataType) -> bool {
    use DataType as T;
    match kind {
        T::Dictionary(_, of) => !matches!(**of, T::Dictionary(..)) && is_readable(of),
        T::Null | T::Boolean | T::Date32 | T::Date64 | T::Timestamp(..) => true,
        T::Utf8 | T::LargeUtf8 | T::Utf8View => true,
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => true,
        other => other.is_numeric(),
    }
}

impl Column {
    /// `None` for types that hold neither names nor values.
    pub fn new(array: &ArrayRef) -> Option<Self> {
        use DataType as T;
        macro_rules! widened {
            ($kind:ident, $from:ty, $to:ty) => {
                Column::$kind(array.as_primitive::<$from>().unary::<_, $to>(Into::into))
            };
        }
        macro_rules! moments {
            ($from:ty, $moment:expr) => {
                Column::Moments(
                    array.as_primitive::<$from>().unary::<_, Int64Type>(i64::from),
                    $moment,
                )
            };
        }
        Some(match array.data_type() {
            T::Null => Column::Nothing,
            T::Boolean => Column::Booleans(array.as_boolean().clone()),
            T::Int8 => widened!(Signed, Int8Type, Int64Type),
            T::Int16 => widened!(Signed, Int16Type, Int64Type),
            T::Int32 => widened!(Signed, Int32Type, Int64Type),
            T::Int64 => Column::Signed(array.as_primitive::<Int64Type>().clone()),
            T::UInt8 => widened!(Unsigned, UInt8Type, UInt64Type),
            T::UInt16 => widened!(Unsigned, UInt16Type, UInt64Type),
            T::UInt32 => widened!(Unsigned, UInt32Type, UInt64Type),
            T::UInt64 => Column::Unsigned(array.as_primitive::<UInt64Type>().clone()),
            T::Float16 => widened!(Floats, Float16Type, Float64Type),
            T::Float32 => widened!(Floats, Float32Type, Float64Type),
            T::Float64 => Column::Floats(array.as_primitive::<Float64Type>().clone()),
            T::Decimal32(precision, scale) => {
                let wide: Decimal128Array = array.as_primitive::<Decimal32Type>().unary(i128::from);
                Column::Decimals(wide.with_precision_and_scale(*precision, *scale).ok()?)
            }
            T::Decimal64(precision, scale) => {
                let wide: Decimal128Array = array.as_primitive::<Decimal64Type>().unary(i128::from);
                Column::Decimals(wide.with_precision_and_scale(*precision, *scale).ok()?)
            }
            T::Decimal128(..) => Column::Decimals(array.as_primitive().clone()),
            T::Decimal256(..) => Column::LargeDecimals(array.as_primitive().clone()),
            T::Utf8 => Column::Texts(Texts::Small(array.as_string().clone())),
            T::LargeUtf8 => Column::Texts(Texts::Large(array.as_string().clone())),
            T::Utf8View => Column::Texts(Texts::View(array.as_string_view().clone())),
            T::Binary => Column::Texts(Texts::SmallBytes(array.as_binary().clone())),
            T::LargeBinary => Column::Texts(Texts::LargeBytes(array.as_binary().clone())),
            T::BinaryView => Column::Texts(Texts::ViewBytes(array.as_binary_view().clone())),
            T::FixedSizeBinary(_) => {
                Column::Texts(Texts::FixedBytes(array.as_fixed_size_binary().clone()))
            }
            T::Date32 => moments!(Date32Type, Moment::Day),
            T::Date64 => moments!(Date64Type, Moment::DayInMilliseconds),
            T::Timestamp(unit, zone) => {
                let moment = Moment::Time(*unit, zone.is_some());
                match unit {
                    TimeUnit::Second => moments!(TimestampSecondType, moment),
                    TimeUnit::Millisecond => moments!(TimestampMillisecondType, moment),
                    TimeUnit::Microsecond => moments!(TimestampMicrosecondType, moment),
                    TimeUnit::Nanosecond => moments!(TimestampNanosecondType, moment),
                }
            }
            T::Dictionary(..) => {
                let coded = array.as_any_dictionary_opt()?;
                let values = Column::new(coded.values())?;
                let keys = coded.keys();
                let codes = match keys.data_type() {
                    T::Int8 => keys.as_primitive::<Int8Type>().unary(i64::from),
                    T::Int16 => keys.as_primitive::<Int16Type>().unary(i64::from),
                    T::Int32 => keys.as_primitive::<Int32Type>().unary(i64::from),
                    T::Int64 => keys.as_primitive::<Int64Type>().clone(),
                    T::UInt8 => keys.as_primitive::<UInt8Type>().unary(i64::from),
                    T::UInt16 => keys.as_primitive::<UInt16Type>().unary(i64::from),
                    T::UInt32 => keys.as_primitive::<UInt32Type>().unary(i64::from),
                    _ => return None,
                };
                Column::Coded(codes, Box::new(values))
            }
            _ => return None,
        })
    }

    fn is_null(&self, at: usize) -> bool {
        match self {
            Column::Floats(a) => a.is_null(at),
            Column::Signed(a) | Column::Moments(a, _) | Column::Coded(a, _) => a.is_null(at),
            Column::Unsigned(a) => a.is_null(at),
            Column::Booleans(a) => a.is_null(at),
            Column::Decimals(a) => a.is_null(at),
            Column::LargeDecimals(a) => a.is_null(at),
            Column::Texts(texts) => texts.bytes(at).is_none(),
            Column::Nothing => true,
        }
    }

    /// Where the value of a coded field stands.
    fn decoded<'a>(
        &self,
        codes: &Int64Array,
        of: &'a Column,
        at: usize,
    ) -> Option<(&'a Column, usize)> {
        let code = usize::try_from(codes.value(at)).ok()?;
        (code < of.len()).then_some((of, code))
    }

    fn len(&self) -> usize {
        match self {
            Column::Floats(a) => a.len(),
            Column::Signed(a) | Column::Moments(a, _) | Column::Coded(a, _) => a.len(),
            Column::Unsigned(a) => a.len(),
            Column::Booleans(a) => a.len(),
            Column::Decimals(a) => a.len(),
            Column::LargeDecimals(a) => a.len(),
            Column::Texts(texts) => texts.len(),
            Column::Nothing => 0,
        }
    }

    /// The number of the name that a field is.
    pub fn label(&self, at: usize, labels: &mut Labels) -> Result<usize, NoName> {
        if self.is_null(at) {
            return Err(NoName::Null);
        }
        let mut text = String::new();
        match self {
            Column::Texts(texts) => {
                let bytes = texts.bytes(at).ok_or(NoName::Null)?;
                if bytes.len() > LONGEST_NAME {
                    return Err(NoName::TooLong);
                }
                return labels.number_of_bytes(bytes).ok_or(NoName::NotText);
            }
            Column::Coded(codes, of) => {
                let (of, at) = self.decoded(codes, of, at).ok_or(NoName::Null)?;
                return of.label(at, labels);
            }
            Column::Nothing => return Err(NoName::Null),
            Column::Moments(moments, unit) => unit.write(moments.value(at), &mut text)?,
            Column::Signed(a) => put(&mut text, a.value(at)),
            Column::Unsigned(a) => put(&mut text, a.value(at)),
            Column::Booleans(a) => put(&mut text, a.value(at)),
            Column::Decimals(a) => text = decimal(&a.value(at).to_string(), a.scale()),
            Column::LargeDecimals(a) => text = decimal(&a.value(at).to_string(), a.scale()),
            Column::Floats(a) => {
                // Whole numbers become floats where a table has gaps; their names stay the same.
                let value = a.value(at);
                if value.is_nan() {
                    return Err(NoName::Null);
                }
                if value.fract() != 0.0 || value.abs() > 9e15 {
                    return Err(NoName::Fraction(value));
                }
                put(&mut text, value as i64);
            }
        }
        Ok(labels.number(&text))
    }

    /// The value that a field is; NaN is a missing one.
    #[inline]
    pub fn cell(&self, at: usize, marks: &Marks) -> Cell {
        if self.is_null(at) {
            return Cell::Missing;
        }
        let value = match self {
            Column::Floats(a) => a.value(at),
            Column::Signed(a) => a.value(at) as f64,
            Column::Unsigned(a) => a.value(at) as f64,
            Column::Booleans(a) => f64::from(u8::from(a.value(at))),
            // The text of a decimal is exact, and its number the nearest.
            Column::Decimals(a) => nearest(&decimal(&a.value(at).to_string(), a.scale())),
            Column::LargeDecimals(a) => nearest(&decimal(&a.value(at).to_string(), a.scale())),
            Column::Moments(..) => return Cell::Moment,
            Column::Nothing => return Cell::Missing,
            Column::Coded(codes, of) => {
                return match self.decoded(codes, of, at) {
                    Some((of, at)) => of.cell(at, marks),
                    None => Cell::Missing,
                };
            }
            Column::Texts(texts) => {
                let Some(text) = texts.bytes(at) else { return Cell::Missing };
                let text = text.trim_ascii();
                return match marks.field(text, false) {
                    Field::Value(value) => Cell::Value(value),
                    Field::Missing => Cell::Missing,
                    Field::NotFinite | Field::Text => {
                        Cell::Text(String::from_utf8_lossy(text).into_owned())
                    }
                };
            }
        };
        if value.is_nan() || marks.has_number(value) {
            Cell::Missing
        } else if value.is_finite() {
            Cell::Value(value)
        } else {
            Cell::NotFinite(value)
        }
    }
}

/// Writing to a text does not fail.
fn put(text: &mut String, value: impl std::fmt::Display) {
    let _ = write!(text, "{value}");
}

impl Texts {
    fn len(&self) -> usize {
        match self {
            Texts::Small(a) => a.len(),
            Texts::Large(a) => a.len(),
            Texts::View(a) => a.len(),
            Texts::SmallBytes(a) => a.len(),
            Texts::LargeBytes(a) => a.len(),
            Texts::ViewBytes(a) => a.len(),
            Texts::FixedBytes(a) => a.len(),
        }
    }

    /// The bytes of a field that is not null.
    fn bytes(&self, at: usize) -> Option<&[u8]> {
        match self {
            Texts::Small(a) => a.is_valid(at).then(|| a.value(at).as_bytes()),
            Texts::Large(a) => a.is_valid(at).then(|| a.value(at).as_bytes()),
            Texts::View(a) => a.is_valid(at).then(|| a.value(at).as_bytes()),
            Texts::SmallBytes(a) => a.is_valid(at).then(|| a.value(at)),
            Texts::LargeBytes(a) => a.is_valid(at).then(|| a.value(at)),
            Texts::ViewBytes(a) => a.is_valid(at).then(|| a.value(at)),
            Texts::FixedBytes(a) => a.is_valid(at).then(|| a.value(at)),
        }
    }
}

impl Moment {
    /// As ISO 8601 has it: `2024-02-29`, `2024-02-29T12:00:00`, with a Z for the world's clock.
    fn write(self, value: i64, text: &mut String) -> Result<(), NoName> {
        let time = match self {
            Moment::Day => i32::try_from(value).ok().and_then(date32_to_datetime),
            Moment::DayInMilliseconds => date64_to_datetime(value),
            Moment::Time(TimeUnit::Second, _) => timestamp_s_to_datetime(value),
            Moment::Time(TimeUnit::Millisecond, _) => timestamp_ms_to_datetime(value),
            Moment::Time(TimeUnit::Microsecond, _) => timestamp_us_to_datetime(value),
            Moment::Time(TimeUnit::Nanosecond, _) => timestamp_ns_to_datetime(value),
        };
        let time = time.ok_or(NoName::OutOfRange)?;
        match self {
            Moment::Day | Moment::DayInMilliseconds => put(text, time.date()),
            Moment::Time(_, world) => {
                let _ = write!(text, "{time:?}");
                if world {
                    text.push('Z');
                }
            }
        }
        Ok(())
    }
}

/// A decimal of so many units of `10^-scale`, as text. Written here because the crate's own cuts off
/// digits beyond the declared precision, and panics where that lies below the scale.
fn decimal(units: &str, scale: i8) -> String {
    let (sign, digits) = units.split_at(usize::from(units.starts_with('-')));
    let places = usize::from(scale.unsigned_abs());
    if scale <= 0 {
        let zeros = if digits == "0" { 0 } else { places };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    }
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    format!("{sign}{whole}.{fraction}")
}

/// The number nearest to a text of digits.
fn nearest(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_every_digit() {
        assert_eq!(decimal("12345", 2), "123.45");
        assert_eq!(decimal("-5", 3), "-0.005");
        assert_eq!(decimal("0", 2), "0.00");
        assert_eq!(decimal("42", 0), "42");
        assert_eq!(decimal("-42", -3), "-42000");
        assert_eq!(decimal("0", -3), "0");
        assert_eq!(nearest(&decimal("-1", 127)), -1e-127);
    }
}
