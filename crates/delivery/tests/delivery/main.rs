//! Publications on repositories in memory: what is pushed, refused, lost to another program and sent to the hub.

#[cfg(test)]
mod hub;
#[cfg(test)]
mod publish;
#[cfg(test)]
mod world;
