//! Deployment descriptors are read.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| watch::fuzz(input));
