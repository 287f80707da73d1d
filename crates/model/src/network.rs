//! What all clients and servers of a network must decide in the same way.

use std::error::Error;
use std::net::IpAddr;

/// Whether a host of a URL is this machine. An IPv6 address may have its brackets.
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The innermost cause of an error, which has the most precise message. The outer ones of HTTP clients repeat the URL.
pub fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_loopback_address() {
        assert_eq!(["127.0.0.1", "127.1.2.3", "[::1]", "::1", "localhost", "LocalHost"].map(is_loopback), [true; 6]);
        let others = ["", "10.0.0.1", "hub.example", "localhost.example", "[fd00::1]", "127.0.0.1.example"];
        assert_eq!(others.map(is_loopback), [false; 6]);
    }

    #[derive(Debug, thiserror::Error)]
    #[error("the outer one")]
    struct Outer(#[source] std::fmt::Error);

    #[test]
    fn the_innermost_cause_is_shown() {
        assert_eq!(root_cause(&Outer(std::fmt::Error)), std::fmt::Error.to_string());
        assert_eq!(root_cause(&std::fmt::Error), std::fmt::Error.to_string());
    }
}
