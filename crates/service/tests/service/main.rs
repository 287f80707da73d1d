//! The service on repositories and a git host in memory.

#[cfg(test)]
mod syncs;
#[cfg(test)]
mod world;
