//! Reports are read, in every format.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| hub::report_formats::fuzz(input));
