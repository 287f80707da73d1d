//! One call of an API.

use reqwest::{Method, Url};
use serde_json::Value;

/// One call of an API, before it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) place: CallPlace,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) body: Option<Value>,
    /// Whether the call may be repeated after an error that leaves open whether it was done.
    pub(crate) is_repeatable: bool,
}

/// The address of a call.
#[derive(Clone, Debug)]
pub(crate) enum CallPlace {
    /// The parts of a path below the address of the API.
    Path(Vec<String>),
    /// A path from the root of the host, for the one API of GitHub that is beside the others.
    FromRoot(String),
}

impl Call {
    fn new(method: Method, path: &[&str], is_repeatable: bool) -> Self {
        let path = path.iter().map(|&part| part.to_owned()).collect();
        let place = CallPlace::Path(path);
        Self { method, place, query: Vec::new(), headers: Vec::new(), body: None, is_repeatable }
    }

    pub(crate) fn get(path: &[&str]) -> Self {
        Self::new(Method::GET, path, true)
    }

    /// A call that creates something. It is repeated only if the host did not accept it.
    pub(crate) fn post(path: &[&str], body: Value) -> Self {
        Self::new(Method::POST, path, false).with(body)
    }

    pub(crate) fn put(path: &[&str], body: Value) -> Self {
        Self::new(Method::PUT, path, true).with(body)
    }

    pub(crate) fn patch(path: &[&str], body: Value) -> Self {
        Self::new(Method::PATCH, path, true).with(body)
    }

    pub(crate) fn delete(path: &[&str]) -> Self {
        Self::new(Method::DELETE, path, true)
    }

    fn with(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }

    pub(crate) fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    /// The same call with a parameter, if it has a value.
    pub(crate) fn optional(self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The same call, which sets a state: doing it twice has the same result as once.
    pub(crate) fn repeatable(self) -> Self {
        Self { is_repeatable: true, ..self }
    }

    /// The same call at a path from the root of the host.
    pub(crate) fn at_root(self, path: String) -> Self {
        Self { place: CallPlace::FromRoot(path), ..self }
    }

    /// The method and the path, for messages. Parameters are left out.
    pub(crate) fn shown(&self) -> String {
        match &self.place {
            CallPlace::Path(path) => format!("{} /{}", self.method, path.join("/")),
            CallPlace::FromRoot(path) => format!("{} {path}", self.method),
        }
    }

    /// The address below the address of an API. Each part of the path stays one part, whatever it contains.
    pub(crate) fn url(&self, base: &Url) -> Url {
        let mut url = base.clone();
        match &self.place {
            CallPlace::Path(path) => {
                if let Ok(mut segments) = url.path_segments_mut() {
                    segments.pop_if_empty().extend(path);
                }
            }
            CallPlace::FromRoot(path) => url.set_path(path),
        }
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_path_stays_one_part() {
        let base: Url = "https://git.example/api/v4/".parse().unwrap();
        let call = Call::get(&["projects", "acme/team/gitops", "a?b#c%d"]).query("labels", "a&b");
        assert_eq!(
            call.url(&base).as_str(),
            "https://git.example/api/v4/projects/acme%2Fteam%2Fgitops/a%3Fb%23c%25d?labels=a%26b"
        );
        assert_eq!(call.shown(), "GET /projects/acme/team/gitops/a?b#c%d");
        let root = Call::get(&[]).at_root("/api/graphql".to_owned());
        assert_eq!(root.url(&base).as_str(), "https://git.example/api/graphql");
    }
}
