//! Files of signed reports are read, and added to.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| hub_api::report::signed_file::fuzz(input));
