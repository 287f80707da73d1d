//! What is wanted is read.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| hub::desired::fuzz(input));
