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
    pub(super) confirm: Option<Vec<String>>,
}

impl ServiceOptions {
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
