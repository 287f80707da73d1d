//! Release pins that have expired.

use jiff::Timestamp;
use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::object::release_pin::EXPIRES;

/// A warning for each expired release pin of a fleet. An expired pin still applies, so no output depends on the current time.
pub fn expired_pins(fleet: &Fleet, now: Timestamp) -> impl Iterator<Item = Diagnostic> {
    fleet.release_pins.values().filter_map(move |pin| {
        let expiry = pin.spec.expires.filter(|expiry| expiry.is_past(now))?;
        let message = format!("release pin `{}` expired on {expiry}, and still holds", pin.name);
        let mut diagnostic = Diagnostic::warning(Code::ExpiredPin, message)
            .at(Origin::field(&pin.key(), FieldPath::from(EXPIRES)), "")
            .help("remove the pin if its reason does not apply any more, otherwise write a later date");
        if !pin.spec.reason.is_empty() {
            diagnostic = diagnostic.note(format!("its reason: {}", pin.spec.reason));
        }
        Some(diagnostic.about(&pin.key()))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::fleet::{AuthorRole, FleetFile, FleetInput};
    use model::git_id::GitId;
    use model::kind::Kind;
    use model::name::EnvironmentName;
    use model::source::{File, Files, Source};

    use super::*;

    /// Checks the messages at a time about the example pin, which expires at the end of January 2027.
    fn check(now: &str, expected: &[&str]) {
        let text = Kind::ReleasePin.example();
        let mut files = Files::default();
        let (source, id, content) = (Source::directory().into(), GitId::of_blob(b""), text.as_bytes().into());
        let file = files.add(File { source, path: "a.yaml".into(), id, content });
        let contents = vec![FleetFile::read(AuthorRole::Platform, file, &files)];
        let (environment, unavailable) = (EnvironmentName::new("dev").unwrap(), BTreeSet::new());
        let (fleet, _) = Fleet::build(FleetInput { environment, files: files.into(), contents, unavailable });
        let found = expired_pins(&fleet, now.parse().unwrap());
        let messages: Vec<_> = found.flat_map(|diagnostic| [diagnostic.message, diagnostic.notes.concat()]).collect();
        assert_eq!(messages, expected);
    }

    #[test]
    fn a_pin_is_reported_with_its_reason_when_its_day_is_over() {
        check("2027-01-31T23:59:59Z", &[]);
        let message = "release pin `hold-hello-world-in-chicago` expired on 2027-01-31, and still holds";
        check("2027-02-01T00:00:00Z", &[message, "its reason: The scanners of line 7 can't read the new labels yet."]);
    }
}
