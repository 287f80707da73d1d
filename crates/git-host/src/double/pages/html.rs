//! HTML that can't contain a tag from data.

/// The stylesheet of all pages.
pub(super) const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--soft:#8881;--open:#1a7f37;--merged:#8250df;--closed:#cf222e}\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}\
header{border-bottom:1px solid var(--line);margin-bottom:1.5rem;padding-bottom:.5rem}\
h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.15rem;margin-top:2rem}\
a{color:#0969da}@media(prefers-color-scheme:dark){a{color:#58a6ff}}\
code,pre{font:13px/1.45 ui-monospace,monospace}code{background:var(--soft);padding:.1em .3em;border-radius:4px}\
pre{border:1px solid var(--line);border-radius:6px;padding:.75rem;overflow-x:auto}pre code{background:none;padding:0}\
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid var(--line);padding:.25rem .6rem;text-align:left}\
.box{border:1px solid var(--line);border-radius:6px;padding:.5rem 1rem;margin:1rem 0}\
.muted{opacity:.7}.state,.label{border-radius:1rem;padding:.1rem .6rem;font-size:.85rem}\
.state{color:#fff}.open{background:var(--open)}.merged{background:var(--merged)}.closed{background:var(--closed)}\
.label{border:1px solid var(--line)}ul.plain{list-style:none;padding:0}ul.plain li{padding:.35rem 0;border-bottom:1px solid var(--line)}\
form{display:inline}button{font:inherit;padding:.4rem 1rem;border-radius:6px;border:1px solid var(--line);cursor:pointer;margin-right:.5rem}\
button.merge{background:var(--open);color:#fff}.add{color:var(--open)}.remove{color:var(--closed)}.hunk{color:var(--merged)}\
blockquote{border-left:4px solid var(--line);margin-left:0;padding-left:1rem}\
.visitor{float:right}.visitor button{padding:.1rem .6rem;margin:0 0 0 .4rem}select,input{font:inherit;margin-right:.5rem}";

/// HTML. Constant tags come from the program, and everything else is escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Html(String);

impl Html {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds HTML of the program.
    pub(super) fn tag(mut self, html: &'static str) -> Self {
        self.0.push_str(html);
        self
    }

    /// Adds a text, which is shown as it is. It may be the content of an element, or of an attribute in quotes.
    pub(super) fn text(mut self, text: &str) -> Self {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(character),
                _ if is_hidden(character) => self.0.push('\u{fffd}'),
                _ => self.0.push(character),
            }
        }
        self
    }

    /// Adds other HTML.
    pub(super) fn html(mut self, html: &Self) -> Self {
        self.0.push_str(&html.0);
        self
    }

    /// Adds the HTML of each item.
    pub(super) fn each<T>(self, items: impl IntoIterator<Item = T>, html: impl Fn(Self, T) -> Self) -> Self {
        items.into_iter().fold(self, html)
    }

    /// A link. Its address is shown nowhere, so it must be one of the program, or one that [`is_harmless`].
    pub(super) fn link(self, address: &str, text: &str) -> Self {
        self.tag("<a href=\"").text(address).tag("\">").text(text).tag("</a>")
    }

    /// A text in a fixed-width font.
    pub(super) fn code(self, text: &str) -> Self {
        self.tag("<code>").text(text).tag("</code>")
    }

    /// The beginning of a form that is sent to an address of these pages.
    pub(super) fn form(self, address: &str) -> Self {
        self.tag("<form method=\"post\" action=\"").text(address).tag("\">")
    }

    /// The page with this title and content. `visitor` says for whom it is.
    pub(super) fn page(self, title: &str, visitor: &Self) -> String {
        let start = Self::new().tag("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
        let start = start.text(title).tag("</title><meta name=\"viewport\" content=\"width=device-width\"><style>");
        let start = start.tag(STYLE).tag("</style></head><body><header><a href=\"/\">Git host of the demo</a>");
        start.html(visitor).tag("</header>").html(&self).tag("</body></html>\n").0
    }
}

/// Whether the address of a link can't run a script.
pub(super) fn is_harmless(address: &str) -> bool {
    address.starts_with("https://") || address.starts_with("http://") || address.starts_with('#')
}

/// Whether a character is invisible, or changes the direction of the text around it.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_no_element_and_no_attribute() {
        let html = Html::new().link("x\" onclick='y", "</a><script>&\u{202e}");
        let expected = "<a href=\"x&quot; onclick=&#39;y\">&lt;/a&gt;&lt;script&gt;&amp;\u{fffd}</a>";
        assert_eq!(html, Html(expected.to_owned()));
    }

    #[test]
    fn addresses_that_run_scripts_are_not_links() {
        assert!(is_harmless("https://git.example/acme") && is_harmless("#changes"));
        assert!(!is_harmless("javascript:alert(1)") && !is_harmless("data:text/html,x") && !is_harmless(" https://a"));
    }
}
