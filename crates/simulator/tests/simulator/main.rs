//! Tests of the simulator as its users call it. One program, because each one is linked with all dependencies.

#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod walks;
