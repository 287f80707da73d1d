//! `[[acknowledge]]`: warnings that the user accepts.

use std::fs;
use std::path::Path;

use delivery::access::acknowledgement::AcknowledgedWarning;
use model::diagnostic::Code;
use model::expiry::Expiry;
use model::kind::Kind;
use serde::Deserialize;
use toml::Spanned;

use super::{FILE_NAME, parse_error};
use crate::exit::Failure;

/// An entry as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct AcknowledgeOptions {
    code: String,
    object: Option<String>,
    path: Option<String>,
    reason: String,
    until: Option<toml::value::Datetime>,
}

/// The part of a configuration file that is read if its other sections do not matter.
#[derive(Debug, Deserialize)]
struct Part {
    #[serde(default)]
    acknowledge: Vec<Spanned<AcknowledgeOptions>>,
}

/// The acknowledgements in the configuration file of a plain directory, if there is a file.
pub(crate) fn in_directory(directory: &Path) -> Result<Vec<AcknowledgedWarning>, Failure> {
    let path = directory.join(FILE_NAME);
    let Ok(text) = fs::read_to_string(&path) else { return Ok(Vec::new()) };
    let part: Part = toml::from_str(&text).map_err(|error| parse_error::file(&path, &text, &error))?;
    entries(&part.acknowledge, (&path, &text))
}

/// Converts entries to acknowledgements.
pub(super) fn entries(
    written: &[Spanned<AcknowledgeOptions>],
    (path, text): (&Path, &str),
) -> Result<Vec<AcknowledgedWarning>, Failure> {
    let entry = |written: &Spanned<AcknowledgeOptions>| {
        let place = parse_error::line((path, text), written.span().start);
        entry(written.get_ref(), place.clone()).map_err(|reason| parse_error::in_line(path, &place, &reason))
    };
    written.iter().map(entry).collect()
}

fn entry(written: &AcknowledgeOptions, place: String) -> Result<AcknowledgedWarning, String> {
    let AcknowledgeOptions { code, object, path, reason, until } = written;
    let code = Code::find(code).ok_or_else(|| format!("there is no code {code:?}; warnings show theirs: `K0202`"))?;
    let object = object.as_deref().map(kind_and_name).transpose()?;
    if object.is_none() && path.is_none() {
        return Err("an entry names an `object` or a `path`".to_owned());
    }
    if reason.trim().is_empty() {
        return Err("`reason` is empty".to_owned());
    }
    let day = |until: &toml::value::Datetime| {
        until.to_string().parse::<Expiry>().map_err(|_| "`until` is a day, `2027-01-31`, or a timestamp".to_owned())
    };
    let until = until.as_ref().map(day).transpose()?;
    Ok(AcknowledgedWarning { code, object, path: path.clone(), reason: reason.trim().to_owned(), until, place })
}

/// Parses a kind and a name: `SchedulingPolicy/edge`.
fn kind_and_name(text: &str) -> Result<(Kind, String), String> {
    let (kind, name) = text.split_once('/').ok_or("an `object` is written as `Kind/name`")?;
    let known = Kind::ALL.iter().copied().find(|known| known.name() == kind);
    let kind = known.ok_or_else(|| {
        let nearest = model::similar::nearest(kind, Kind::ALL.iter().map(|known| known.name()));
        let meant = nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
        format!("there is no kind {kind:?}{meant}")
    })?;
    Ok((kind, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expected: Result<&str, &str>) {
        let text = format!("[[acknowledge]]\n{written}\n");
        let part: Part = toml::from_str(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let found = entries(&part.acknowledge, (Path::new("a/kalypso.toml"), &text));
        let found = found.map(|entries| {
            let AcknowledgedWarning { code, object, path, reason, until, place } = &entries[0];
            let object = object.as_ref().map(|(kind, name)| format!("{kind} {name}"));
            let until = until.map(|until| until.to_string());
            let all = [object.as_deref(), path.as_deref(), until.as_deref()].into_iter().flatten();
            format!("{code} {}, {reason}, {place}", all.collect::<Vec<_>>().join(" "))
        });
        match expected {
            Ok(expected) => assert_eq!(found.unwrap(), expected),
            Err(expected) => {
                let message = found.unwrap_err().message;
                assert!(message.contains("in line 1 of kalypso.toml") && message.contains(expected), "{message}");
            }
        }
    }

    #[test]
    fn entries_are_read() {
        check(
            "code = 'K0202'\nobject = 'SchedulingPolicy/sale'\nreason = ' soon '\nuntil = 2026-12-01",
            Ok("K0202 SchedulingPolicy sale 2026-12-01, soon, line 1 of kalypso.toml"),
        );
        check("code = 'K0303'\npath = 'a/'\nreason = 'x'", Ok("K0303 a/, x, line 1 of kalypso.toml"));
    }

    #[test]
    fn invalid_acknowledgements_are_refused() {
        check("code = 'K9999'\npath = 'a'\nreason = 'x'", Err("there is no code \"K9999\""));
        check("code = 'K0202'\nreason = 'x'", Err("names an `object` or a `path`"));
        check("code = 'K0202'\npath = 'a'\nreason = ' '", Err("`reason` is empty"));
        check("code = 'K0202'\nobject = 'sale'\nreason = 'x'", Err("`Kind/name`"));
        check("code = 'K0202'\nobject = 'SchedulePolicy/a'\nreason = 'x'", Err("there is no kind \"SchedulePolicy\""));
        check("code = 'K0202'\npath = 'a'\nreason = 'x'\nuntil = 12:00:00", Err("`until` is a day"));
    }
}
