//! The digests of files.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// What comes before the hexadecimal digits of a digest.
const PREFIX: &str = "sha256:";

/// The number of bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 16;

/// The SHA-256 of a file, such as the archive of a chart, or a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentDigest(String);

impl ContentDigest {
    /// The digest of a content.
    pub fn of_content(content: &[u8]) -> Self {
        Self::of(&Sha256::digest(content))
    }

    /// The digest of a file, which may be large.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut digest = Sha256::new();
        let mut file = File::open(path)?;
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Self::of(&digest.finalize())),
                count => digest.update(buffer.get(..count).unwrap_or_default()),
            }
        }
    }

    fn of(digest: &[u8]) -> Self {
        Self(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The 64 hexadecimal digits.
    pub fn digits(&self) -> &str {
        &self.0
    }
}

impl FromStr for ContentDigest {
    type Err = ();

    /// Parses `sha256:` and 64 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, ()> {
        let digits = text.strip_prefix(PREFIX).ok_or(())?;
        let is_good = digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_good.then(|| Self(digits.to_owned())).ok_or(())
    }
}

/// Writes `sha256:` and 64 hexadecimal digits.
impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}
