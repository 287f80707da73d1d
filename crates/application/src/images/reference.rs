//! References of images, by the grammar of the distribution project and with the defaults of Docker.
//!
//! The grammar is that of <https://github.com/distribution/reference>, as container runtimes read it: `[REGISTRY/]REPOSITORY[:TAG][@DIGEST]`.

use std::fmt;
use std::str::FromStr;

/// The registry of references that name none.
const DOCKER_HUB: &str = "docker.io";

/// Another name of the same registry.
const DOCKER_HUB_INDEX: &str = "index.docker.io";

/// The first part of repositories of Docker Hub that have only one part.
const OFFICIAL: &str = "library";

/// The tag of references that have neither a tag nor a digest.
const LATEST: &str = "latest";

/// Maximum length of a repository, as in the grammar.
const REPOSITORY_LENGTH_MAX: usize = 255;

/// Maximum length of a tag, as in the grammar.
const TAG_LENGTH_MAX: usize = 128;

/// The algorithms of digests, with the number of their hexadecimal digits.
const ALGORITHMS: [(&str, usize); 3] = [("sha256", 64), ("sha384", 96), ("sha512", 128)];

/// A reference of an image, complete: `nginx` is `docker.io/library/nginx:latest`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageReference {
    registry: String,
    repository: String,
    tag: Option<String>,
    digest: Option<String>,
}

/// The reason why a text is no reference of an image. Each names the part that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum ReferenceError {
    /// The host or the port of the registry.
    #[error("`{0}` is no registry: it must be a host, and may have a port")]
    Registry(String),
    /// A part of the repository has capitals.
    #[error("the repository `{0}` has capital letters")]
    Capitals(String),
    /// A part of the repository.
    #[error(
        "`{0}` can't be a part of a repository: it must be lower-case letters and digits, with `.`, `_` or `-` between them"
    )]
    Repository(String),
    /// The repository is too long.
    #[error("the repository has {0} characters, more than {REPOSITORY_LENGTH_MAX}")]
    TooLong(usize),
    /// The repository looks like the id of an image.
    #[error("`{0}` is the id of an image, which no registry can find")]
    Id(String),
    /// The tag.
    #[error("`{0}` is no tag: it must be letters, digits, `_`, `.` and `-`, at most {TAG_LENGTH_MAX}")]
    Tag(String),
    /// The digest.
    #[error("`{0}` is no digest: it must be `sha256:` and 64 hexadecimal digits")]
    Digest(String),
}

impl ImageReference {
    /// The host of the registry, with its port if the reference has one. `docker.io` for Docker Hub.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The repository in the registry.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The tag. `latest` for a reference without a tag and without a digest. None: the digest alone names the image.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest, if the reference has one.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }
}

impl FromStr for ImageReference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let (name, digest) = text.split_once('@').map_or((text, None), |(name, digest)| (name, Some(digest)));
        // The colon of a port is before a slash.
        let (name, tag) = match name.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
            _ => (name, None),
        };
        let (registry, repository) = split(name);
        if !is_registry(registry) {
            return Err(ReferenceError::Registry(registry.to_owned()));
        }
        check_repository(repository)?;
        if let Some(tag) = tag.filter(|tag| !is_tag(tag)) {
            return Err(ReferenceError::Tag(tag.to_owned()));
        }
        if let Some(digest) = digest.filter(|digest| !is_digest(digest)) {
            return Err(ReferenceError::Digest(digest.to_owned()));
        }
        let is_official = registry == DOCKER_HUB && !repository.contains('/');
        let repository = if is_official { format!("{OFFICIAL}/{repository}") } else { repository.to_owned() };
        if repository.len() > REPOSITORY_LENGTH_MAX {
            return Err(ReferenceError::TooLong(repository.len()));
        }
        let tag = tag.or_else(|| digest.is_none().then_some(LATEST));
        Ok(Self {
            registry: registry.to_owned(),
            repository,
            tag: tag.map(str::to_owned),
            digest: digest.map(str::to_owned),
        })
    }
}

/// Writes the complete reference: `docker.io/library/nginx:latest`.
impl fmt::Display for ImageReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        self.tag.iter().try_for_each(|tag| write!(f, ":{tag}"))?;
        self.digest.iter().try_for_each(|digest| write!(f, "@{digest}"))
    }
}

/// The registry and the repository of a name. The first part is a registry if it can be no repository of Docker Hub: it has a dot, a port or capitals.
fn split(name: &str) -> (&str, &str) {
    match name.split_once('/') {
        Some((first, rest))
            if first.contains(['.', ':']) || first == "localhost" || first.contains(char::is_uppercase) =>
        {
            (if first == DOCKER_HUB_INDEX { DOCKER_HUB } else { first }, rest)
        }
        _ => (DOCKER_HUB, name),
    }
}

fn is_registry(registry: &str) -> bool {
    let (host, port) = match registry.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (registry, None),
    };
    let is_label = |label: &str| {
        let is_good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !label.is_empty() && label.bytes().all(is_good) && !label.starts_with('-') && !label.ends_with('-')
    };
    let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => host.split('.').all(is_label),
    };
    is_host && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

fn check_repository(repository: &str) -> Result<(), ReferenceError> {
    if repository.len() == 64 && repository.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(ReferenceError::Id(repository.to_owned()));
    }
    for part in repository.split('/') {
        if part.contains(|c: char| c.is_ascii_uppercase()) && is_part(&part.to_ascii_lowercase()) {
            return Err(ReferenceError::Capitals(repository.to_owned()));
        }
        if !is_part(part) {
            return Err(ReferenceError::Repository(part.to_owned()));
        }
    }
    Ok(())
}

/// Whether a text is letters and digits, with separators between them: a dot, one or two underscores, or hyphens.
fn is_part(part: &str) -> bool {
    let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_separator = |text: &str| matches!(text, "" | "." | "_" | "__") || text.bytes().all(|byte| byte == b'-');
    part.starts_with(is_alphanumeric)
        && part.ends_with(is_alphanumeric)
        && part.split(is_alphanumeric).all(is_separator)
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let has_good_start = tag.bytes().next().is_some_and(is_word);
    has_good_start && tag.len() <= TAG_LENGTH_MAX && tag.bytes().all(|byte| is_word(byte) || b".-".contains(&byte))
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, digits)) = digest.split_once(':') else { return false };
    let is_hexadecimal = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hexadecimal && ALGORITHMS.contains(&(algorithm, digits.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn check(text: &str, complete: &str) {
        let reference: ImageReference = text.parse().unwrap();
        assert_eq!(reference.to_string(), complete, "{text}");
        assert_eq!(complete.parse::<ImageReference>(), Ok(reference), "{text}");
    }

    fn check_error(text: &str, error: ReferenceError) {
        assert_eq!(text.parse::<ImageReference>(), Err(error), "{text}");
    }

    #[test]
    fn defaults_are_those_of_docker() {
        check("nginx", "docker.io/library/nginx:latest");
        check("acme/shop:1.0", "docker.io/acme/shop:1.0");
        check("index.docker.io/nginx", "docker.io/library/nginx:latest");
        check("localhost/shop", "localhost/shop:latest");
        check("ghcr.io/acme/shop/api:2", "ghcr.io/acme/shop/api:2");
    }

    #[test]
    fn ports_are_no_tags() {
        check("localhost:5000/shop", "localhost:5000/shop:latest");
        check("shop:5000", "docker.io/library/shop:5000");
        check("127.0.0.1:5000/shop:1", "127.0.0.1:5000/shop:1");
        check("[::1]:5000/shop:1", "[::1]:5000/shop:1");
        check("[fd00::1]/shop:1", "[fd00::1]/shop:1");
        check("Registry/shop:1", "Registry/shop:1");
    }

    #[test]
    fn a_digest_needs_no_tag() {
        let digest = format!("sha256:{DIGITS}");
        check(&format!("nginx@{digest}"), &format!("docker.io/library/nginx@{digest}"));
        check(&format!("nginx:1@{digest}"), &format!("docker.io/library/nginx:1@{digest}"));
        check(&format!("nginx@sha512:{DIGITS}{DIGITS}"), &format!("docker.io/library/nginx@sha512:{DIGITS}{DIGITS}"));
    }

    #[test]
    fn separators_are_between_letters() {
        for name in ["a.b", "a_b", "a__b", "a-b", "a---b", "a1/b2", "0"] {
            assert!(format!("r.io/{name}").parse::<ImageReference>().is_ok(), "{name}");
        }
        for part in ["", "a..b", "a___b", "-a", "a-", "a._b", ".a", "a b", "ä", "${IMAGE}"] {
            check_error(&format!("r.io/{part}"), ReferenceError::Repository(part.to_owned()));
        }
    }

    #[test]
    fn errors_name_the_wrong_part() {
        check_error("Shop:1", ReferenceError::Capitals("Shop".to_owned()));
        check_error("", ReferenceError::Repository(String::new()));
        check_error("a//b", ReferenceError::Repository(String::new()));
        check_error("https://r.io/a", ReferenceError::Registry("https:".to_owned()));
        check_error("r_1.io/a", ReferenceError::Registry("r_1.io".to_owned()));
        check_error("r.io:99999/a", ReferenceError::Registry("r.io:99999".to_owned()));
        check_error("shop:", ReferenceError::Tag(String::new()));
        check_error("shop:-1", ReferenceError::Tag("-1".to_owned()));
        check_error(&format!("shop:{}", "a".repeat(129)), ReferenceError::Tag("a".repeat(129)));
        check_error("shop@sha256:12", ReferenceError::Digest("sha256:12".to_owned()));
        check_error(&format!("shop@md5:{DIGITS}"), ReferenceError::Digest(format!("md5:{DIGITS}")));
        check_error(DIGITS, ReferenceError::Id(DIGITS.to_owned()));
        check_error(&format!("r.io/{}", "a".repeat(256)), ReferenceError::TooLong(256));
    }
}
