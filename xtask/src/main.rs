//! Everything that is done to this workspace by command.
fn main() {}
