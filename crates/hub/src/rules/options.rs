//! Rules as they stand in `kalypso.toml` (`[[hub.rule]]`), and what they mean.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::selector::LabelSelector;
use serde::Deserialize;

use super::{Condition, Receiver, Rule, Secret, Threshold};
use crate::limits::{NAME_CHARACTERS_MAX, RULE_LASTING_MAX, RULES_MAX};
use crate::questions::Filter;

/// A rule as it is written.
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
    /// What it counts.
    pub condition: Condition,
    /// How much is too much: a number, or a share such as `5 %`.
    pub above: Above,
    /// For how long, such as `10m`; at once, if nothing is said.
    #[serde(rename = "for")]
    pub lasting: Option<String>,
    /// Where notifications are sent.
    pub url: String,
    /// The file that holds the secret to sign them with.
    pub secret_file: Option<PathBuf>,
    /// The environment variable that holds it.
    pub secret_env: Option<String>,
}

/// How much is too much, as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a number, or a share such as \"5 %\"")]
pub enum Above {
    /// So many.
    Count(u32),
    /// A share.
    Share(String),
}

/// A rule can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hub.rule `{rule}`: {field}: {message}")]
pub struct RuleError {
    rule: String,
    field: &'static str,
    message: String,
}

impl RuleOptions {
    /// What they mean. Files are named from `base`; `environment` looks up variables.
    ///
    /// # Errors
    /// Something is missing or not possible, or two have one name.
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
        rules.into_iter().map(|rule| rule.resolve(base, &environment)).collect()
    }

    fn resolve(self, base: &Path, environment: impl Fn(&str) -> Option<String>) -> Result<Rule, RuleError> {
        if self.name.is_empty() || self.name.chars().count() > NAME_CHARACTERS_MAX {
            return Err(self.error("name", format!("1 to {NAME_CHARACTERS_MAX} characters are possible")));
        }
        let above =
            self.above().ok_or_else(|| self.error("above", "it is neither a number nor a share such as `5 %`"))?;
        let lasting = self.lasting.as_deref().map_or(Some(Duration::ZERO), duration);
        let lasting = lasting
            .ok_or_else(|| self.error("for", "it is no length of time, such as 10m or 2h, of a week at most"))?;
        for (field, selector) in [("selector", &self.selector), ("target-selector", &self.target_selector)] {
            if let Some(Err(error)) = selector.as_deref().map(LabelSelector::parse) {
                return Err(self.error(field, error.to_string()));
            }
        }
        let secret = self.secret(base, environment)?;
        let receiver = Receiver::new(&self.url, secret).map_err(|message| self.error("url", message))?;
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
        Ok(Rule { name: self.name, filter, condition: self.condition, above, lasting, receiver })
    }

    fn above(&self) -> Option<Threshold> {
        match &self.above {
            Above::Count(count) => Some(Threshold::Count((*count).into())),
            Above::Share(text) => share(text).map(Threshold::Share),
        }
    }

    fn secret(&self, base: &Path, environment: impl Fn(&str) -> Option<String>) -> Result<Secret, RuleError> {
        let (field, text) = match (&self.secret_file, &self.secret_env) {
            (Some(file), None) => {
                let file = base.join(file);
                let text = std::fs::read_to_string(&file);
                ("secret-file", text.map_err(|error| format!("`{}` can't be read: {error}", file.display())))
            }
            (None, Some(name)) => {
                ("secret-env", environment(name).ok_or_else(|| format!("the variable `{name}` is not set")))
            }
            _ => return Err(self.error("secret-file", "either this or `secret-env` says where the secret is")),
        };
        let text = text.map_err(|message| self.error(field, message))?;
        Secret::parse(&text).map_err(|error| self.error(field, error.to_string()))
    }

    fn error(&self, field: &'static str, message: impl Into<String>) -> RuleError {
        RuleError { rule: self.name.clone(), field, message: message.into() }
    }
}

/// A share such as `5 %` or `0.5%`, in thousandths of a percent.
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

fn duration(text: &str) -> Option<Duration> {
    let span: jiff::Span = text.parse().ok()?;
    let duration = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok()?;
    Duration::try_from(duration).ok().filter(|duration| *duration <= RULE_LASTING_MAX)
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
            condition: Condition::Failing,
            above: Above::Share("5 %".to_owned()),
            lasting: Some("10m".to_owned()),
            url: "https://chat.example/hook".to_owned(),
            secret_file: None,
            secret_env: Some("SECRET".to_owned()),
        };
        change(&mut rule);
        let environment = |name: &str| (name == "SECRET").then(|| SECRET.to_owned());
        rule.resolve(Path::new("/nowhere"), environment).map_err(|error| error.to_string())
    }

    #[test]
    fn a_rule_means_what_it_says() {
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
    fn what_is_wrong_is_said_with_its_field() {
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
        check(|rule| rule.secret_file = Some("x".into()), "hub.rule `r`: secret-file: either");
        check(|rule| rule.url = "ftp://chat.example/hush".to_owned(), "hub.rule `r`: url: it does not begin with");
        check(|rule| rule.url = "https://me:hush@chat.example".to_owned(), "hub.rule `r`: url: it has a user");
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
