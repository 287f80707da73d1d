//! Texts with placeholders: `values/{environment}`.

/// A text with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceholderText(String);

/// What placeholders stand for. A name that is not known is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct PatternNames<'a> {
    /// `{workload}`
    pub workload: &'a str,
    /// `{environment}`
    pub environment: &'a str,
    /// `{target}`
    pub target: &'a str,
    /// `{service}`
    pub service: &'a str,
    /// `{commit}`
    pub commit: &'a str,
}

impl PlaceholderText {
    /// A pattern.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text with these names.
    pub fn text(&self, names: PatternNames<'_>) -> String {
        let PatternNames { workload, environment, target, service, commit } = names;
        let all = [
            ("{workload}", workload),
            ("{environment}", environment),
            ("{target}", target),
            ("{service}", service),
            ("{commit}", commit),
        ];
        let mut text = String::new();
        let mut rest = self.0.as_str();
        while let Some(at) = rest.find('{') {
            let (before, from) = rest.split_at(at);
            text.push_str(before);
            let found = all.iter().find(|(placeholder, _)| from.starts_with(placeholder));
            let (written, name) = found.copied().unwrap_or(("{", "{"));
            text.push_str(name);
            rest = from.get(written.len()..).unwrap_or_default();
        }
        text + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, expected: &str) {
        let names =
            PatternNames { workload: "shop", environment: "dev", target: "{commit}", service: "db", commit: "4fb8c44" };
        assert_eq!(PlaceholderText::new(pattern).text(names), expected);
    }

    #[test]
    fn placeholders_are_replaced_once() {
        check("values/{environment}", "values/dev");
        check("deploy/{commit}/{environment}", "deploy/4fb8c44/dev");
        check("{target}", "{commit}");
        check("{service}-{target}", "db-{commit}");
        check("a{b}{{workload}}", "a{b}{shop}");
        check("", "");
    }
}
