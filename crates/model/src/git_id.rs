//! The SHA-1 object ids that git gives to blobs and trees.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha1::{Digest, Sha1};

/// The id of a git object: a blob, a tree or a commit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GitId([u8; 20]);

impl GitId {
    /// The id that git gives a file with this content.
    pub fn of_blob(content: &[u8]) -> Self {
        Self::of_object("blob", content)
    }

    /// The id that git gives a tree whose content is encoded like this.
    pub(crate) fn of_tree(encoded: &[u8]) -> Self {
        Self::of_object("tree", encoded)
    }

    /// The id that git gives an object with this kind (`blob`, `tree`, `commit`, `tag`) and content.
    pub fn of_object(kind: &str, content: &[u8]) -> Self {
        let mut hasher = Sha1::new();
        hasher.update(format!("{kind} {}\0", content.len()));
        hasher.update(content);
        Self(hasher.finalize().into())
    }

    /// Parses 40 hexadecimal digits. None for any other text.
    pub fn from_hex(digits: &str) -> Option<Self> {
        let digits = digits.as_bytes();
        if digits.len() != 40 {
            return None;
        }
        let mut bytes = [0; 20];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            let [high, low] = [char::from(pair[0]).to_digit(16)?, char::from(pair[1]).to_digit(16)?];
            *byte = (high * 16 + low) as u8;
        }
        Some(Self(bytes))
    }

    /// The id with these bytes.
    pub fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// The 20 bytes of the id.
    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// The first seven digits, the usual short form.
    pub fn short(&self) -> String {
        let mut digits = self.to_string();
        digits.truncate(7);
        digits
    }
}

impl fmt::Display for GitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for GitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for GitId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GitId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_hex(&String::deserialize(deserializer)?)
            .ok_or_else(|| D::Error::custom("the id of a commit is expected"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_has_the_id_that_git_gives_it() {
        let marker = b"This folder contains deployment targets scheduled on the cluster type";
        assert_eq!(GitId::of_blob(marker).to_string(), "4fb8c440e19eca604bbdc14dbba63e5fb98b2c52");
    }

    #[test]
    fn hexadecimal_digits_are_read_and_written() {
        let digits = "4fb8c440e19eca604bbdc14dbba63e5fb98b2c52";
        assert_eq!(GitId::from_hex(digits).map(|id| id.to_string()).as_deref(), Some(digits));
        assert_eq!(GitId::from_hex("4fb8"), None);
        assert_eq!(GitId::from_hex(&"g".repeat(40)), None);
        assert_eq!(GitId::from_hex(&"é".repeat(20)), None);
    }
}
