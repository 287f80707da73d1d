//! Formats counts for text output.

/// A number with a comma between every three digits: `3,102,844`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 file`, `1,204 files`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_stand_together() {
        let check = |number, text| assert_eq!(thousands(number), text);
        check(0, "0");
        check(999, "999");
        check(1_000, "1,000");
        check(3_102_844, "3,102,844");
    }

    #[test]
    fn numbers_are_easy_to_read() {
        let check = |number, text| assert_eq!(count(number, "file"), text);
        check(0, "0 files");
        check(1, "1 file");
        check(1204, "1,204 files");
        check(3_102_844, "3,102,844 files");
    }
}
