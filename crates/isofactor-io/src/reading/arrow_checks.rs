//! What the messages of an Arrow file say about themselves, checked before they are decoded.

use arrow_ipc::{Field as FieldNote, RecordBatch as BatchNote, Type};
use arrow_schema::DataType;

use crate::reading::decoded_limit;

/// What is wrong, in words.
type Words<T> = Result<T, String>;

/// A batch has no more rows than this for each byte.
const ROWS_PER_BYTE: u64 = 1 << 13;

/// Refuses what `arrow-ipc` panics on, and nested columns, whose parts it would have to trust.
pub(crate) fn check_field(field: &FieldNote<'_>) -> Words<()> {
    let name = field.name().unwrap_or("");
    if let Some(dictionary) = field.dictionary() {
        let codes =
            dictionary.indexType().ok_or_else(|| format!("'{name}' has codes of no type"))?;
        if !matches!(codes.bitWidth(), 8 | 16 | 32 | 64) {
            return Err(format!("'{name}' has codes of an unknown type"));
        }
    }
    use arrow_ipc as ipc;
    let known = match field.type_type() {
        Type::Null | Type::Bool => true,
        Type::Utf8 | Type::LargeUtf8 | Type::Utf8View => true,
        Type::Binary | Type::LargeBinary | Type::BinaryView => true,
        Type::FixedSizeBinary => {
            field.type_as_fixed_size_binary().is_some_and(|t| t.byteWidth() >= 0)
        }
        Type::Int => field.type_as_int().is_some_and(|t| matches!(t.bitWidth(), 8 | 16 | 32 | 64)),
        Type::FloatingPoint => field.type_as_floating_point().is_some_and(|t| {
            let known = [ipc::Precision::HALF, ipc::Precision::SINGLE, ipc::Precision::DOUBLE];
            known.contains(&t.precision())
        }),
        Type::Date => field
            .type_as_date()
            .is_some_and(|t| [ipc::DateUnit::DAY, ipc::DateUnit::MILLISECOND].contains(&t.unit())),
        Type::Timestamp => field.type_as_timestamp().is_some_and(|t| is_unit(t.unit())),
        Type::Duration => field.type_as_duration().is_some_and(|t| is_unit(t.unit())),
        Type::Time => field.type_as_time().is_some_and(|t| {
            use ipc::TimeUnit as U;
            let fits =
                [(32, U::SECOND), (32, U::MILLISECOND), (64, U::MICROSECOND), (64, U::NANOSECOND)];
            fits.contains(&(t.bitWidth(), t.unit()))
        }),
        Type::Decimal => field.type_as_decimal().is_some_and(|t| {
            let most = match t.bitWidth() {
                32 => 9,
                64 => 18,
                128 => 38,
                256 => 76,
                _ => 0,
            };
            (1..=most).contains(&t.precision()) && (-most..=most).contains(&t.scale())
        }),
        _ => {
            return Err(format!(
                "the column '{name}' is nested or of a type that is neither names nor numbers; \
                 write the file without it"
            ));
        }
    };
    if known { Ok(()) } else { Err(format!("the column '{name}' is of an unknown type")) }
}

fn is_unit(unit: arrow_ipc::TimeUnit) -> bool {
    use arrow_ipc::TimeUnit as U;
    [U::SECOND, U::MILLISECOND, U::MICROSECOND, U::NANOSECOND].contains(&unit)
}

/// Checks what a batch says about itself against its columns and the bytes that are there.
pub(crate) fn check_batch<'a>(
    batch: &BatchNote<'_>,
    kinds: impl Iterator<Item = &'a DataType>,
    body: &[u8],
) -> Words<()> {
    let (nodes, buffers) = match (batch.nodes(), batch.buffers()) {
        (Some(nodes), Some(buffers)) => (nodes, buffers),
        _ => return Err("a batch without columns".to_owned()),
    };
    let rows = u64::try_from(batch.length()).map_err(|_| "a batch of negative length")?;
    let present = body.len() as u64;
    if rows > present.saturating_mul(ROWS_PER_BYTE) {
        return Err(format!("a batch claims {rows} rows in {present} bytes"));
    }
    let views: Vec<i64> = batch.variadicBufferCounts().into_iter().flatten().collect();
    if views.iter().any(|&count| count < 0 || count > buffers.len() as i64) {
        return Err("a column of text has too many parts".to_owned());
    }
    let mut views = views.into_iter();
    let (mut columns, mut parts) = (0, 0);
    for kind in kinds {
        columns += 1;
        parts += match kind {
            DataType::Null => 0,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => 3,
            DataType::Utf8View | DataType::BinaryView => {
                2 + views.next().ok_or("a column of text lacks its parts")?
            }
            _ => 2,
        };
    }
    if views.next().is_some() || columns != nodes.len() || parts != buffers.len() as i64 {
        return Err("a batch does not have the columns that it should have".to_owned());
    }
    for node in nodes {
        let nulls = node.null_count();
        if node.length() != batch.length() || nulls < 0 || nulls > node.length() {
            return Err("a column is not as long as its batch".to_owned());
        }
    }
    let packed = batch.compression().is_some();
    let mut unpacked = 0_u64;
    for buffer in buffers {
        let start = usize::try_from(buffer.offset()).ok();
        let length = usize::try_from(buffer.length()).ok();
        let part = start.zip(length).and_then(|(s, l)| body.get(s..s.checked_add(l)?));
        let part = part.ok_or("a column goes on behind the end of its batch")?;
        unpacked = unpacked.saturating_add(match part.first_chunk::<8>() {
            // A length of -1 marks what is not packed after all.
            Some(length) if packed => u64::try_from(i64::from_le_bytes(*length)).unwrap_or(0),
            _ => 0,
        });
    }
    if unpacked > decoded_limit(present) {
        return Err(format!("a batch of {present} bytes claims to unpack to {unpacked} bytes"));
    }
    Ok(())
}
