//! Arrow IPC: the stream form, and the file form (Feather version 2), whose contents are listed at
//! its end.
//!
//! Both are read message by message. What a message says about itself is checked before it is
//! decoded; `arrow-ipc` trusts it in places.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::{
    Message, MessageHeader, MetadataVersion,
    convert::fb_to_schema,
    reader::{read_dictionary, read_record_batch},
    root_as_footer, root_as_message,
};
use arrow_schema::{DataType, Schema};

use crate::{
    error::{Error, Result},
    reading::{
        arrow_checks::{check_batch, check_field},
        batches::{BatchSource, pandas_index, unreadable},
        columns::is_readable,
        guard::guarded,
        places::Header,
        source::{Input, Source, open_file},
    },
};

/// The longest description of a message.
const LONGEST_NOTE: u32 = 64 << 20;
const MARK: &[u8] = b"ARROW1";
/// Batches of an Arrow file or stream.
pub(crate) struct ArrowBatches {
    header: Header,
    schema: Arc<Schema>,
    messages: Messages,
    dictionaries: HashMap<i64, ArrayRef>,
    projected: Vec<usize>,
    read: Arc<AtomicU64>,
    length: Option<u64>,
}

/// Where messages come from.
enum Messages {
    /// One after the other.
    Stream(Box<dyn Read>),
    /// From the places that the file lists.
    Listed(BufReader<File>, std::vec::IntoIter<u64>),
}

/// A message: its description and what follows it.
struct Block {
    note: Vec<u8>,
    body: Vec<u8>,
}

/// Why reading failed, in words.
type Words<T> = std::result::Result<T, String>;

impl ArrowBatches {
    /// Reads up to the description of the columns.
    pub fn open(source: &Source) -> Result<Self> {
        let path = source.name();
        let wrong = |reason: String| damaged(&path, reason);
        let Input { mut bytes, read, length } = source.open()?;
        let mut head = [0; 8];
        bytes.read_exact(&mut head).map_err(|_| wrong("it is too short".to_owned()))?;
        let refused = |reason: &str| {
            Err(Error::Unsupported { path: path.clone(), reason: reason.to_owned() })
        };
        if head.starts_with(b"FEA1") {
            return refused("this is Feather version 1; write it again as version 2");
        }
        let (messages, schema) = match (source, head.starts_with(MARK), length) {
            (Source::File(name), true, Some(length)) => {
                let mut file = BufReader::with_capacity(1 << 16, open_file(name)?);
                let (places, schema) = listed(&mut file, length).map_err(wrong)?;
                (Messages::Listed(file, places.into_iter()), schema)
            }
            (_, true, _) => {
                return refused(
                    "the file form of Arrow cannot be read from a pipe, for its contents are \
                     listed at its end; give the name of a file, or write the stream form",
                );
            }
            (_, false, _) => {
                let whole = std::io::Cursor::new(head).chain(bytes);
                let mut bytes: Box<dyn Read> = Box::new(BufReader::with_capacity(1 << 16, whole));
                let first = read_block(&mut bytes).map_err(wrong)?;
                let first = first.ok_or_else(|| wrong("it names no columns".to_owned()))?;
                let schema = schema_of_message(&first.note).map_err(wrong)?;
                (Messages::Stream(bytes), schema)
            }
        };
        let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
        let index = pandas_index(schema.metadata().get("pandas").map(String::as_str), &names);
        Ok(Self {
            header: Header { path, names, index },
            schema: Arc::new(schema),
            messages,
            dictionaries: HashMap::new(),
            projected: Vec::new(),
            read,
            length,
        })
    }

    /// Bytes read, and how many there are in all.
    pub fn progress(&self) -> (Arc<AtomicU64>, Option<u64>) {
        (self.read.clone(), self.length)
    }

    fn next_block(&mut self) -> Words<Option<Block>> {
        match &mut self.messages {
            Messages::Stream(bytes) => read_block(bytes),
            Messages::Listed(file, places) => {
                let Some(place) = places.next() else { return Ok(None) };
                file.seek(SeekFrom::Start(place)).map_err(|e| e.to_string())?;
                self.read.store(place, Ordering::Relaxed);
                read_block(file)?.map(Some).ok_or_else(|| "a batch is not there".to_owned())
            }
        }
    }

    /// The batch in a block; none if it is a dictionary.
    fn decoded(&mut self, block: Block) -> Words<Option<RecordBatch>> {
        let message = message_of(&block.note)?;
        let version = message.version();
        let body = block.body;
        match message.header_type() {
            MessageHeader::DictionaryBatch => {
                let dictionary = message.header_as_dictionary_batch().ok_or("an empty message")?;
                let data = dictionary.data().ok_or("a dictionary without values")?;
                let kind = self.kind_of_dictionary(dictionary.id())?;
                let kind = kind.ok_or("a dictionary that no column uses")?;
                check_batch(&data, [&kind].into_iter(), &body)?;
                let schema = self.schema.clone();
                let body = body.into();
                let known = &mut self.dictionaries;
                guarded(|| read_dictionary(&body, dictionary, &schema, known, &version))?
                    .map_err(|e| e.to_string())?;
                Ok(None)
            }
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch().ok_or("an empty message")?;
                check_batch(&batch, self.schema.fields().iter().map(|f| f.data_type()), &body)?;
                let body = body.into();
                let (schema, known) = (self.schema.clone(), &self.dictionaries);
                let columns = Some(&*self.projected);
                let decoded =
                    guarded(|| read_record_batch(&body, batch, schema, known, columns, &version))?;
                decoded.map(Some).map_err(|e| e.to_string())
            }
            other => Err(format!("a message of the kind {other:?} where a batch should be")),
        }
    }

    /// The type of the values of a dictionary.
    fn kind_of_dictionary(&self, id: i64) -> Words<Option<DataType>> {
        #[expect(deprecated, reason = "the crate finds dictionaries the same way")]
        let fields = self.schema.fields_with_dict_id(id);
        let mut kinds = fields.iter().filter_map(|field| match field.data_type() {
            DataType::Dictionary(_, of) => Some((**of).clone()),
            _ => None,
        });
        let Some(first) = kinds.next() else { return Ok(None) };
        if kinds.any(|kind| kind != first) {
            return Err("columns of different types share a dictionary".to_owned());
        }
        Ok(Some(first))
    }
}

impl BatchSource for ArrowBatches {
    fn header(&self) -> &Header {
        &self.header
    }

    fn project(&mut self, columns: &[usize]) -> Result<()> {
        for &column in columns {
            let kind = self.schema.field(column).data_type();
            if !is_readable(kind) {
                return Err(unreadable(&self.header, column, &kind.to_string()));
            }
        }
        self.projected = columns.to_vec();
        Ok(())
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let mut next = || -> Words<Option<RecordBatch>> {
            while let Some(block) = self.next_block()? {
                if let Some(batch) = self.decoded(block)? {
                    return Ok(Some(batch));
                }
            }
            Ok(None)
        };
        next().map_err(|reason| damaged(&self.header.path, reason))
    }

    fn path(&self) -> &Path {
        &self.header.path
    }
}

fn damaged(path: &Path, reason: String) -> Error {
    Error::Damaged { path: path.to_owned(), kind: "Arrow", reason }
}

/// The next message; none at the end of the stream. What is taken grows with what is there, not
/// with what is claimed.
fn read_block<R: Read>(bytes: &mut R) -> Words<Option<Block>> {
    let Some(mut length) = read_length(bytes)? else { return Ok(None) };
    if length == u32::MAX {
        // A mark before the length, since version 0.15 of the format.
        length = read_length(bytes)?.ok_or("it is cut off")?;
    }
    if length == 0 {
        return Ok(None);
    }
    if length > LONGEST_NOTE {
        return Err(format!("a message claims a description of {length} bytes"));
    }
    let note = read_exactly(bytes, u64::from(length))?;
    let body = message_of(&note)?.bodyLength();
    let body = u64::try_from(body).map_err(|_| "a message of negative length")?;
    Ok(Some(Block { note, body: read_exactly(bytes, body)? }))
}

fn read_length<R: Read>(bytes: &mut R) -> Words<Option<u32>> {
    let mut four = Vec::new();
    bytes.take(4).read_to_end(&mut four).map_err(|e| e.to_string())?;
    match four.as_slice() {
        [] => Ok(None),
        &[a, b, c, d] => Ok(Some(u32::from_le_bytes([a, b, c, d]))),
        _ => Err("it is cut off".to_owned()),
    }
}

fn read_exactly<R: Read>(bytes: &mut R, length: u64) -> Words<Vec<u8>> {
    let mut content = Vec::new();
    bytes.take(length).read_to_end(&mut content).map_err(|e| e.to_string())?;
    if (content.len() as u64) < length {
        return Err("it is cut off".to_owned());
    }
    Ok(content)
}

fn message_of(note: &[u8]) -> Words<Message<'_>> {
    root_as_message(note).map_err(|e| e.to_string())
}

/// The places of all messages and the columns, from the list at the end of a file.
fn listed(file: &mut BufReader<File>, length: u64) -> Words<(Vec<u64>, Schema)> {
    let wrong = |e: std::io::Error| e.to_string();
    // The length of the list and the mark.
    const TAIL: u64 = 10;
    let start = length.checked_sub(TAIL).ok_or("it is too short")?;
    file.seek(SeekFrom::Start(start)).map_err(wrong)?;
    let mut tail = [0; TAIL as usize];
    file.read_exact(&mut tail).map_err(wrong)?;
    let size = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    if &tail[4..] != MARK || size > LONGEST_NOTE || u64::from(size) > start {
        return Err("it is cut off, or its list of contents is damaged".to_owned());
    }
    file.seek(SeekFrom::Start(start - u64::from(size))).map_err(wrong)?;
    let note = read_exactly(file, u64::from(size))?;
    let footer = root_as_footer(&note).map_err(|e| e.to_string())?;
    let schema = footer.schema().ok_or("it names no columns")?;
    let schema = schema_of(schema, footer.version())?;
    let mut places = Vec::new();
    for list in [footer.dictionaries(), footer.recordBatches()].into_iter().flatten() {
        // A batch that is listed twice would be read twice.
        let mut last = None;
        for block in list {
            let place = u64::try_from(block.offset()).ok().filter(|&place| Some(place) > last);
            last = place;
            places.push(place.ok_or("its list of contents is out of order")?);
        }
    }
    Ok((places, schema))
}

fn schema_of_message(note: &[u8]) -> Words<Schema> {
    let message = message_of(note)?;
    let schema = message.header_as_schema().ok_or("it does not begin with its columns")?;
    schema_of(schema, message.version())
}

/// The columns, if all are of types that the crate can describe.
fn schema_of(schema: arrow_ipc::Schema<'_>, version: MetadataVersion) -> Words<Schema> {
    if version < MetadataVersion::V4 {
        return Err("it is of a version before 0.8 of the format; write it again".to_owned());
    }
    if schema.endianness() != arrow_ipc::Endianness::Little {
        return Err("its numbers have their bytes in the other order".to_owned());
    }
    let fields = schema.fields().ok_or("it names no columns")?;
    for field in fields {
        check_field(&field)?;
    }
    Ok(fb_to_schema(schema))
}
