//! A page as a sequence of pieces. Writing all pieces one after another gives the page again.

use std::fmt;

/// A piece of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text for people, which is not run.
    Text(String),
    /// A command that the page does not show.
    Start(String),
    /// Commands that must succeed.
    Script(String),
    /// SQL statements of an administrator.
    Sql(String),
    /// A file to create, and its text in the page.
    File {
        /// The path, relative to the folder where the commands run.
        path: String,
        /// Its content.
        content: String,
        /// The type of the block.
        language: String,
    },
    /// A command and its output.
    Command {
        /// The command, which may have several lines.
        command: String,
        /// The output in the page, each line with its end.
        expected: String,
    },
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Start(command) => writeln!(f, "{START}{command} -->"),
            Self::Script(script) => write!(f, "```sh\n{script}```\n"),
            Self::Sql(script) => write!(f, "```sql\n{script}```\n"),
            Self::File { content, language, .. } => write!(f, "```{language}\n{content}```\n"),
            Self::Command { command, expected } => {
                writeln!(f, "$ {}", command.replace('\n', "\n> "))?;
                f.write_str(expected)
            }
        }
    }
}

const START: &str = "<!-- starts with: ";

/// Splits a page into pieces.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut lines = text.split_inclusive('\n').peekable();
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut named = None;
    while let Some(line) = lines.next() {
        if let Some(command) = line.strip_prefix(START).and_then(|rest| rest.strip_suffix(" -->\n")) {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(Piece::Start(command.to_owned()));
            continue;
        }
        let Some(language) = line.strip_prefix("```") else {
            plain.push_str(line);
            if !line.trim().is_empty() {
                named = line.trim_end().strip_suffix("`:").and_then(|line| Some(line.rsplit_once('`')?.1.to_owned()));
            }
            continue;
        };
        let language = language.trim_end().to_owned();
        let block: Vec<_> = lines.by_ref().take_while(|line| line.trim_end() != "```").collect();
        let name = named.take();
        if language == "console" {
            plain.push_str(line);
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.extend(commands(&block));
            plain.push_str("```\n");
        } else if language == "sh" && text.contains(START) {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(Piece::Script(block.concat()));
        } else if language == "sql" && text.contains(START) {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(Piece::Sql(block.concat()));
        } else if let Some(path) = name {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(Piece::File { path, content: block.concat(), language });
        } else {
            plain.extend([line].into_iter().chain(block).chain(["```\n"]));
        }
    }
    pieces.push(Piece::Text(plain));
    pieces
}

fn commands(block: &[&str]) -> Vec<Piece> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in block {
        match (line.strip_prefix("$ "), line.strip_prefix("> "), found.last_mut()) {
            (Some(command), _, _) => found.push((command.trim_end().to_owned(), String::new())),
            (None, Some(more), Some((command, printed))) if printed.is_empty() && command.ends_with('\\') => {
                command.push('\n');
                command.push_str(more.trim_end());
            }
            (None, _, Some((_, printed))) => printed.push_str(line),
            (None, _, None) => panic!("a console block begins with a command: {line}"),
        }
    }
    found.into_iter().map(|(command, expected)| Piece::Command { command, expected }).collect()
}

#[test]
fn pieces_reproduce_the_page() {
    let page = "# A\n\n<!-- starts with: true -->\n\nMake `a/b.yaml`:\n\n```yaml\nx: 1\n```\n\n```console\n$ cat a/b.yaml \\\n> c\nx: 1\n\n$ true\n```\n\n```sh\ntrue # yes\n```\n\n```sql\nselect 1;\n```\n\n```text\n$ no\n```\n";
    let pieces = pieces(page);
    assert_eq!(pieces.iter().map(ToString::to_string).collect::<String>(), page);
    let file = Piece::File { path: "a/b.yaml".into(), content: "x: 1\n".into(), language: "yaml".into() };
    assert!(pieces.contains(&file));
    assert!(pieces.contains(&Piece::Command { command: "cat a/b.yaml \\\nc".into(), expected: "x: 1\n\n".into() }));
    assert!(pieces.contains(&Piece::Script("true # yes\n".into())));
    assert!(pieces.contains(&Piece::Sql("select 1;\n".into())));
    assert_eq!(pieces.iter().filter(|piece| matches!(piece, Piece::Command { .. })).count(), 2);
}
