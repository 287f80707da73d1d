//! Rules in `kalypso.toml` (`[[hub.rule]]`): parses and checks them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hub_api::filter::Filter;
use hub_api::limits::NAME_CHARACTERS_MAX;
use hub_api::rules::Condition;
use hub_api::timestamp;
use model::selector::LabelSelector;
use serde::Deserialize;

use super::receiver::PAGERDUTY_URL;
use super::{IncidentSeverity, NotificationFormat, Receiver, Rule, Threshold, WebhookSecret};
use crate::limits::{RULE_AGE_MAX, RULE_LASTING_MAX, RULES_MAX};

/// A rule as it is written in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RuleOptions {
    /// Its name.
    pub name: String,
    /// Only this environment.
    pub environment: Option<String>,
    /// Only this workspace.
    pub workspace: Option<String>,
    /// Only this application.
    pub application: Option<String>,
    /// Only this workload.
    pub workload: Option<String>,
    /// Only this deployment target.
    pub target: Option<String>,
    /// Only this cluster type.
    pub cluster_type: Option<String>,
    /// Only hosts with these labels.
    pub selector: Option<String>,
    /// Only deployment targets with these labels.
    pub target_selector: Option<String>,
    /// The condition for a reconciler to count.
    pub condition: Condition,
    /// With the condition `drifting`: for how long the missing content must have been desired, such as `2h`.
    pub longer_than: Option<String>,
    /// The threshold: a number, or a share such as `5 %`.
    pub above: Above,
    /// For how long the threshold must be exceeded, such as `10m`. Without it, the rule fires at once.
    #[serde(rename = "for")]
    pub lasting: Option<String>,
    /// The format of notifications.
    #[serde(default)]
    pub format: FormatName,
    /// The URL to which notifications are sent. For PagerDuty, the default is the URL of its Events API.
    pub url: Option<String>,
    /// The file that contains the URL.
    pub url_file: Option<PathBuf>,
    /// The environment variable with the same content as that file.
    pub url_env: Option<String>,
    /// The file that contains the secret for signatures, or PagerDuty's integration key.
    pub secret_file: Option<PathBuf>,
    /// The environment variable with the same content as that file.
    pub secret_env: Option<String>,
    /// The severity of incidents of PagerDuty.
    pub severity: Option<IncidentSeverity>,
}

/// The format of notifications, as it is written in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FormatName {
    /// Kalypso's own JSON, signed.
    #[default]
    Signed,
    /// For Slack.
    Slack,
    /// For Microsoft Teams.
    Teams,
    /// For PagerDuty.
    PagerDuty,
}

/// The threshold, as it is written in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a number, or a share such as \"5 %\"")]
pub enum Above {
    /// A number of reconcilers.
    Count(u32),
    /// A share of the expected reconcilers, such as `5 %`.
    Share(String),
}

/// A rule is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hub.rule `{rule}`: {field}: {message}")]
pub struct RuleError {
    rule: String,
    field: &'static str,
    message: String,
}

/// The files and the environment variables that rules can name.
#[derive(Clone, Copy)]
struct Outside<'a> {
    /// The folder that paths are relative to.
    base: &'a Path,
    environment: &'a dyn Fn(&str) -> Option<String>,
}

/// The two fields of a rule for a text that is outside of the configuration: in a file, or in an environment variable.
#[derive(Clone, Copy)]
struct TextOptions<'a> {
    file: Field<&'a Path>,
    variable: Field<&'a str>,
}

#[derive(Clone, Copy)]
struct Field<T> {
    name: &'static str,
    value: Option<T>,
}

impl RuleOptions {
    /// Converts the rules of the file. Paths of files are relative to `base`; `environment` returns environment variables.
    ///
    /// # Errors
    /// A field is missing or invalid, or two rules have the same name.
    pub fn resolve_all(
        rules: Vec<Self>,
        base: &Path,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<Rule>, RuleError> {
        let mut names = BTreeSet::new();
        for rule in &rules {
            if !names.insert(&rule.name) {
                return Err(rule.error("name", "there are two of that name"));
            }
            if names.len() > RULES_MAX {
                return Err(rule.error("name", format!("there are more than {RULES_MAX} rules")));
            }
        }
        let outside = Outside { base, environment: &environment };
        rules.into_iter().map(|rule| rule.resolve(outside)).collect()
    }

    fn resolve(self, outside: Outside<'_>) -> Result<Rule, RuleError> {
        if self.name.is_empty() || self.name.chars().count() > NAME_CHARACTERS_MAX {
            return Err(self.error("name", format!("1 to {NAME_CHARACTERS_MAX} characters are possible")));
        }
        let above =
            self.above().ok_or_else(|| self.error("above", "it is neither a number nor a share such as `5 %`"))?;
        let lasting = self.lasting.as_deref().map_or(Some(Duration::ZERO), timestamp::length);
        let lasting = lasting
            .filter(|lasting| *lasting <= RULE_LASTING_MAX)
            .ok_or_else(|| self.error("for", "it is no length of time, such as 10m or 2h, of a week at most"))?;
        for (field, selector) in [("selector", &self.selector), ("target-selector", &self.target_selector)] {
            if let Some(Err(error)) = selector.as_deref().map(LabelSelector::parse) {
                return Err(self.error(field, error.to_string()));
            }
        }
        let longer_than = self.longer_than()?;
        let receiver = self.receiver(outside)?;
        let filter = Filter {
            environment: self.environment,
            workspace: self.workspace,
            application: self.application,
            workload: self.workload,
            target: self.target,
            cluster_type: self.cluster_type,
            selector: self.selector,
            target_selector: self.target_selector,
            ..Filter::default()
        };
        Ok(Rule { name: self.name, filter, condition: self.condition, above, lasting, longer_than, receiver })
    }

    fn longer_than(&self) -> Result<Duration, RuleError> {
        match (self.condition, &self.longer_than) {
            (Condition::Drifting, None) => {
                Err(self.error("longer-than", "`drifting` needs it: how long drift may take, such as 2h"))
            }
            (Condition::Drifting, Some(text)) => {
                timestamp::length(text).filter(|length| *length <= RULE_AGE_MAX).ok_or_else(|| {
                    self.error("longer-than", "it is no length of time, such as 2h or 3d, of a year at most")
                })
            }
            (_, Some(_)) => {
                Err(self.error("longer-than", "only `drifting` has it; `for` sets how long a condition must last"))
            }
            (_, None) => Ok(Duration::ZERO),
        }
    }

    fn above(&self) -> Option<Threshold> {
        match &self.above {
            Above::Count(count) => Some(Threshold::Count((*count).into())),
            Above::Share(text) => share(text).map(Threshold::Share),
        }
    }

    fn receiver(&self, outside: Outside<'_>) -> Result<Receiver, RuleError> {
        let (url_field, url) = self.url(outside)?;
        let secret = TextOptions {
            file: Field { name: "secret-file", value: self.secret_file.as_deref() },
            variable: Field { name: "secret-env", value: self.secret_env.as_deref() },
        };
        let secret = self.text(secret, outside)?;
        if self.severity.is_some() && self.format != FormatName::PagerDuty {
            return Err(self.error("severity", "only incidents of PagerDuty have one"));
        }
        let format = match (self.format, secret) {
            (FormatName::Slack | FormatName::Teams, Some((field, _))) => {
                return Err(self.error(field, "the URL is the secret of this format; there is no other one"));
            }
            (FormatName::Slack, None) => NotificationFormat::Slack,
            (FormatName::Teams, None) => NotificationFormat::Teams,
            (_, None) => {
                return Err(self.error("secret-file", "set exactly one of `secret-file` and `secret-env`"));
            }
            (FormatName::Signed, Some((field, text))) => NotificationFormat::Signed(
                WebhookSecret::parse(&text).map_err(|error| self.error(field, error.to_string()))?,
            ),
            (FormatName::PagerDuty, Some((field, text))) => {
                let severity = self.severity.unwrap_or_default();
                NotificationFormat::pagerduty(&text, severity).map_err(|message| self.error(field, message))?
            }
        };
        Receiver::new(&url, format).map_err(|message| self.error(url_field, message))
    }

    /// The URL, and the name of the field that it comes from.
    fn url(&self, outside: Outside<'_>) -> Result<(&'static str, String), RuleError> {
        let url = TextOptions {
            file: Field { name: "url-file", value: self.url_file.as_deref() },
            variable: Field { name: "url-env", value: self.url_env.as_deref() },
        };
        match (&self.url, self.text(url, outside)?) {
            (Some(url), None) => Ok(("url", url.clone())),
            (None, Some((field, url))) => Ok((field, url.trim().to_owned())),
            (None, None) if self.format == FormatName::PagerDuty => Ok(("url", PAGERDUTY_URL.to_owned())),
            _ => {
                Err(self
                    .error("url", "set exactly one of `url`, `url-file` and `url-env`: notifications are sent there"))
            }
        }
    }

    /// The text of a file or of an environment variable, and the name of the field that it comes from; none if neither is set.
    fn text(
        &self,
        TextOptions { file, variable }: TextOptions<'_>,
        outside: Outside<'_>,
    ) -> Result<Option<(&'static str, String)>, RuleError> {
        match (file.value, variable.value) {
            (None, None) => Ok(None),
            (Some(path), None) => {
                let path = outside.base.join(path);
                let text = std::fs::read_to_string(&path);
                let wrong = |error| self.error(file.name, format!("`{}` can't be read: {error}", path.display()));
                Ok(Some((file.name, text.map_err(wrong)?)))
            }
            (None, Some(name)) => {
                let unset = || self.error(variable.name, format!("the variable `{name}` is not set"));
                Ok(Some((variable.name, (outside.environment)(name).ok_or_else(unset)?)))
            }
            _ => Err(self.error(file.name, format!("set exactly one of `{}` and `{}`", file.name, variable.name))),
        }
    }

    fn error(&self, field: &'static str, message: impl Into<String>) -> RuleError {
        RuleError { rule: self.name.clone(), field, message: message.into() }
    }
}

/// Parses a share such as `5 %` or `0.5%`. The result is in thousandths of a percent.
fn share(text: &str) -> Option<i64> {
    let number = text.trim().strip_suffix('%')?.trim_end();
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || whole.len() > 3 || part.len() > 3 {
        return None;
    }
    let share = whole.parse::<i64>().ok()? * 1_000 + format!("{part:0<3}").parse::<i64>().ok()?;
    (share <= 100_000).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn rule(change: impl Fn(&mut RuleOptions)) -> Result<Rule, String> {
        let mut rule = RuleOptions {
            name: "r".to_owned(),
            environment: Some("stage".to_owned()),
            workspace: None,
            application: None,
            workload: None,
            target: None,
            cluster_type: None,
            selector: None,
            target_selector: None,
            condition: Condition::Failed,
            longer_than: None,
            above: Above::Share("5 %".to_owned()),
            lasting: Some("10m".to_owned()),
            format: FormatName::Signed,
            url: Some("https://chat.example/hook".to_owned()),
            url_file: None,
            url_env: None,
            secret_file: None,
            secret_env: Some("SECRET".to_owned()),
            severity: None,
        };
        change(&mut rule);
        let environment = |name: &str| match name {
            "SECRET" => Some(SECRET.to_owned()),
            "KEY" => Some(format!("{}\n", "a".repeat(32))),
            "URL" => Some("https://hooks.example/services/hush\n".to_owned()),
            _ => None,
        };
        rule.resolve(Outside { base: Path::new("/nowhere"), environment: &environment })
            .map_err(|error| error.to_string())
    }

    #[test]
    fn rule_options_are_read() {
        let read = rule(|_| ()).unwrap();
        assert_eq!((read.above, read.lasting), (Threshold::Share(5_000), Duration::from_mins(10)));
        assert_eq!(read.filter.environment.as_deref(), Some("stage"));
        assert_eq!(rule(|rule| rule.lasting = None).unwrap().lasting, Duration::ZERO);
        assert_eq!(rule(|rule| rule.above = Above::Count(3)).unwrap().above, Threshold::Count(3));
    }

    #[test]
    fn shares_have_three_digits_behind_the_point() {
        assert_eq!(
            ["5 %", "0.5%", " 12.345 %", "100%"].map(share),
            [Some(5_000), Some(500), Some(12_345), Some(100_000)]
        );
        assert_eq!(["5", "%", "100.001 %", "-1 %", "1.2345 %", "1e1 %", "+5 %"].map(share), [None; 7]);
    }

    #[test]
    fn invalid_rule_options_are_reported_with_their_field() {
        let check = |change: fn(&mut RuleOptions), expected: &str| {
            let error = rule(change).unwrap_err();
            assert!(error.starts_with(expected) && !error.contains("hush"), "{error}");
        };
        check(|rule| rule.name = String::new(), "hub.rule ``: name: 1 to 253 characters");
        check(|rule| rule.above = Above::Share("5".to_owned()), "hub.rule `r`: above: it is neither");
        check(|rule| rule.selector = Some("region in west".to_owned()), "hub.rule `r`: selector: ");
        check(|rule| rule.lasting = Some("1mo".to_owned()), "hub.rule `r`: for: it is no length");
        check(
            |rule| rule.secret_env = Some("OTHER".to_owned()),
            "hub.rule `r`: secret-env: the variable `OTHER` is not set",
        );
        check(
            |rule| rule.secret_file = Some("x".into()),
            "hub.rule `r`: secret-file: set exactly one of `secret-file` and `secret-env`",
        );
        check(|rule| rule.url = Some("ftp://chat.example/hush".into()), "hub.rule `r`: url: it does not begin with");
        check(|rule| rule.url = Some("https://me:hush@chat.example".into()), "hub.rule `r`: url: it has a user");
        check(|rule| rule.url = None, "hub.rule `r`: url: set exactly one of `url`, `url-file` and `url-env`");
        check(|rule| rule.url_env = Some("URL".into()), "hub.rule `r`: url: set exactly one of");
        check(|rule| rule.format = FormatName::Slack, "hub.rule `r`: secret-env: the URL is the secret");
        check(|rule| rule.format = FormatName::PagerDuty, "hub.rule `r`: secret-env: it holds no integration key");
        check(|rule| rule.condition = Condition::Drifting, "hub.rule `r`: longer-than: `drifting` needs it");
        check(|rule| rule.longer_than = Some("2h".into()), "hub.rule `r`: longer-than: only `drifting` has it");
        check(|rule| rule.severity = Some(IncidentSeverity::Info), "hub.rule `r`: severity: only incidents");
    }

    #[test]
    fn formats_of_services_need_only_their_url_or_key() {
        let receiver = |format: FormatName, url: Option<&str>, secret: Option<&str>| {
            let read = rule(|rule| {
                (rule.format, rule.url, rule.url_env) = (format, None, url.map(str::to_owned));
                rule.secret_env = secret.map(str::to_owned);
            });
            read.map(|rule| format!("{} {}", rule.receiver.format.as_str(), rule.receiver.host())).unwrap()
        };
        assert_eq!(receiver(FormatName::Slack, Some("URL"), None), "slack hooks.example");
        assert_eq!(receiver(FormatName::Teams, Some("URL"), None), "teams hooks.example");
        assert_eq!(receiver(FormatName::PagerDuty, None, Some("KEY")), "pagerduty events.pagerduty.com");
    }

    #[test]
    fn names_are_unique() {
        let options = |name: &str| {
            let rule = serde_json::json!({"name": name, "condition": "silent", "above": 0, "url": "http://[::1]:1/", "secret-env": "S"});
            serde_json::from_value::<RuleOptions>(rule).unwrap()
        };
        let resolve = |names: &[&str]| {
            RuleOptions::resolve_all(names.iter().map(|name| options(name)).collect(), Path::new("."), |_| {
                Some(SECRET.to_owned())
            })
        };
        assert_eq!(resolve(&["a", "b"]).unwrap().len(), 2);
        assert!(resolve(&["a", "a"]).unwrap_err().to_string().contains("there are two of that name"));
    }
}
