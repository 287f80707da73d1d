//! Translates Go's regular expressions to those of the crate `regex`.
//!
//! Both are leftmost-first and do not backtrack. The differences are `\w`, `\d`, `\s` and `\b` (ASCII in Go), literal text (`\Q…\E`, `{`, octal
//! numbers), character classes (Go has no operations on them) and repetitions (Go does not nest them).

/// The largest count of a repetition.
const REPEAT_MAX: u32 = 1_000;

/// A translated expression.
#[derive(Debug)]
pub struct Translated {
    /// The expression for the crate `regex`; its groups have no names.
    pub pattern: String,
    /// The name of each group. Empty for the whole match and for groups without a name.
    pub names: Vec<String>,
}

/// Translates `pattern`.
///
/// # Errors
/// Go's message, if Go refuses the expression.
pub fn translate(pattern: &str) -> Result<Translated, String> {
    let mut translator = Translator { rest: pattern, out: String::new(), names: vec![String::new()] };
    let mut after_repeat = false;
    while let Some(char) = translator.rest.chars().next() {
        after_repeat = match char {
            '*' | '+' | '?' | '{' => translator.repeat(char, after_repeat)?,
            _ => {
                translator.atom(char)?;
                false
            }
        };
    }
    Ok(Translated { pattern: translator.out, names: translator.names })
}

struct Translator<'a> {
    rest: &'a str,
    out: String,
    names: Vec<String>,
}

impl<'a> Translator<'a> {
    fn atom(&mut self, first: char) -> Result<(), String> {
        match first {
            '\\' => return self.escape(),
            '[' => return self.class(),
            '(' => return self.group(),
            '^' | '$' | '.' | '|' | ')' => self.out.push(first),
            literal => push_literal(&mut self.out, literal),
        }
        self.skip(first.len_utf8());
        Ok(())
    }

    /// Translates a repetition. Returns false if `first` does not begin one: `{` can be a literal.
    fn repeat(&mut self, first: char, after_repeat: bool) -> Result<bool, String> {
        let length = if first == '{' { counts_length(self.rest)? } else { Some(1) };
        let Some(length) = length else {
            self.skip(1);
            push_literal(&mut self.out, '{');
            return Ok(false);
        };
        if after_repeat {
            return Err(format!("invalid nested repetition operator: `{}`", self.rest));
        }
        let lazy = usize::from(self.rest.get(length..).is_some_and(|rest| rest.starts_with('?')));
        let operator = self.take(length + lazy);
        self.out.push_str(operator);
        Ok(true)
    }

    fn group(&mut self) -> Result<(), String> {
        self.skip(1);
        let Some(special) = self.rest.strip_prefix('?') else {
            self.names.push(String::new());
            self.out.push('(');
            return Ok(());
        };
        if let Some(named) = special.strip_prefix("P<").or_else(|| special.strip_prefix('<')) {
            let (name, rest) = named.split_once('>').ok_or_else(|| format!("invalid named capture: `(?{special}`"))?;
            let valid = !name.is_empty() && name.chars().all(|char| char == '_' || char.is_ascii_alphanumeric());
            if !valid || self.names.iter().any(|other| other == name) {
                return Err(format!("invalid named capture: `{name}`"));
            }
            self.names.push(name.to_owned());
            self.out.push('(');
            self.rest = rest;
            return Ok(());
        }
        let end = special.find([':', ')']).ok_or_else(|| format!("missing argument to group: `(?{special}`"))?;
        let (flags, _) = special.split_at(end);
        if !flags.chars().all(|flag| matches!(flag, 'i' | 'm' | 's' | 'U' | '-')) {
            return Err(format!("invalid or unsupported Perl syntax: `(?{flags}`"));
        }
        self.out.push('(');
        let flags = self.take(end + 2);
        self.out.push_str(flags);
        Ok(())
    }

    /// Translates an escape outside of a class.
    fn escape(&mut self) -> Result<(), String> {
        if let Some(literal) = self.rest.strip_prefix("\\Q") {
            let (text, rest) = literal.split_once("\\E").unwrap_or((literal, ""));
            text.chars().for_each(|char| push_literal(&mut self.out, char));
            self.rest = rest;
            return Ok(());
        }
        let assertion = match self.rest.get(..2) {
            Some("\\A") => r"\A",
            Some("\\z") => r"\z",
            Some("\\b") => r"(?-u:\b)",
            Some("\\B") => r"(?-u:\B)",
            _ => {
                if !self.named_class()? {
                    let char = self.escaped_char()?;
                    push_literal(&mut self.out, char);
                }
                return Ok(());
            }
        };
        self.skip(2);
        self.out.push_str(assertion);
        Ok(())
    }

    /// Translates `\d` or `\pL`, inside or outside of a class. Returns whether there was one.
    fn named_class(&mut self) -> Result<bool, String> {
        let perl = match self.rest.get(..2) {
            Some("\\d") => "[0-9]",
            Some("\\D") => "[^0-9]",
            Some("\\s") => r"[\t\n\f\r ]",
            Some("\\S") => r"[^\t\n\f\r ]",
            Some("\\w") => "[0-9A-Za-z_]",
            Some("\\W") => "[^0-9A-Za-z_]",
            Some("\\p" | "\\P") => return self.unicode_class().map(|()| true),
            _ => return Ok(false),
        };
        self.skip(2);
        self.out.push_str(perl);
        Ok(true)
    }

    fn unicode_class(&mut self) -> Result<(), String> {
        let negated = self.rest.starts_with("\\P");
        self.skip(2);
        let name = match self.rest.strip_prefix('{') {
            Some(braced) => {
                let (name, rest) = braced.split_once('}').ok_or("invalid character class range")?;
                self.rest = rest;
                name
            }
            None => self.take(self.rest.chars().next().map_or(0, char::len_utf8)),
        };
        let (name, inverted) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
        // Go's tables contain only the names of categories and scripts.
        if name.is_empty() || !name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_') {
            return Err(format!("invalid character class range: `\\p{{{name}}}`"));
        }
        self.out.push_str(if negated == inverted { "\\p{" } else { "\\P{" });
        self.out.push_str(name);
        self.out.push('}');
        Ok(())
    }

    fn class(&mut self) -> Result<(), String> {
        let whole = self.rest;
        self.skip(1);
        self.out.push('[');
        if self.rest.starts_with('^') {
            self.skip(1);
            self.out.push('^');
        }
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if self.rest.is_empty() {
                return Err(format!("missing closing ]: `{whole}`"));
            }
            if !self.posix_class()? && !self.named_class()? {
                self.range()?;
            }
        }
        self.skip(1);
        self.out.push(']');
        Ok(())
    }

    /// Translates `[:alpha:]`. Returns whether there was one.
    fn posix_class(&mut self) -> Result<bool, String> {
        const NAMES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
            "word", "xdigit",
        ];
        let Some((name, rest)) = self.rest.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) else {
            return Ok(false);
        };
        if !NAMES.contains(&name.strip_prefix('^').unwrap_or(name)) {
            return Err(format!("invalid character class range: `[:{name}:]`"));
        }
        self.out.push_str("[:");
        self.out.push_str(name);
        self.out.push_str(":]");
        self.rest = rest;
        Ok(true)
    }

    fn range(&mut self) -> Result<(), String> {
        let whole = self.rest;
        let low = self.class_char()?;
        push_literal(&mut self.out, low);
        let to = self.rest.strip_prefix('-').filter(|rest| !rest.is_empty() && !rest.starts_with(']'));
        let Some(to) = to else { return Ok(()) };
        self.rest = to;
        let high = self.class_char()?;
        if high < low {
            return Err(format!("invalid character class range: `{whole}`"));
        }
        self.out.push('-');
        push_literal(&mut self.out, high);
        Ok(())
    }

    fn class_char(&mut self) -> Result<char, String> {
        match self.rest.chars().next() {
            Some('\\') => self.escaped_char(),
            Some(char) => {
                self.skip(char.len_utf8());
                Ok(char)
            }
            None => Err("missing closing ]".to_owned()),
        }
    }

    /// Parses an escape of one character.
    fn escaped_char(&mut self) -> Result<char, String> {
        let whole = self.rest;
        self.skip(1);
        let Some(char) = self.rest.chars().next() else {
            return Err("trailing backslash at end of expression".to_owned());
        };
        if char.is_digit(8) {
            return self.octal(char).ok_or_else(|| invalid_escape(whole));
        }
        self.skip(char.len_utf8());
        match char {
            'x' => self.hexadecimal().ok_or_else(|| invalid_escape(whole)),
            'a' => Ok('\u{7}'),
            'f' => Ok('\u{c}'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'v' => Ok('\u{b}'),
            mark if mark.is_ascii() && !mark.is_ascii_alphanumeric() => Ok(mark),
            _ => Err(invalid_escape(whole)),
        }
    }

    /// Parses up to three octal digits. A single digit other than 0 would be a back reference.
    fn octal(&mut self, first: char) -> Option<char> {
        let length = self.rest.chars().take(3).take_while(|char| char.is_digit(8)).count();
        if first != '0' && length == 1 {
            return None;
        }
        char::from_u32(u32::from_str_radix(self.take(length), 8).ok()?)
    }

    /// Parses two hexadecimal digits, or any number of them in braces.
    fn hexadecimal(&mut self) -> Option<char> {
        let (digits, rest) = match self.rest.strip_prefix('{') {
            Some(braced) => braced.split_once('}')?,
            None => self.rest.split_at_checked(2)?,
        };
        self.rest = rest;
        let valid = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_hexdigit());
        char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| valid)?)
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn skip(&mut self, length: usize) {
        self.take(length);
    }
}

fn invalid_escape(text: &str) -> String {
    format!("invalid escape sequence: `{}`", text.chars().take(2).collect::<String>())
}

/// The length of `{2}`, `{2,}` or `{2,5}`. None if the brace is a literal.
fn counts_length(text: &str) -> Result<Option<usize>, String> {
    let Some((counts, _)) = text.strip_prefix('{').and_then(|rest| rest.split_once('}')) else { return Ok(None) };
    let is_count = |digits: &str| {
        let leading_zero = digits.len() > 1 && digits.starts_with('0');
        !digits.is_empty() && !leading_zero && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let (least, most) = counts.split_once(',').unwrap_or((counts, counts));
    if !is_count(least) || !(most.is_empty() || is_count(most)) {
        return Ok(None);
    }
    let number = |digits: &str| digits.parse().unwrap_or(u32::MAX);
    let (least, most) = (number(least), if most.is_empty() { number(least) } else { number(most) });
    if least > REPEAT_MAX || most > REPEAT_MAX || most < least {
        return Err(format!("invalid repeat count: `{{{counts}}}`"));
    }
    Ok(Some(counts.len() + 2))
}

/// Appends a literal character, inside or outside of a class.
fn push_literal(out: &mut String, char: char) {
    if char.is_ascii() && !char.is_ascii_alphanumeric() {
        out.extend(["\\x{", &format!("{:X}", char as u32), "}"]);
    } else {
        out.push(char);
    }
}

#[cfg(test)]
mod tests {
    use super::translate;

    fn check(pattern: &str, matching: &str, not_matching: &str) {
        let translated = translate(pattern).unwrap();
        let regex = regex::Regex::new(&format!("^(?:{})$", translated.pattern)).unwrap();
        assert!(regex.is_match(matching), "{} matches {matching}", translated.pattern);
        assert!(!regex.is_match(not_matching), "{} does not match {not_matching}", translated.pattern);
    }

    #[test]
    fn perl_classes_are_ascii() {
        check(r"\w\d\s", "a1 ", "é1 ");
        check(r"\D\S\W", "é١é", "1é1");
        check(r"[\w-]+", "a-b", "é");
        check(r"a\b.", "aé", "ab");
    }

    #[test]
    fn literals_match_as_in_go() {
        check(r"a{,2}", "a{,2}", "aa");
        check(r"\Q.*\E+", ".**", ".*.*");
        check(r"\101\x41\x{41}", "AAA", "101");
        check(r"[a&&b[]+", "a&b[", "]");
        check(r"[]\-a]+", "]-a", "b");
        check(r"\_\<", "_<", "");
    }

    #[test]
    fn expressions_that_go_refuses_are_refused() {
        for pattern in [
            "a**",
            "a{2}{3}",
            "a{1001}",
            "a{3,2}",
            r"\8",
            r"\1",
            r"\y",
            "(?x)a",
            "(?=a)",
            "(?P<a>.)(?P<a>.)",
            "[b-a]",
            "[a",
            r"\C",
            r"[\b]",
        ] {
            assert!(translate(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn groups_keep_their_names() {
        let names = translate(r"(a)(?:b)(?P<first>c)(?<2nd>d)(?i:e)").unwrap().names;
        assert_eq!(names, ["", "", "first", "2nd"]);
    }
}
