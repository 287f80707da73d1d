//! Writes new objects into one pack. A separate file for each object would be much slower.
//!
//! The formats are those of git's `gitformat-pack`: packs of version 2 without deltas, and indexes of version 2. Objects are written one after
//! another, and are never all in memory. Only the index entries stay in memory.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use gix::objs::Kind;
use gix::zlib::stream::deflate::{Compress, FlushCompress};
use gix::zlib::{Compression, Status};
use model::git_id::GitId;
use sha1::{Digest as _, Sha1};

/// The fastest level: git hosts repack what they receive, and their deltas save more space than a higher level.
const LEVEL: Compression = Compression::BEST_SPEED;
/// Offsets from this value on are stored in a separate table of the index.
const LARGE_OFFSET: u64 = 1 << 31;

/// An object in the encoding of a pack.
pub(super) struct Packed {
    pub(super) id: GitId,
    crc: u32,
    bytes: Vec<u8>,
}

/// Encodes objects for a pack.
pub(super) struct Packer(Compress);

/// A pack that is being written. Without a call of [`Self::finish`], git does not use it.
pub(super) struct PackFile {
    /// The folder of packs.
    folder: PathBuf,
    pack: BufWriter<File>,
    length: u64,
    written: HashSet<GitId>,
    entries: Vec<IndexEntry>,
}

/// The entry of an object in the index.
struct IndexEntry {
    id: GitId,
    crc: u32,
    offset: u64,
}

impl Packer {
    pub(super) fn new() -> Self {
        Self(Compress::new(LEVEL))
    }

    /// Encodes and compresses an object.
    pub(super) fn pack(&mut self, id: GitId, kind: Kind, content: &[u8]) -> io::Result<Packed> {
        let mut bytes = header(kind, content.len());
        let start = bytes.len();
        // The maximum size of deflate's output, as in zlib's `deflateBound`.
        bytes.resize(start + content.len() + content.len() / 1000 + 64, 0);
        self.0.reset();
        let room = bytes.get_mut(start..).unwrap_or_default();
        let status = self.0.compress(content, room, FlushCompress::Finish).map_err(io::Error::other)?;
        if status != Status::StreamEnd {
            return Err(io::Error::other("compressing made an object larger than it may"));
        }
        bytes.truncate(start + self.0.total_out() as usize);
        Ok(Packed { id, crc: crc32fast::hash(&bytes), bytes })
    }
}

/// The header of an object: its kind and the lowest four bits of its length, then seven bits of the length per byte.
fn header(kind: Kind, length: usize) -> Vec<u8> {
    let kind: u8 = match kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    };
    let mut header = Vec::with_capacity(8);
    let mut byte = kind << 4 | (length & 15) as u8;
    let mut rest = length >> 4;
    while rest > 0 {
        header.push(byte | 0x80);
        byte = (rest & 127) as u8;
        rest >>= 7;
    }
    header.push(byte);
    header
}

impl PackFile {
    /// Starts a pack in a repository, whose `objects` folder is given.
    pub(super) fn new(objects: &Path) -> io::Result<Self> {
        let folder = objects.join("pack");
        fs::create_dir_all(&folder)?;
        let file = File::options().read(true).write(true).create(true).truncate(true).open(temporary(&folder))?;
        let mut new = Self {
            folder,
            pack: BufWriter::with_capacity(1 << 20, file),
            length: 0,
            written: HashSet::new(),
            entries: Vec::new(),
        };
        new.write(&head(0))?;
        Ok(new)
    }

    /// Whether the pack contains an object.
    pub(super) fn has(&self, id: GitId) -> bool {
        self.written.contains(&id)
    }

    /// The number of objects in the pack.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds an object. An object that the pack already contains is skipped.
    pub(super) fn add(&mut self, object: &Packed) -> io::Result<()> {
        if self.written.insert(object.id) {
            self.entries.push(IndexEntry { id: object.id, crc: object.crc, offset: self.length });
            self.write(&object.bytes)?;
        }
        Ok(())
    }

    /// Completes the pack. The index is renamed last, because git looks for it first.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let count = u32::try_from(self.entries.len()).map_err(io::Error::other)?;
        self.pack.flush()?;
        let mut file = self.pack.get_ref();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&head(count))?;
        let checksum = checksum(file)?;
        file.write_all(&checksum)?;
        let index = index(&mut self.entries, checksum);
        let name = |ending: &str| self.folder.join(format!("pack-{}.{ending}", GitId::from_bytes(checksum)));
        let temporary_index = self.folder.join("tmp_idx_kalypso");
        fs::write(&temporary_index, index)?;
        fs::rename(temporary(&self.folder), name("pack"))?;
        fs::rename(temporary_index, name("idx"))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.length += bytes.len() as u64;
        self.pack.write_all(bytes)
    }
}

/// The name of the unfinished pack. The lock of the copy excludes other writers, and git deletes old files with such names.
fn temporary(folder: &Path) -> PathBuf {
    folder.join("tmp_pack_kalypso")
}

fn head(count: u32) -> [u8; 12] {
    let mut head = *b"PACK\0\0\0\x02\0\0\0\0";
    head[8..].copy_from_slice(&count.to_be_bytes());
    head
}

/// The SHA-1 checksum of a file. It is computed at the end, because the number of objects is at the beginning of the file.
fn checksum(mut file: &File) -> io::Result<[u8; 20]> {
    file.seek(SeekFrom::Start(0))?;
    let (mut hasher, mut buffer) = (Sha1::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().into()),
            count => hasher.update(buffer.get(..count).unwrap_or_default()),
        }
    }
}

/// The index of a pack: a table with the number of ids up to each first byte, then the ids, the CRC-32 sums and the offsets.
fn index(entries: &mut [IndexEntry], pack: [u8; 20]) -> Vec<u8> {
    entries.sort_unstable_by_key(|entry| entry.id);
    let mut index = Vec::with_capacity(8 + 256 * 4 + entries.len() * 28 + 40);
    index.extend_from_slice(b"\xfftOc\0\0\0\x02");
    for first in 0..=u8::MAX {
        let count = entries.partition_point(|entry| entry.id.as_bytes()[0] <= first) as u32;
        index.extend_from_slice(&count.to_be_bytes());
    }
    entries.iter().for_each(|entry| index.extend_from_slice(entry.id.as_bytes()));
    entries.iter().for_each(|entry| index.extend_from_slice(&entry.crc.to_be_bytes()));
    let mut large = Vec::new();
    for entry in &*entries {
        let offset = if entry.offset < LARGE_OFFSET {
            entry.offset as u32
        } else {
            large.push(entry.offset);
            LARGE_OFFSET as u32 | (large.len() - 1) as u32
        };
        index.extend_from_slice(&offset.to_be_bytes());
    }
    large.iter().for_each(|offset| index.extend_from_slice(&offset.to_be_bytes()));
    index.extend_from_slice(&pack);
    let sum: [u8; 20] = Sha1::digest(&index).into();
    index.extend_from_slice(&sum);
    index
}
