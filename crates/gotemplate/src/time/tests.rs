//! Tests of Go's time.

use super::Time;

fn check(layout: &str, value: &str, expected: &str) {
    let time =
        Time::parse(layout.as_bytes(), value.as_bytes()).map_or("does not fit".to_owned(), |time| time.to_string());
    assert_eq!(time, expected, "{layout} {value}");
}

fn format(seconds: i64, zone: &str, layout: &str) -> String {
    String::from_utf8(Time::from_unix(seconds).in_zone(zone).format(layout.as_bytes())).unwrap()
}

#[test]
fn times_are_parsed_by_their_layout() {
    check("2006-01-02", "2020-02-29", "2020-02-29 00:00:00 +0000 UTC");
    check("2006-01-02", "2021-02-29", "does not fit");
    check("02/01/06", "31/12/99", "1999-12-31 00:00:00 +0000 UTC");
    check("Jan _2 15:04", "Feb  3 01:02", "0000-02-03 01:02:00 +0000 UTC");
    check("3:04PM", "12:30AM", "0000-01-01 00:30:00 +0000 UTC");
    check("2006-002", "2020-060", "2020-02-29 00:00:00 +0000 UTC");
    check("2006-01-02 15:04:05", "2020-01-01 00:00:00.25", "2020-01-01 00:00:00.25 +0000 UTC");
}

#[test]
fn keeps_the_zone_of_the_text() {
    check("2006-01-02T15:04:05Z07:00", "2020-05-06T07:08:09+02:00", "2020-05-06 07:08:09 +0200 +0200");
    check("2006-01-02T15:04:05Z07:00", "2020-05-06T07:08:09Z", "2020-05-06 07:08:09 +0000 UTC");
    check("2006 MST", "2020 CEST", "2020-01-01 00:00:00 +0000 CEST");
}

#[test]
fn formats_every_part() {
    let all = "Monday Mon January Jan 1 01 2 _2 02 __2 002 15 3 03 4 04 5 05 2006 06 PM pm MST";
    assert_eq!(
        format(951_782_405, "", all),
        "Tuesday Tue February Feb 2 02 29 29 29  60 060 00 12 12 0 00 5 05 2000 00 AM am UTC"
    );
    assert_eq!(format(0, "", ".000 .999 ,00 Z07:00 -07:00:00 Z07 _2006 Janet"), ".000  ,00 Z +00:00:00 Z _1970 Janet");
}

#[test]
fn zones_come_from_the_bundled_database() {
    assert_eq!(format(1_593_561_600, "Europe/Vienna", "15:04 -0700 MST"), "02:00 +0200 CEST");
    assert_eq!(format(1_577_836_800, "America/New_York", "2006-01-02 15:04 MST"), "2019-12-31 19:00 EST");
    assert_eq!(format(0, "europe/vienna", "15:04 MST"), "00:00 UTC");
}

#[test]
fn years_beyond_four_digits_and_before_zero_are_dates_too() {
    assert_eq!(format(253_402_300_800, "", "2006-01-02"), "10000-01-01");
    assert_eq!(format(-62_167_305_600, "", "2006-01-02 Monday"), "-0001-12-31 Friday");
}

#[test]
fn durations_are_read_and_shown_as_go_does() {
    use super::{duration_text, parse_duration};
    assert_eq!(parse_duration("-1h30m").map(duration_text).as_deref(), Some("-1h30m0s"));
    assert_eq!(parse_duration("1.5ms2us3ns").map(duration_text).as_deref(), Some("1.502003ms"));
    assert_eq!(parse_duration("90").map(duration_text), None);
    assert_eq!(parse_duration("9223372036854775808ns"), None);
    assert_eq!(parse_duration("-9223372036854775808ns"), Some(i64::MIN));
}
