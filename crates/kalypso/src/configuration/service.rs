//! The section `[service]` of `kalypso.toml`.

use std::time::Duration;

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
}

impl ServiceOptions {
    /// The durations. An environment variable takes precedence: `KALYPSO_SERVICE_POLL` for `service.poll`.
    pub(super) fn resolve(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Timing, Failure> {
        let default = Timing::default();
        let one = |key: &str, written: &Option<String>, default: Duration| {
            let name = format!("KALYPSO_SERVICE_{}", key.to_ascii_uppercase().replace('-', "_"));
            match variable(&name).filter(|text| !text.is_empty()) {
                Some(text) => duration(&name, &text),
                None => written.as_deref().map_or(Ok(default), |text| duration(&format!("service.{key} ="), text)),
            }
        };
        let timing = Timing {
            poll: one("poll", &self.poll, default.poll)?.max(POLL_MIN),
            settle: one("settle", &self.settle, default.settle)?,
            settle_max: one("settle-max", &self.settle_max, default.settle_max)?,
            resync: one("resync", &self.resync, default.resync)?.max(POLL_MIN),
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

    fn check(text: &str, variable: Option<(&str, &str)>) -> Result<Timing, String> {
        let options: ServiceOptions = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let find = |name: &str| variable.filter(|(own, _)| *own == name).map(|(_, value)| value.to_owned());
        options.resolve(find).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_variable_takes_precedence() {
        assert_eq!(check("", None).unwrap(), Timing::default());
        let timing = check("settle = '200ms'\npoll = '1m'", Some(("KALYPSO_SERVICE_POLL", "10s"))).unwrap();
        assert_eq!((timing.settle, timing.poll), (Duration::from_millis(200), Duration::from_secs(10)));
        assert!(check("settle = '1m'", None).unwrap_err().contains("longer than"));
        assert!(check("poll = '30'", None).unwrap_err().contains("service.poll = 30"));
        assert!(check("pol = '30s'", None).unwrap_err().contains("unknown field `pol`"));
    }
}
