//! Answers of Azure are read.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| hub::azure::fuzz(input));
