//! Tests of the program with real repositories and files. They check exit statuses and output.

#[cfg(test)]
mod access;
#[cfg(test)]
mod adding;
#[cfg(test)]
mod application_images;
#[cfg(test)]
mod application_mishaps;
#[cfg(test)]
mod application_promotion;
#[cfg(test)]
mod application_schemas;
#[cfg(test)]
mod application_starting;
#[cfg(test)]
mod application_world;
#[cfg(test)]
mod applications;
#[cfg(test)]
mod asking;
#[cfg(test)]
mod bootstrapping;
#[cfg(test)]
mod changes;
mod changing;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod company;
#[cfg(test)]
mod completing;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod environments;
#[cfg(test)]
mod folders;
#[cfg(test)]
mod following;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod holding;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod hub;
#[cfg(test)]
mod left_outputs;
mod listing;
#[cfg(test)]
mod memos;
#[cfg(test)]
mod mishaps;
#[cfg(test)]
mod moments;
#[cfg(test)]
mod nginx;
#[cfg(test)]
mod past_gates;
#[cfg(test)]
mod pinning;
#[cfg(test)]
mod promoting;
#[cfg(test)]
mod promotion_world;
#[cfg(test)]
mod promotions;
#[cfg(test)]
mod protection;
#[cfg(test)]
mod publication_hub;
#[cfg(test)]
mod publishing;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod releasing;
#[cfg(test)]
mod reloading;
#[cfg(test)]
mod renaming;
#[cfg(test)]
mod replicas;
#[cfg(test)]
mod reports;
#[cfg(test)]
mod restoring;
#[cfg(test)]
mod rewritten_states;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod selecting;
#[cfg(test)]
mod serving;
#[cfg(test)]
mod signed_states;
#[cfg(test)]
mod starting;
#[cfg(test)]
mod stepping;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod strict;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod upgrading;
#[cfg(test)]
mod why_not;
#[cfg(test)]
mod working_tree;
