//! What this crate does with whole repositories, real and in memory.

#[cfg(test)]
mod playground;
#[cfg(test)]
mod remote;
#[cfg(test)]
mod twins;
