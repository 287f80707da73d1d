//! The section `[service]` of `kalypso.toml`.

use std::collections::BTreeMap;
use std::time::Duration;

use delivery::access::ControlPlaneSettings;
use git::RepositoryUrl;
use serde::Deserialize;
use service::Timing;

use crate::exit::Failure;
use crate::times::duration;

/// The shortest pause between two polls: git hosts reject clients that poll too often.
const POLL_MIN: Duration = Duration::from_secs(1);

/// The section as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ServiceOptions {
    poll: Option<String>,
    settle: Option<String>,
    settle_max: Option<String>,
    resync: Option<String>,
    pub(super) confirm: Option<Vec<String>>,
    #[serde(default)]
    control_plane: Vec<OtherControlPlane>,
}

/// Another control plane.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct OtherControlPlane {
    name: String,
    repo: String,
    #[serde(default = "super::main_branch")]
    branch: String,
}

impl ServiceOptions {
    /// The other control planes by name. Everything else is as for the main one.
    pub(super) fn other_control_planes(
        &self,
        main: &ControlPlaneSettings,
    ) -> Result<BTreeMap<String, ControlPlaneSettings>, Failure> {
        let mut found = BTreeMap::new();
        for OtherControlPlane { name, repo, branch } in &self.control_plane {
            let is_character = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if name.is_empty() || !name.chars().all(is_character) {
                let message = format!("`service.control-plane.name`, `{name}`, can't be used");
                return Err(Failure::usage(message).help("use small letters, digits and hyphens, such as `retail`"));
            }
            let repo = RepositoryUrl::from_configuration(repo).map_err(|error| {
                Failure::usage(format!("`service.control-plane.repo` of `{name}` can't be used: {error}"))
            })?;
            let other = ControlPlaneSettings { repo, branch: branch.clone(), ..main.clone() };
            if other.subject() == main.subject()
                || found.values().any(|known: &ControlPlaneSettings| known.subject() == other.subject())
            {
                return Err(Failure::usage(format!("the control plane `{name}` is listed twice, with its branch")));
            }
            if found.insert(name.clone(), other).is_some() {
                return Err(Failure::usage(format!("two control planes have the name `{name}`")));
            }
        }
        Ok(found)
    }

    /// The durations.
    pub(super) fn resolve(&self) -> Result<Timing, Failure> {
        let default = Timing::default();
        let one = |key: &str, written: &Option<String>, default: Duration| {
            written.as_deref().map_or(Ok(default), |text| duration(&format!("service.{key} ="), text))
        };
        let timing = Timing {
            poll: one("poll", &self.poll, default.poll)?.max(POLL_MIN),
            settle: one("settle", &self.settle, default.settle)?,
            settle_max: one("settle-max", &self.settle_max, default.settle_max)?,
            resync: one("resync", &self.resync, default.resync)?.max(POLL_MIN),
            promotion: default.promotion,
        };
        if timing.settle > timing.settle_max {
            return Err(Failure::usage("`service.settle` is longer than `service.settle-max`"));
        }
        Ok(timing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<Timing, String> {
        let options: ServiceOptions = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        options.resolve().map_err(|failure| failure.to_string())
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(check("").unwrap(), Timing::default());
        let timing = check("settle = '200ms'\npoll = '10s'").unwrap();
        assert_eq!((timing.settle, timing.poll), (Duration::from_millis(200), Duration::from_secs(10)));
        assert!(check("settle = '1m'").unwrap_err().contains("longer than"));
        assert!(check("poll = '30'").unwrap_err().contains("service.poll = 30"));
        assert!(check("pol = '30s'").unwrap_err().contains("unknown field `pol`"));
    }
}
