//! Checksums.

use std::fmt::Write as _;

use sha1::{Digest, Sha1};
use sha2::Sha256;

use super::arguments::{bytes, charge_text};
use super::function;
use crate::function::{Call, Function, FunctionError, Type};
use crate::value::Value;

use Type::Text;

pub(super) const FUNCTIONS: &[Function] = &[
    function("adler32sum", &[Text], |call, args| Ok(Value::text(adler32(charged_bytes(call, args)?).to_string()))),
    function("sha1sum", &[Text], |call, args| Ok(Value::text(hexadecimal(&Sha1::digest(charged_bytes(call, args)?))))),
    function("sha256sum", &[Text], |call, args| {
        Ok(Value::text(hexadecimal(&Sha256::digest(charged_bytes(call, args)?))))
    }),
];

fn charged_bytes<'a>(call: &mut Call<'_>, args: &'a [Value]) -> Result<&'a [u8], FunctionError> {
    let text = bytes(args, 0)?;
    call.budget.steps(text.len() as u64 / 64)?;
    charge_text(call, 64)?;
    Ok(text)
}

fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string never fails.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Adler-32: RFC 1950, section 8.2.
fn adler32(text: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (low, high) = text.iter().fold((1, 0), |(low, high), &byte| {
        let low = (low + u32::from(byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    high << 16 | low
}
