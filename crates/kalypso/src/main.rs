//! The `kalypso` binary: arguments, configuration, wiring, words on the screen.
fn main() {}
