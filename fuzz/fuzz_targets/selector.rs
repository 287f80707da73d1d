//! A policy's selectors are read.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| testkit::fuzz::selector(input));
