//! The words in addresses and headers of requests are read.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| hub::http::fuzz(input));
