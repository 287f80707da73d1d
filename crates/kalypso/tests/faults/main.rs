//! Runs that are killed, races and servers that do something wrong: afterwards everything works, nothing is lost and nothing is there twice.
//!
//! Each round changes the sources, lets some runs publish while something goes wrong, kills them, and then looks whether a plain run does what it
//! should. What happens in which round follows from a seed; `cargo xtask faults` runs as many rounds of whichever seed as somebody likes.

#[cfg(test)]
mod chance;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod site;
#[cfg(test)]
mod way;

// The company of the tests of the program.
#[cfg(test)]
#[path = "../program/company.rs"]
#[allow(dead_code, reason = "other tests use all of it")]
mod company;
#[cfg(test)]
#[path = "../program/objects.rs"]
#[allow(dead_code, reason = "other tests use all of it")]
mod objects;

#[cfg(test)]
mod tests {
    use crate::{rounds, way};

    #[test]
    fn local() {
        rounds::run(("local", 120), way::local);
    }

    #[test]
    fn http() {
        rounds::run(("http", 90), way::http);
    }

    #[test]
    fn ssh() {
        if way::has_ssh() {
            rounds::run(("ssh", 30), way::ssh);
        } else {
            println!("skipped: {} is not installed", way::SSHD);
        }
    }
}
