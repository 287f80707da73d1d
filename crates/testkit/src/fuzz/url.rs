//! The fuzz target for URLs of repositories and their rewriting.

/// Checks that any text is either refused or becomes the URL of a repository that an object may name.
pub fn url(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for part in text.split('\n').take(2) {
        git::fuzz_url(part);
    }
    if let Some((from, url)) = text.split_once('\n') {
        git::fuzz_rewrite(from, url);
    }
}
