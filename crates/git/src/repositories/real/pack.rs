//! Many new objects as one pack: a file for each would take the file system longer than all the rest.
//!
//! The format is that of git's `gitformat-pack`, version 2, without deltas.

use std::io::{self, Write as _};
use std::sync::Arc;

use gix::ObjectId;
use gix::objs::Kind;
use gix::zlib::Compression;
use gix::zlib::stream::deflate;
use rayon::prelude::*;

/// An object to be written: its kind and what is in it.
pub(super) struct NewObject {
    pub(super) id: ObjectId,
    pub(super) kind: Kind,
    pub(super) bytes: Arc<[u8]>,
}

/// The objects as a pack.
pub(super) fn pack(objects: &[NewObject]) -> io::Result<Vec<u8>> {
    let count = u32::try_from(objects.len()).map_err(io::Error::other)?;
    let entries: Vec<_> = objects.par_iter().map(entry).collect::<Result<_, _>>()?;
    let mut pack = [b"PACK".as_slice(), &2_u32.to_be_bytes(), &count.to_be_bytes()].concat();
    for entry in &entries {
        pack.extend_from_slice(entry);
    }
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(&pack);
    pack.extend_from_slice(hasher.try_finalize().map_err(io::Error::other)?.as_bytes());
    Ok(pack)
}

fn entry(object: &NewObject) -> io::Result<Vec<u8>> {
    let kind: u8 = match object.kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    };
    let mut entry = Vec::new();
    // The length with its lowest four bits beside the kind, then seven bits to a byte.
    let mut length = object.bytes.len();
    let mut byte = kind << 4 | (length & 15) as u8;
    length >>= 4;
    while length > 0 {
        entry.push(byte | 0x80);
        byte = (length & 127) as u8;
        length >>= 7;
    }
    entry.push(byte);
    let mut deflated = deflate::Write::new(entry, Compression::DEFAULT);
    deflated.write_all(&object.bytes)?;
    deflated.flush()?;
    Ok(deflated.into_inner())
}
