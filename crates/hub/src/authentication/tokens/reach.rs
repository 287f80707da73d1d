//! Checks of the reach of a token: workspaces and environments.

use hub_api::tokens::Reach;
use serde_json::Value as Json;

use crate::limits::REACH_NAMES_MAX;

/// Whether the names of a reach are valid: there are at most [`REACH_NAMES_MAX`], and none is empty.
pub(super) fn is_usable(reach: &Reach) -> bool {
    are_usable(&reach.workspaces) && are_usable(&reach.environments)
}

/// Whether there are at most [`REACH_NAMES_MAX`] names, and none is empty.
pub(super) fn are_usable(names: &[String]) -> bool {
    names.len() <= REACH_NAMES_MAX && names.iter().all(|name| !name.trim().is_empty())
}

/// Removes the parts of an answer that name a workspace or an environment outside of the reach. Returns whether any of the answer may be shown. Questions
/// already select by the reach. This second check also covers data next to the selection, such as other targets of the same folder.
pub fn prune(reach: &Reach, answer: &mut Json) -> bool {
    match answer {
        Json::Object(fields) => {
            let names = |key: &str| fields.get(key).and_then(Json::as_str).filter(|name| !name.is_empty());
            if names("workspace").is_some_and(|name| !reach.has_workspace(name))
                || names("environment").is_some_and(|name| !reach.has_environment(name))
            {
                return false;
            }
            fields.retain(|_, value| prune(reach, value));
            true
        }
        Json::Array(items) => {
            items.retain_mut(|item| prune(reach, item));
            true
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_outside_the_reach_are_removed_from_answers() {
        let reach = Reach { workspaces: vec!["web".into()], environments: vec!["dev".into()] };
        let mut answer = json!({
            "items": [
                {"workspace": "web", "environment": "dev", "versions": [{"workspace": "shop"}, {"workspace": "web"}]},
                {"workspace": "shop", "environment": "dev"},
                {"environment": "prod"},
                {"environment": "", "what": {"workspace": "shop"}},
            ],
        });
        assert!(prune(&reach, &mut answer));
        let expected = json!({
            "items": [{"workspace": "web", "environment": "dev", "versions": [{"workspace": "web"}]}, {"environment": ""}],
        });
        assert_eq!(answer, expected);
        assert!(!prune(&reach, &mut json!({"environment": "prod"})));
        let mut all = json!([{"environment": "prod"}]);
        assert!(prune(&Reach::ALL, &mut all) && all[0]["environment"] == "prod");
    }

    #[test]
    fn a_reach_is_shown_in_words() {
        let reach = Reach { workspaces: vec!["web".into(), "shop".into()], environments: vec!["dev".into()] };
        assert_eq!(reach.to_string(), "workspaces web, shop; environments dev");
        assert_eq!(Reach::ALL.to_string(), "");
    }
}
