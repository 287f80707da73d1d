//! Tests of the engine as its users call it. One program, because each one is linked with all dependencies.

#[cfg(test)]
mod application_text;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod growth;
#[cfg(test)]
mod hold;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod incremental;
#[cfg(test)]
mod inventory;
#[cfg(test)]
mod memo;
#[cfg(test)]
mod mutations;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod progress;
#[cfg(test)]
mod properties;
