//! Cases as written in Markdown: input files, options and expected results.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::layout::own_files::MARKER;
use engine::output::Adoption;

use super::markdown::{self, Part, PartKind};

/// The maximum depth of cases that build on other cases.
const DEPTH_MAX: usize = 4;

/// One case of the suite.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file that contains the case.
    pub file: PathBuf,
    /// The title of the case.
    pub title: String,
    /// The input files by path. A path `NAME@REVISION:PATH` belongs to the application repository of the registration `NAME`.
    pub input: BTreeMap<String, String>,
    /// The files of the GitOps branch.
    pub branch: BTreeMap<String, String>,
    /// The case whose output is the content of the GitOps branch.
    pub before: Option<Box<Case>>,
    /// The environment's name.
    pub environment: Arc<str>,
    /// The folders that Kalypso takes over although it does not own them.
    pub adopt: Adoption,
    /// The registrations whose repository cannot be read.
    pub unavailable: BTreeSet<String>,
    pub(super) says: Option<Expected>,
    pub(super) makes: Option<Expected>,
    pub(super) contents: Vec<(String, Expected)>,
    /// The line after the case, where text can be added.
    pub(super) end: usize,
}

/// An expected text with its range of lines.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) text: String,
    pub(super) lines: Range<usize>,
}

/// Reads the cases of a file.
pub(super) fn read(file: &Path, depth: usize) -> Result<Vec<Case>, String> {
    let in_file = |error: String| format!("{}: {error}", file.display());
    if depth > DEPTH_MAX {
        return Err(in_file("cases build on one another in a circle".to_owned()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| in_file(error.to_string()))?;
    let parts = markdown::parts(&text).map_err(in_file)?;
    let mut reader = Reader { shared: Case::empty(file), cases: Vec::new(), depth };
    reader.read(&parts).map_err(in_file)?;
    let end = text.lines().count();
    reader.end_case(end);
    if reader.cases.is_empty() {
        reader.cases.push(Case { end, ..reader.shared });
    }
    Ok(reader.cases)
}

impl Case {
    fn empty(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            title: String::new(),
            input: BTreeMap::new(),
            branch: BTreeMap::new(),
            before: None,
            environment: "dev".into(),
            adopt: Adoption::Nothing,
            unavailable: BTreeSet::new(),
            says: None,
            makes: None,
            contents: Vec::new(),
            end: 0,
        }
    }

    /// The name of the case in test runs: the path of the file below `folder` and the anchor of the heading.
    pub fn name(&self, folder: &Path) -> String {
        let file = self.file.strip_prefix(folder).unwrap_or(&self.file).with_extension("");
        format!("{}#{}", file.display(), self.anchor())
    }

    /// The anchor of the heading of the case.
    pub fn anchor(&self) -> String {
        markdown::anchor(&self.title)
    }

    /// The input files with their contents, by path.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        self.input.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect()
    }

    fn takes(&mut self, base: &Self) {
        self.input.extend(base.input.clone());
        self.branch.extend(base.branch.clone());
    }

    fn option(&mut self, text: &str) -> Result<(), String> {
        let name = markdown::codes(text).first().map(|name| (*name).to_owned());
        match (text.split_whitespace().next(), name) {
            (Some("environment"), Some(name)) => self.environment = name.into(),
            (Some("`--adopt`"), _) => {
                let names: BTreeSet<Arc<str>> = markdown::codes(text).into_iter().skip(1).map(Arc::from).collect();
                self.adopt = if names.is_empty() { Adoption::All } else { Adoption::Named(names) };
            }
            (Some("registration"), Some(name)) if text.ends_with("can't be read") => {
                self.unavailable.insert(name);
            }
            _ => return Err(format!("there is no option {text:?}")),
        }
        Ok(())
    }
}

struct Reader {
    /// The part before the first heading of level two. It belongs to every case.
    shared: Case,
    cases: Vec<Case>,
    depth: usize,
}

impl Reader {
    fn read(&mut self, parts: &[Part]) -> Result<(), String> {
        let mut rest = parts;
        while let [part, after @ ..] = rest {
            rest = after;
            match &part.kind {
                PartKind::Heading(1, title) => self.shared.title.clone_from(title),
                PartKind::Heading(_, title) => {
                    self.end_case(part.lines.start);
                    let shared = Case { says: None, makes: None, contents: Vec::new(), ..self.shared.clone() };
                    self.cases.push(Case { title: title.clone(), ..shared });
                }
                PartKind::Paragraph(text) => {
                    let block = match after.first() {
                        Some(Part { kind: PartKind::Block(block), lines }) => Some((block, lines)),
                        _ => None,
                    };
                    let lines = part.lines.start..block.map_or(part.lines.end, |(_, lines)| lines.end);
                    let block = block.map(|(block, _)| block.as_str());
                    if self.paragraph(text, block, lines)? {
                        rest = &after[1..];
                    }
                }
                PartKind::Block(_) => {
                    return Err(format!("nothing says what the block in line {} is", part.lines.start + 1));
                }
            }
        }
        Ok(())
    }

    fn end_case(&mut self, line: usize) {
        if let Some(case) = self.cases.last_mut() {
            case.end = line;
        }
    }

    /// Reads a paragraph. Returns whether the block after it belongs to the paragraph.
    fn paragraph(&mut self, text: &str, block: Option<&str>, lines: Range<usize>) -> Result<bool, String> {
        let file = self.shared.file.clone();
        let linked = || {
            let target = markdown::link(text).ok_or_else(|| format!("{text:?} has no link"))?;
            let path = file.parent().unwrap_or(Path::new("")).join(target);
            read(&path, self.depth + 1)?.into_iter().next().ok_or_else(|| format!("{target} has no case"))
        };
        if text.starts_with("With the files of ") {
            let base = linked()?;
            self.case().takes(&base);
        } else if text.starts_with("The branch holds what ") {
            let before = linked()?;
            self.case().before = Some(Box::new(before));
        } else if let Some(options) = text.strip_prefix("Options: ") {
            let options = options.trim_end_matches('.').split(", ");
            options.into_iter().try_for_each(|option| self.case().option(option))?;
        } else if text.starts_with("Without `") {
            for path in markdown::codes(text) {
                self.case().input.remove(path).ok_or_else(|| format!("there is no `{path}` to leave out"))?;
            }
        } else {
            return Ok(self.sentence(text, block, lines));
        }
        Ok(false)
    }

    /// Reads a paragraph that may describe the block after it.
    fn sentence(&mut self, text: &str, block: Option<&str>, lines: Range<usize>) -> bool {
        let case = self.case();
        let expected = |text: &str| Some(Expected { text: text.to_owned(), lines: lines.clone() });
        match (text, block) {
            ("It says nothing.", _) => case.says = Some(Expected { text: String::new(), lines: short(&lines) }),
            ("It makes nothing.", _) => case.makes = Some(Expected { text: String::new(), lines: short(&lines) }),
            ("It says:", Some(block)) => case.says = expected(block),
            ("It makes:", Some(block)) => case.makes = expected(block),
            _ => return case.file(text, block, lines),
        }
        block.is_some() && text.ends_with(':')
    }

    fn case(&mut self) -> &mut Case {
        self.cases.last_mut().unwrap_or(&mut self.shared)
    }
}

impl Case {
    /// Reads a paragraph that begins with the path of a file.
    fn file(&mut self, text: &str, block: Option<&str>, lines: Range<usize>) -> bool {
        let Some((path, rest)) = text.strip_prefix('`').and_then(|text| text.split_once('`')) else { return false };
        let path = path.to_owned();
        let content = |block: &str| {
            let cut = rest.contains("without a newline at the end");
            if cut { block.trim_end_matches('\n').to_owned() } else { block.to_owned() }
        };
        match (rest.trim_start(), block) {
            ("marks a folder of the branch.", _) => {
                self.branch.insert(path, MARKER.to_owned());
                return false;
            }
            (":", Some(block)) => {
                self.input.insert(path, block.to_owned());
            }
            (rest, Some(block)) if rest.starts_with("in the branch") => {
                self.branch.insert(path, content(block));
            }
            (rest, Some(block)) if rest.starts_with("is") && rest.ends_with(':') => {
                self.contents.push((path, Expected { text: content(block), lines }));
            }
            _ => return false,
        }
        true
    }
}

/// The first line of a paragraph, as a range. The block after the paragraph is not part of it.
fn short(lines: &Range<usize>) -> Range<usize> {
    lines.start..lines.start + 1
}
