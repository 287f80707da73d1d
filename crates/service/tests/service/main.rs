//! The service on repositories and a git host in memory.

#[cfg(test)]
mod leases;
#[cfg(test)]
mod promotions;
#[cfg(test)]
mod replicas;
#[cfg(test)]
mod syncs;
#[cfg(test)]
mod world;
