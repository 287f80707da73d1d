//! Which URLs are allowed, and how they are shown.

use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: Result<&str, UrlError>) {
    let url = RepositoryUrl::from_object(text);
    assert_eq!(url.as_ref().map(RepositoryUrl::as_str).map_err(|error| *error), expected, "{text:?}");
}

#[test]
fn https_and_ssh_are_allowed() {
    for url in ["https://git.example/acme/app", "ssh://git@git.example:2222/acme/app.git", "git@git.example:acme/app"] {
        check(url, Ok(url));
    }
    check("HTTPS://Git.Example:443/acme/app/", Ok("https://git.example/acme/app"));
    check("https://[::1]:8443/app", Ok("https://[::1]:8443/app"));
}

#[test]
fn credentials_are_refused_and_never_shown() {
    check("https://user:secret@git.example/app", Err(UrlError::Credential));
    check("ssh://user:secret@git.example/app", Err(UrlError::Credential));
    check("https://secret@git.example/app", Ok("https://git.example/app"));
}

#[test]
fn urls_to_programs_or_local_files_are_refused() {
    check("ext::sh -c touch% /tmp/x", Err(UrlError::Character));
    check("ext::sh", Err(UrlError::TransportHelper));
    check("fd::17/foo", Err(UrlError::TransportHelper));
    check("-oProxyCommand=x", Err(UrlError::Dash));
    check("ssh://-oProxyCommand=x/app", Err(UrlError::Dash));
    check("git@-oProxyCommand=x:app", Err(UrlError::Dash));
    check("-x@git.example:app", Err(UrlError::Dash));
    check("git@git.example:-app", Err(UrlError::Dash));
    check("file:///etc", Err(UrlError::File));
    check("FILE://host/etc", Err(UrlError::File));
    check("/srv/git/app", Err(UrlError::Local));
    check("../app", Err(UrlError::Local));
    check("git.example:app", Err(UrlError::Scheme));
    check("http://git.example/app", Err(UrlError::Scheme));
    check("git://git.example/app", Err(UrlError::Scheme));
}

#[test]
fn urls_without_a_repository_are_refused() {
    check("", Err(UrlError::Empty));
    check("https://git.example", Err(UrlError::NoPath));
    check("https://git.example/", Err(UrlError::NoPath));
    check("https:///app", Err(UrlError::Host));
    check("https://git.example:port/app", Err(UrlError::Host));
    check("https://git.example/a/../../etc", Err(UrlError::Upwards));
    check("https://git.example/a/%2E%2e/etc", Err(UrlError::Upwards));
    check("https://git.example/app?x", Err(UrlError::Query));
    check("https://git.example/a\nb", Err(UrlError::Character));
    check(&format!("https://git.example/{}", "x".repeat(3_000)), Err(UrlError::TooLong));
}

#[test]
fn configuration_may_name_paths_and_other_transports() {
    for text in ["/srv/git/app", "../my repositories/app", "http://git.example/app", "C:\\git\\app"] {
        assert_eq!(RepositoryUrl::from_configuration(text).map(|url| url.as_str().to_owned()), Ok(text.to_owned()));
    }
    assert_eq!(RepositoryUrl::from_configuration("ext::sh"), Err(UrlError::TransportHelper));
    assert_eq!(RepositoryUrl::from_configuration("http://a:b@git.example/app"), Err(UrlError::Credential));
}

#[test]
fn a_label_is_the_last_part() {
    for (url, label) in [
        ("https://git.example/acme/control-plane.git", "control-plane"),
        ("git@git.example:app", "app"),
        ("/srv/git/app/", "app"),
    ] {
        assert_eq!(&*RepositoryUrl::from_configuration(url).unwrap().label(), label);
    }
}

proptest! {
    #[test]
    fn any_text_is_parsed_without_a_panic(text in "\\PC{0,40}") {
        fuzz(&text);
    }

    #[test]
    fn url_like_texts_are_parsed_without_a_panic(text in "(https|ssh|http|file|ext)?:{0,2}/{0,2}[a-z@:/.%2e\\[\\]-]{0,24}") {
        fuzz(&text);
    }
}
