//! The thresholds of domains in state files: 16 hexadecimal digits each.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serializer};

type Thresholds = BTreeMap<Arc<str>, u64>;

/// A hash of 64 bits.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Hash(u64);

impl TryFrom<String> for Hash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_hash = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let hash = u64::from_str_radix(&text, 16).ok().filter(|_| is_hash);
        hash.map(Self).ok_or("16 hexadecimal digits are expected")
    }
}

pub(super) fn serialize<S: Serializer>(thresholds: &Thresholds, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(thresholds.iter().map(|(domain, hash)| (domain, format!("{hash:016x}"))))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Thresholds, D::Error> {
    let hashes = BTreeMap::<Arc<str>, Hash>::deserialize(deserializer)?;
    Ok(hashes.into_iter().map(|(domain, Hash(hash))| (domain, hash)).collect())
}
