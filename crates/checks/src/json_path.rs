//! Finds values in an answer by a JSON path (RFC 9535), without the parts whose work can be much larger than the answer.

use serde_json::Value;
use serde_json_path::JsonPath;

use crate::text::shown;

/// The longest path, in bytes. It bounds the depth of brackets.
const PATH_BYTES_MAX: usize = 200;

/// The values at a path. The error says what is wrong with the path.
pub(crate) fn find<'v>(path: &str, json: &'v Value) -> Result<Vec<&'v Value>, String> {
    let wrong = || format!("`{}` is no JSON path, such as `$.status` or `$.checks[0]['state']`", shown(path));
    if path.len() > PATH_BYTES_MAX || has_unbounded_part(path) {
        return Err(wrong());
    }
    Ok(JsonPath::parse(path).map_err(|_| wrong())?.query(json).all())
}

/// Whether a path has a part outside of quotes that can select a value again and again: `..`, a filter, or a list.
fn has_unbounded_part(path: &str) -> bool {
    let (mut quote, mut is_escaped, mut before) = (None, false, ' ');
    for c in path.chars() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), c) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '?' | ',') => return true,
            (None, '.') if before == '.' => return true,
            _ => {}
        }
        before = c;
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(path: &str) -> Result<String, String> {
        let json = json!({ "a": { "b": [{ "c.d": 1 }, { "c.d": 2 }] }, "x,y?..": 3 });
        let found = find(path, &json)?;
        Ok(found.into_iter().map(Value::to_string).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn names_positions_and_wildcards_select() {
        assert_eq!(check("$.a.b[0]['c.d']").unwrap(), "1");
        assert_eq!(check("$.a.b[-1][\"c.d\"]").unwrap(), "2");
        assert_eq!(check("$['a'].b[*]['c.d']").unwrap(), "1 2");
        assert_eq!(check("$['x,y?..']").unwrap(), "3");
        assert_eq!(check("$.no").unwrap(), "");
    }

    #[test]
    fn other_parts_are_refused() {
        let long = format!("${}", "[0]".repeat(70));
        for path in ["a", "", "$..a", "$[?@.a]", "$[0,0]", "$.a[", "$ .. a", &long] {
            assert!(check(path).unwrap_err().contains("is no JSON path"), "{path}");
        }
        assert_eq!(check("a\u{7}").unwrap_err(), "`a` is no JSON path, such as `$.status` or `$.checks[0]['state']`");
    }
}
