//! Tests of this crate with whole repositories, real and in memory.

#[cfg(test)]
mod checkout;
#[cfg(test)]
mod foreign_commits;
#[cfg(test)]
mod kept;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod limits_model;
#[cfg(test)]
mod load;
#[cfg(test)]
mod lock_files;
#[cfg(test)]
mod object_format;
#[cfg(test)]
mod objects;
#[cfg(test)]
mod packs;
#[cfg(test)]
mod playground;
mod promotions;
#[cfg(test)]
mod publish;
#[cfg(test)]
mod releases;
#[cfg(test)]
mod remote;
#[cfg(test)]
mod resolution;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod ssh;
#[cfg(test)]
mod stuck;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod twins;
