//! Trailers: the `Key: value` lines at the end of a commit message, which programs read.

/// The trailer that marks a commit as Kalypso's. Its value is the name of the environment.
pub const ENVIRONMENT: &str = "Kalypso-Environment";

/// Appends trailers to a commit message. Control characters are removed from the values, because a line break would start another trailer.
pub fn with_trailers(text: &str, trailers: &[(&str, &str)]) -> String {
    let line = |(key, value): &(&str, &str)| {
        let value: String = value.chars().filter(|c| !c.is_control()).collect();
        format!("{key}: {}\n", value.trim())
    };
    let lines: Vec<_> = trailers.iter().map(line).collect();
    format!("{}\n\n{}", text.trim_end(), lines.concat())
}

/// The values of a trailer. Only the last paragraph of the message is searched, and only if it is not also the first one.
pub fn trailers<'a>(message: &'a str, key: &str) -> Vec<&'a str> {
    let Some((_, last)) = message.trim_end().rsplit_once("\n\n") else { return Vec::new() };
    let pairs = last.lines().filter_map(|line| line.split_once(':'));
    pairs.filter(|(found, _)| found.eq_ignore_ascii_case(key)).map(|(_, value)| value.trim()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(message: &str, expected: &[&str]) {
        assert_eq!(trailers(message, ENVIRONMENT), expected, "{message:?}");
    }

    #[test]
    fn trailers_are_in_the_last_paragraph() {
        check("Publish dev\n\nKalypso-Environment: dev\nKalypso-Source: x\n", &["dev"]);
        check("Publish dev\n\nWhy.\n\nkalypso-environment:dev", &["dev"]);
        check("Kalypso-Environment: dev", &[]);
        check("Publish\n\nKalypso-Environment: dev\n\nThat was said above.", &[]);
        check("", &[]);
    }

    proptest! {
        #[test]
        fn trailers_round_trip(text in "[a-z \n]{1,40}", value in "\\PC{0,20}") {
            let value = value.trim();
            let message = with_trailers(&text, &[("Other", "x"), (ENVIRONMENT, value)]);
            prop_assert_eq!(trailers(&message, ENVIRONMENT), vec![value]);
        }

        #[test]
        fn trailer_values_stay_on_one_line(value in "[a\n\r\u{b}]{0,8}") {
            prop_assert_eq!(with_trailers("x", &[("A", &value), ("B", "")]).lines().count(), 4);
        }
    }
}
