//! YAML is read.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| testkit::fuzz::yaml_reader(input));
