//! Splits many reports into requests that the hub accepts.

use serde_json::value::RawValue;

/// The maximum number of reports in a request: large enough to share the cost of a commit, small enough for a short response time.
const REPORTS: usize = 1_000;

/// The maximum size of a request in bytes, without its last line. The hub accepts 16 MiB.
const BYTES: usize = 4 * 1024 * 1024;

/// The body of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    pub(super) body: Vec<u8>,
    /// The line number of each report in the file, from 1. None if the reports are not on lines.
    pub(super) lines: Option<Vec<usize>>,
    /// The number of reports in the batches before this one.
    pub(super) before: usize,
}

/// Splits reports on lines into requests. A single JSON value stays in one request.
pub(super) fn batches(given: &[u8]) -> Vec<Batch> {
    let is_list = given.trim_ascii_start().starts_with(b"[");
    if is_list || serde_json::from_slice::<&RawValue>(given).is_ok() {
        return vec![Batch { body: given.to_vec(), ..Batch::default() }];
    }
    let mut batches = Vec::new();
    let (mut body, mut numbers, mut before) = (Vec::new(), Vec::new(), 0);
    let lines = given.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
    for (index, line) in lines {
        if numbers.len() == REPORTS || body.len() > BYTES {
            let lines = std::mem::take(&mut numbers);
            let count = lines.len();
            batches.push(Batch { body: std::mem::take(&mut body), lines: Some(lines), before });
            before += count;
        }
        body.extend_from_slice(line);
        body.push(b'\n');
        numbers.push(index + 1);
    }
    batches.push(Batch { body, lines: Some(numbers), before });
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_and_keep_their_numbers() {
        let many = "{}\n\n".repeat(1_001);
        let batches = batches(many.as_bytes());
        let shape: Vec<_> = batches.iter().map(|batch| (batch.before, batch.lines.as_ref().unwrap().len())).collect();
        assert_eq!(shape, [(0, 1_000), (1_000, 1)]);
        assert_eq!(batches[1].lines, Some(vec![2_001]));
        assert_eq!(batches[1].body, b"{}\n");
    }

    #[test]
    fn multi_line_json_is_one_batch() {
        for whole in ["{\n}", "[{},\n{}]", "[{},", "{}"] {
            let expected = Batch { body: whole.into(), ..Batch::default() };
            assert_eq!(batches(whole.as_bytes()), [expected], "{whole}");
        }
    }
}
