//! The checks with real servers on loopback and real commands.

#[cfg(test)]
mod commands;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod server;
#[cfg(test)]
mod world;
