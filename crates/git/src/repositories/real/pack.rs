//! New objects as one pack: a file for each would take the file system longer than all the rest.
//!
//! The formats are those of git's `gitformat-pack`: packs of version 2 without deltas, and indexes of version 2. Objects come one after another and
//! are never in memory together; what is kept of each is what the index says.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use gix::objs::Kind;
use gix::zlib::stream::deflate::{Compress, FlushCompress};
use gix::zlib::{Compression, Status};
use model::git_id::GitId;
use sha1::{Digest as _, Sha1};

/// Fast: hosts pack again what they get, and find similar files, which saves more than any level.
const LEVEL: Compression = Compression::BEST_SPEED;
/// Offsets from here on stand in a table of their own.
const LARGE_OFFSET: u64 = 1 << 31;

/// An object as it stands in a pack.
pub(super) struct Packed {
    pub(super) id: GitId,
    crc: u32,
    bytes: Vec<u8>,
}

/// Makes objects ready for a pack, one after another.
pub(super) struct Packer(Compress);

/// A pack on its way to the disk. Without [`Self::finish`], nothing comes of it.
pub(super) struct PackFile {
    /// The folder of packs.
    folder: PathBuf,
    pack: BufWriter<File>,
    length: u64,
    written: HashSet<GitId>,
    entries: Vec<IndexEntry>,
}

/// What an index says about an object.
struct IndexEntry {
    id: GitId,
    crc: u32,
    offset: u64,
}

impl Packer {
    pub(super) fn new() -> Self {
        Self(Compress::new(LEVEL))
    }

    /// Compresses an object.
    pub(super) fn pack(&mut self, id: GitId, kind: Kind, content: &[u8]) -> io::Result<Packed> {
        let mut bytes = header(kind, content.len());
        let start = bytes.len();
        // What deflate adds at the most, as zlib's `deflateBound` has it.
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

/// The length with its lowest four bits beside the kind, then seven bits to a byte.
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
    /// A pack for a repository whose objects are in this folder.
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

    /// Whether an object is in it.
    pub(super) fn has(&self, id: GitId) -> bool {
        self.written.contains(&id)
    }

    /// How many objects are in it.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds an object, once.
    pub(super) fn add(&mut self, object: &Packed) -> io::Result<()> {
        if self.written.insert(object.id) {
            self.entries.push(IndexEntry { id: object.id, crc: object.crc, offset: self.length });
            self.write(&object.bytes)?;
        }
        Ok(())
    }

    /// Puts the pack with its index in its place. Git looks for the index, so that comes last.
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

/// Only who holds the copy's lock writes here, and git takes what is called so for rubbish if it stays.
fn temporary(folder: &Path) -> PathBuf {
    folder.join("tmp_pack_kalypso")
}

fn head(count: u32) -> [u8; 12] {
    let mut head = *b"PACK\0\0\0\x02\0\0\0\0";
    head[8..].copy_from_slice(&count.to_be_bytes());
    head
}

/// The sum of everything in a file. The pack's count of objects stands at its beginning and is known at its end only.
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

/// The index of a pack: how many ids begin with which byte at most, the ids, check sums and offsets.
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
