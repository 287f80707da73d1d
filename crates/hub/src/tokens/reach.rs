//! How far a token that asks or publishes reaches: workspaces and environments.

use serde::Serialize;
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::limits::REACH_NAMES_MAX;

/// The workspaces and environments that a token is limited to. An empty list is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reach {
    /// The workspaces; all if there is none.
    pub workspaces: Vec<String>,
    /// The environments; all if there is none.
    pub environments: Vec<String>,
}

impl Reach {
    /// No limit.
    pub const ALL: Self = Self { workspaces: Vec::new(), environments: Vec::new() };

    /// Whether there is no limit.
    pub fn is_all(&self) -> bool {
        *self == Self::ALL
    }

    /// Whether a workspace is within it.
    pub fn has_workspace(&self, name: &str) -> bool {
        self.workspaces.is_empty() || self.workspaces.iter().any(|one| one == name)
    }

    /// Whether an environment is within it.
    pub fn has_environment(&self, name: &str) -> bool {
        self.environments.is_empty() || self.environments.iter().any(|one| one == name)
    }

    /// Whether the names can be used: they are few, and none is empty.
    pub(super) fn is_usable(&self) -> bool {
        [&self.workspaces, &self.environments]
            .into_iter()
            .all(|names| names.len() <= REACH_NAMES_MAX && names.iter().all(|name| !name.trim().is_empty()))
    }

    /// Takes out of an answer what names a workspace or an environment that is not within the reach; whether anything of it may be shown. Questions select by
    /// the reach already: this is the second lock, also for what stands beside what was selected, such as other targets of the same folder.
    pub fn prune(&self, answer: &mut Json) -> bool {
        match answer {
            Json::Object(fields) => {
                let names = |key: &str| fields.get(key).and_then(Json::as_str).filter(|name| !name.is_empty());
                if names("workspace").is_some_and(|name| !self.has_workspace(name))
                    || names("environment").is_some_and(|name| !self.has_environment(name))
                {
                    return false;
                }
                fields.retain(|_, value| self.prune(value));
                true
            }
            Json::Array(items) => {
                items.retain_mut(|item| self.prune(item));
                true
            }
            _ => true,
        }
    }
}

impl std::fmt::Display for Reach {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let part = |word: &str, names: &[String]| (!names.is_empty()).then(|| format!("{word} {}", names.join(", ")));
        let parts = [part("workspaces", &self.workspaces), part("environments", &self.environments)];
        formatter.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_outside_is_taken_out_of_answers() {
        let reach = Reach { workspaces: vec!["web".into()], environments: vec!["dev".into()] };
        let mut answer = json!({
            "items": [
                {"workspace": "web", "environment": "dev", "versions": [{"workspace": "shop"}, {"workspace": "web"}]},
                {"workspace": "shop", "environment": "dev"},
                {"environment": "prod"},
                {"environment": "", "what": {"workspace": "shop"}},
            ],
        });
        assert!(reach.prune(&mut answer));
        let expected = json!({
            "items": [{"workspace": "web", "environment": "dev", "versions": [{"workspace": "web"}]}, {"environment": ""}],
        });
        assert_eq!(answer, expected);
        assert!(!reach.prune(&mut json!({"environment": "prod"})));
        let mut all = json!([{"environment": "prod"}]);
        assert!(Reach::ALL.prune(&mut all) && all[0]["environment"] == "prod");
    }

    #[test]
    fn a_reach_is_shown_in_words() {
        let reach = Reach { workspaces: vec!["web".into(), "shop".into()], environments: vec!["dev".into()] };
        assert_eq!(reach.to_string(), "workspaces web, shop; environments dev");
        assert_eq!(Reach::ALL.to_string(), "");
    }
}
