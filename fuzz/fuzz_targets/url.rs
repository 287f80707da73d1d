//! URLs are checked and rewritten.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| testkit::fuzz::url(input));
