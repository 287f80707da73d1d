//! The configuration file of a new platform, `kalypso.toml`.

use std::fmt::Write as _;

use super::quoting::toml;

/// The content of a new configuration file.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// The URL of the control plane, as objects name it.
    pub control_plane: String,
    /// Where the repositories are instead of at their URLs.
    pub rewrites: Vec<UrlRewrite>,
    /// The git host for pull requests. None: a comment describes the section.
    pub host: Option<HostEntry>,
}

/// URLs that begin with `from` are read at `to` instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlRewrite {
    /// The start of URLs.
    pub from: String,
    /// The other URL, or a path from the folder of the configuration file.
    pub to: String,
}

/// The git host for pull requests.
#[derive(Clone, Debug)]
pub struct HostEntry {
    /// The kind, as the configuration names it.
    pub kind: String,
    /// The address of its pages.
    pub url: String,
    /// The address of its API, if it is not the usual one.
    pub api_url: Option<String>,
    /// The start of the URLs of its repositories, for the token of git.
    pub repositories: String,
    /// Where the token is.
    pub token: TokenLocation,
}

/// Where a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenLocation {
    /// In an environment variable.
    Variable(String),
    /// In a file.
    File(String),
}

impl Configuration {
    /// The file.
    pub fn text(&self) -> String {
        let mut text = format!(
            "\
# How Kalypso reads the repositories of this platform. Commands find this file from every folder below it.

[control-plane]
repo = {}
",
            toml(&self.control_plane)
        );
        text.push_str(&self.git());
        match &self.host {
            Some(host) => text.push_str(&host.section("`publish` opens pull requests on this git host.")),
            None => text.push_str(HOST),
        }
        text
    }

    fn git(&self) -> String {
        let credential = self.host.as_ref().and_then(HostEntry::credential);
        if self.rewrites.is_empty() && credential.is_none() {
            return String::new();
        }
        let mut text = "\n[git]\n".to_owned();
        if !self.rewrites.is_empty() {
            text.push_str(REWRITE);
            text.push_str("rewrite = [\n");
            for UrlRewrite { from, to } in &self.rewrites {
                let _ = writeln!(text, "  {{ from = {}, to = {} }},", toml(from), toml(to));
            }
            text.push_str("]\n");
        }
        text.push_str(&credential.unwrap_or_default());
        text
    }
}

impl HostEntry {
    /// The section of the git host, with a comment.
    pub fn section(&self, comment: &str) -> String {
        let token = match &self.token {
            TokenLocation::Variable(name) => format!("token-env = {}\n", toml(name)),
            TokenLocation::File(path) => format!("token-file = {}\n", toml(path)),
        };
        let (kind, url) = (toml(&self.kind), toml(&self.url));
        let api = self.api_url.as_ref().map(|url| format!("api-url = {}\n", toml(url))).unwrap_or_default();
        format!("\n# {comment}\n[host]\nkind = {kind}\nurl = {url}\n{api}{token}")
    }

    /// The token for git. A token in a file is for the API only: git uses its own credential helpers then.
    pub fn credential(&self) -> Option<String> {
        let TokenLocation::Variable(name) = &self.token else { return None };
        let (prefix, name) = (toml(&self.repositories), toml(name));
        Some(format!(
            "# The token in this variable is sent only to URLs that begin with the prefix.\ncredentials = [{{ prefix = {prefix}, token-env = {name} }}]\n"
        ))
    }
}

const REWRITE: &str = "\
# Objects name repositories by URLs. These rules say where the repositories are instead: a path starts from the folder of this file.
# When the repositories are at their URLs, on a git host, remove the rules.
";

const HOST: &str = "
# With a git host, `publish` opens pull requests. The token is in the variable KALYPSO_HOST_TOKEN.
# [host]
# kind = \"github\"              # or gitlab, gitea, azure-devops
# url = \"https://github.com\"
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_platform_has_a_rule_and_no_host() {
        let from = "https://git.example/platform/".to_owned();
        let configuration = Configuration {
            control_plane: format!("{from}control-plane"),
            rewrites: vec![UrlRewrite { from, to: "./".to_owned() }],
            host: None,
        };
        let text = configuration.text();
        assert!(text.contains("repo = \"https://git.example/platform/control-plane\"\n"));
        assert!(text.contains("  { from = \"https://git.example/platform/\", to = \"./\" },\n]\n"));
        assert!(text.contains("# [host]\n") && !text.contains("\n[host]"));
    }

    #[test]
    fn a_token_is_named_and_limited_to_its_prefix() {
        let host = HostEntry {
            kind: "gitea".to_owned(),
            url: "https://git.example".to_owned(),
            api_url: None,
            repositories: "https://git.example/acme/".to_owned(),
            token: TokenLocation::Variable("ACME_TOKEN".to_owned()),
        };
        let text = Configuration { host: Some(host.clone()), ..Configuration::default() }.text();
        let credential = "credentials = [{ prefix = \"https://git.example/acme/\", token-env = \"ACME_TOKEN\" }]";
        assert!(text.contains(credential) && text.contains("token-env = \"ACME_TOKEN\"\n"), "{text}");
        let host = HostEntry { token: TokenLocation::File(".kalypso/token".to_owned()), ..host };
        let text = Configuration { host: Some(host), ..Configuration::default() }.text();
        assert!(text.contains("token-file = \".kalypso/token\"\n") && !text.contains("credentials"), "{text}");
    }
}
