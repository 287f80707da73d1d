//! Tests of the formats.
