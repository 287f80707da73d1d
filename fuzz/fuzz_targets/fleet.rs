//! A control plane is compiled.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| testkit::fuzz::fleet(input));
