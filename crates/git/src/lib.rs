//! Snapshots out of repositories, trees into them.
