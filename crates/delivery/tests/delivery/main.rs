//! Publications on repositories in memory: what is pushed, refused, lost to another program and sent to the hub; what is done on a git host.

#[cfg(test)]
mod admission_status;
#[cfg(test)]
mod approvals;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod branch_protection;
#[cfg(test)]
mod chain;
#[cfg(test)]
mod change_proposal;
#[cfg(test)]
mod commit_move;
#[cfg(test)]
mod controller;
#[cfg(test)]
mod controller_faults;
#[cfg(test)]
mod enforcement;
#[cfg(test)]
mod hand_edits;
#[cfg(test)]
mod held;
#[cfg(test)]
mod hub;
#[cfg(test)]
mod lease;
#[cfg(test)]
mod liveness;
#[cfg(test)]
mod main_branch;
#[cfg(test)]
mod open_proposal;
#[cfg(test)]
mod publish;
#[cfg(test)]
mod pull_requests;
#[cfg(test)]
mod releases;
#[cfg(test)]
mod renames;
#[cfg(test)]
mod renderer;
mod requested_releases;
#[cfg(test)]
mod reverts;
#[cfg(test)]
mod rings;
#[cfg(test)]
mod sources;
#[cfg(test)]
mod state_branch;
#[cfg(test)]
mod statuses;
#[cfg(test)]
mod waits;
#[cfg(test)]
mod world;
