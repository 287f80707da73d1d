//! Values are written as YAML, and read back.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| testkit::fuzz::yaml_writer(input));
