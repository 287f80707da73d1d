//! Reads Dockerfiles. An instruction that is not known here is an error, so that no step is left out.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};

/// The stages of a Dockerfile, in order.
pub(super) struct Dockerfile {
    pub(super) stages: Vec<Stage>,
}

/// The instructions from a `FROM` on.
#[derive(Debug, Default)]
pub(super) struct Stage {
    /// The image that it starts from.
    pub(super) base: String,
    /// The name after `AS`.
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
}

/// An instruction.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// `RUN`: a command for a shell.
    Run(String),
    /// `COPY`: the stage, if one is named, the source and the target.
    Copy(Option<String>, String, String),
    /// `ENV` and `ARG`: a variable. That of `ARG` exists only while the image is built.
    Variable { name: String, value: String, is_kept: bool },
    /// `WORKDIR`
    WorkingFolder(String),
    /// `USER`
    User(String),
    /// `VOLUME`
    Volumes(Vec<String>),
    /// `EXPOSE`
    Port(String),
    /// `ENTRYPOINT`
    Entrypoint(Vec<String>),
    /// `CMD`
    Command(Vec<String>),
    /// `LABEL`, which has no effect on the files and the process.
    Label,
}

impl Dockerfile {
    /// Reads the text of a Dockerfile.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
        let (mut stages, mut defaults) = (Vec::<Stage>::new(), BTreeMap::new());
        for line in joined.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (instruction, rest) = line.split_once(' ').with_context(|| format!("`{line}` has no argument"))?;
            match (instruction, stages.last_mut()) {
                ("FROM", _) => stages.push(Stage::from(&replaced(rest, &defaults))),
                ("ARG", None) => drop(defaults.insert(assignment(rest).0, assignment(rest).1)),
                (_, Some(stage)) => stage.steps.extend(steps(instruction, rest.trim())?),
                (_, None) => bail!("`{line}` is before FROM"),
            }
        }
        Ok(Self { stages })
    }
}

impl Stage {
    fn from(text: &str) -> Self {
        let (base, name) = text.split_once(" AS ").unwrap_or((text, ""));
        Self { base: base.trim().to_owned(), name: name.trim().to_owned(), steps: Vec::new() }
    }
}

fn steps(instruction: &str, rest: &str) -> Result<Vec<Step>> {
    let list = || serde_json::from_str(rest).with_context(|| format!("`{rest}` is not a list"));
    let variable = |text: &str, is_kept| {
        let (name, value) = assignment(text);
        Step::Variable { name, value, is_kept }
    };
    Ok(match instruction {
        "RUN" => vec![Step::Run(without_options(rest).to_owned())],
        "COPY" => vec![copy(rest)?],
        "ENV" => rest.split_whitespace().map(|text| variable(text, true)).collect(),
        "ARG" => vec![variable(rest, false)],
        "WORKDIR" => vec![Step::WorkingFolder(rest.to_owned())],
        "USER" => vec![Step::User(rest.to_owned())],
        "VOLUME" => vec![Step::Volumes(list()?)],
        "EXPOSE" => vec![Step::Port(rest.to_owned())],
        "ENTRYPOINT" => vec![Step::Entrypoint(list()?)],
        "CMD" => vec![Step::Command(list()?)],
        "LABEL" => vec![Step::Label],
        _ => bail!("`{instruction}` is not supported"),
    })
}

fn copy(rest: &str) -> Result<Step> {
    let words: Vec<_> = rest.split_whitespace().collect();
    let (from, words) = match words.as_slice() {
        [first, others @ ..] if first.starts_with("--from=") => (first.strip_prefix("--from="), others),
        all => (None, all),
    };
    let [source, target] = words else { bail!("`COPY {rest}` does not have one source and one target") };
    Ok(Step::Copy(from.map(str::to_owned), (*source).to_owned(), (*target).to_owned()))
}

/// The command of `RUN`. Its mounts are caches.
fn without_options(mut text: &str) -> &str {
    while text.starts_with("--mount=type=cache,") {
        text = text.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
    }
    text
}

fn assignment(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    (name.trim().to_owned(), value.trim().trim_matches('"').to_owned())
}

fn replaced(text: &str, values: &BTreeMap<String, String>) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_have_their_steps_with_joined_lines() {
        let text = "# a comment\nARG OS=trixie\nFROM rust:1-${OS} AS build\nRUN --mount=type=cache,target=/a \\\n    --mount=type=cache,target=/b \\\n    make \\\n    && strip a\n\
                    FROM debian:${OS}\nARG PACKAGES=\"\"\nCOPY --from=build /a /b\nENV A=1 \\\n    B=2\nVOLUME [\"/v\"]\nLABEL a=b\n";
        let [build, last] = &Dockerfile::parse(text).unwrap().stages[..] else { panic!("there are two stages") };
        assert_eq!((build.base.as_str(), build.name.as_str()), ("rust:1-trixie", "build"));
        assert_eq!(build.steps, [Step::Run("make      && strip a".to_owned())]);
        let variable = |name: &str, value: &str, is_kept| Step::Variable {
            name: name.to_owned(),
            value: value.to_owned(),
            is_kept,
        };
        let expected = [
            variable("PACKAGES", "", false),
            Step::Copy(Some("build".to_owned()), "/a".to_owned(), "/b".to_owned()),
            variable("A", "1", true),
            variable("B", "2", true),
            Step::Volumes(vec!["/v".to_owned()]),
            Step::Label,
        ];
        assert_eq!((last.base.as_str(), &last.steps[..]), ("debian:trixie", &expected[..]));
    }

    #[test]
    fn unsupported_instructions_are_errors() {
        let error = |text: &str| Dockerfile::parse(text).err().unwrap().to_string();
        assert_eq!(error("FROM a\nHEALTHCHECK CMD true\n"), "`HEALTHCHECK` is not supported");
        assert_eq!(error("RUN true\n"), "`RUN true` is before FROM");
        assert!(error("FROM a\nCOPY a b c\n").contains("one source"));
    }

    #[test]
    fn the_dockerfile_is_read() {
        let path = crate::workspace::root().join(crate::image::DOCKERFILE);
        let stages = Dockerfile::parse(&std::fs::read_to_string(path).unwrap()).unwrap().stages;
        assert!(stages.last().unwrap().base.starts_with("debian:"));
    }
}
