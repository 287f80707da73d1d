//! Bodies of requests with events of promotions are read.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| hub_api::promotions::fuzz(input));
