//! The questions of `kalypso init` on a terminal.

use std::io::{self, BufRead, Write};

use git_host::HostKind;

/// Asks on a terminal. At the end of the input, all defaults are taken.
pub(super) struct Questions<'a> {
    input: Box<dyn BufRead + 'a>,
    output: Box<dyn Write + 'a>,
}

/// The answers about the git host.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::commands) struct HostAnswers {
    pub(super) kind: Option<String>,
    pub(super) url: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) control_plane: Option<String>,
    pub(super) gitops: Option<String>,
}

impl<'a> Questions<'a> {
    pub(super) fn new(input: impl BufRead + 'a, output: impl Write + 'a) -> Self {
        Self { input: Box::new(input), output: Box::new(output) }
    }

    /// Asks for a list, again until it is right.
    pub(super) fn list(
        &mut self,
        (question, default): (&str, &str),
        check: impl Fn(&[String]) -> anyhow::Result<()>,
    ) -> anyhow::Result<Vec<String>> {
        loop {
            let answer = list(&self.ask(question, default)?);
            match check(&answer) {
                Ok(()) => return Ok(answer),
                Err(error) => writeln!(self.output, "  {error:#}")?,
            }
        }
    }

    /// Asks where the repositories are.
    pub(super) fn host(&mut self) -> io::Result<HostAnswers> {
        let kinds: Vec<_> = HostKind::ALL.iter().map(|kind| kind.as_str()).collect();
        let question = format!("Git host: none (only this machine), or {}", kinds.join(", "));
        let kind = loop {
            let answer = self.ask(&question, "none")?;
            if answer == "none" {
                return Ok(HostAnswers::default());
            }
            match answer.parse::<HostKind>() {
                Ok(kind) => break kind,
                Err(error) => writeln!(self.output, "  {error}")?,
            }
        };
        if kind == HostKind::Git {
            let control_plane = Some(self.ask_for("URL of the empty repository for the control plane")?);
            let gitops = Some(self.ask_for("URL of the empty repository that clusters pull")?);
            return Ok(HostAnswers { control_plane, gitops, ..HostAnswers::default() });
        }
        let url = match git_host::settings::public_url(kind) {
            Some(usual) => self.ask("Address of the git host", usual)?,
            None => self.ask_for("Address of the git host")?,
        };
        let owner = self.ask_for(if kind == HostKind::AzureDevOps {
            "ORGANIZATION/PROJECT"
        } else {
            "Owner of the repositories"
        })?;
        Ok(HostAnswers {
            kind: Some(kind.as_str().to_owned()),
            url: Some(url),
            owner: Some(owner),
            ..HostAnswers::default()
        })
    }

    /// Asks for a text that has no default.
    fn ask_for(&mut self, question: &str) -> io::Result<String> {
        loop {
            write!(self.output, "{question}: ")?;
            match self.line()? {
                Some(line) if line.is_empty() => {}
                Some(line) => return Ok(line),
                None => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the input ended before all questions were answered",
                    ));
                }
            }
        }
    }

    fn ask(&mut self, question: &str, default: &str) -> io::Result<String> {
        write!(self.output, "{question} [{default}]: ")?;
        Ok(self.line()?.filter(|line| !line.is_empty()).unwrap_or_else(|| default.to_owned()))
    }

    /// The next line without blanks around it. None at the end of the input.
    fn line(&mut self) -> io::Result<Option<String>> {
        self.output.flush()?;
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            writeln!(self.output)?;
            return Ok(None);
        }
        Ok(Some(line.trim().to_owned()))
    }
}

/// The parts of a text between commas.
pub(super) fn list(text: &str) -> Vec<String> {
    text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The questions for typed lines.
    fn asked(typed: &str) -> Questions<'_> {
        Questions::new(typed.as_bytes(), Vec::new())
    }

    #[test]
    fn invalid_lists_are_requested_again() {
        let check = |typed: &str, expected: &[&str]| {
            let right = |names: &[String]| {
                if names.iter().any(|name| name == "wrong") { Err(anyhow::anyhow!("no")) } else { Ok(()) }
            };
            assert_eq!(asked(typed).list(("Names", "dev,prod"), right).unwrap(), expected);
        };
        check("\n", &["dev", "prod"]);
        check("", &["dev", "prod"]);
        check("wrong\n qa , live \n", &["qa", "live"]);
    }

    #[test]
    fn a_host_has_an_address_and_an_owner() {
        let found = asked("hub\ngitea\n\nhttps://git.example\nacme\n").host().unwrap();
        let shown = (found.kind.as_deref(), found.url.as_deref(), found.owner.as_deref());
        assert_eq!(shown, (Some("gitea"), Some("https://git.example"), Some("acme")));
        assert_eq!(asked("\n").host().unwrap(), HostAnswers::default());
        let found = asked("git\nssh://git.example/a\nssh://git.example/b\n").host().unwrap();
        assert_eq!((found.control_plane.as_deref(), found.kind), (Some("ssh://git.example/a"), None));
        assert!(asked("github\n").host().is_err());
    }
}
