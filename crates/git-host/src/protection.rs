//! The protection of a branch, as far as its host returns it.

/// The protection of a branch, as a git host returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchProtection {
    /// What limits pushes to the branch.
    pub pushes: PushLimit,
    /// The commit statuses that a pull request into the branch needs.
    pub required: RequiredStatuses,
}

/// What limits pushes to a branch. How strict a rule is, and for whom, hosts tell only to administrators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushLimit {
    /// A rule of the host.
    Rule,
    /// Nothing: each account that may push to the repository may push to the branch.
    Nothing,
    /// No rule. Permissions of the branch may limit pushes, and the host does not tell which account has them: Azure DevOps.
    PermissionsAtMost,
}

/// The commit statuses that a pull request into a branch needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequiredStatuses {
    /// Those with these contexts.
    Named(Vec<String>),
    /// Those whose contexts match one of these patterns. [Gitea's patterns](https://docs.gitea.com/usage/access-control/protected-branches) are those of the library
    /// `gobwas/glob` without separators: `*` matches every text.
    Matching(Vec<String>),
    /// All statuses of the commit.
    All,
    /// The host does not tell it, or can't require statuses of commits.
    Unknown,
}

impl RequiredStatuses {
    /// Whether a status with a context is required. None if it is not known.
    pub fn require(&self, context: &str) -> Option<bool> {
        match self {
            Self::Named(contexts) => Some(contexts.iter().any(|required| required == context)),
            Self::Matching(patterns) => {
                let found: Vec<_> = patterns.iter().map(|pattern| is_match(pattern, context)).collect();
                if found.contains(&Some(true)) {
                    return Some(true);
                }
                (!found.contains(&None)).then_some(false)
            }
            Self::All => Some(true),
            Self::Unknown => None,
        }
    }
}

/// Whether a text matches a pattern with `*` and `?`. None if the pattern has other special characters.
fn is_match(pattern: &str, text: &str) -> Option<bool> {
    if pattern.contains(['[', ']', '{', '}', '\\']) {
        return None;
    }
    let text: Vec<char> = text.chars().collect();
    // For each length of the text's begin, whether the pattern's begin matches it.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for part in pattern.chars() {
        let mut next = vec![false; text.len() + 1];
        next[0] = part == '*' && reached[0];
        for (length, character) in text.iter().enumerate() {
            next[length + 1] = match part {
                '*' => reached[length + 1] || next[length],
                '?' => reached[length],
                part => reached[length] && part == *character,
            };
        }
        reached = next;
    }
    reached.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: &str = "kalypso/admission";

    fn matching(patterns: &[&str]) -> Option<bool> {
        RequiredStatuses::Matching(patterns.iter().map(|&pattern| pattern.to_owned()).collect()).require(CONTEXT)
    }

    #[test]
    fn a_pattern_matches_the_whole_context() {
        let is_required = ["kalypso/admission", "kalypso/*", "*", "*admission", "kalypso?admission*", "k*a*n"];
        assert_eq!(is_required.map(|pattern| matching(&[pattern])), [Some(true); 6]);
        let is_other = ["", "kalypso", "kalypso/", "*/dev", "?", "kalypso/admission?"];
        assert_eq!(is_other.map(|pattern| matching(&[pattern])), [Some(false); 6]);
    }

    #[test]
    fn unsupported_patterns_give_an_unknown_result() {
        assert_eq!(matching(&["ci/*", "kalypso/{admission,dev}"]), None);
        assert_eq!(matching(&["kalypso/[a-z]*", "kalypso/*"]), Some(true));
        assert_eq!(matching(&[]), Some(false));
    }

    #[test]
    fn required_names_are_not_patterns() {
        let named = |name: &str| RequiredStatuses::Named(vec![name.to_owned()]).require(CONTEXT);
        assert_eq!([named(CONTEXT), named("kalypso/*")], [Some(true), Some(false)]);
        assert_eq!(
            (RequiredStatuses::All.require(CONTEXT), RequiredStatuses::Unknown.require(CONTEXT)),
            (Some(true), None)
        );
    }
}
