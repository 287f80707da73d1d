//! Puts reports into the store.
