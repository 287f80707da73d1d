//! Answers of Azure are read.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| azure::fuzz(input));
