//! Shows Markdown. HTML in it is shown as text, and is never part of the page.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::html::{Html, is_harmless};

/// The maximum number of events of a text. The longest text of a pull request has fewer.
const EVENTS_MAX: usize = 100_000;

/// Markdown as HTML. Comments, such as markers, are left out.
pub(super) fn rendered(markdown: &str) -> Html {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_GFM;
    let mut page = Page { html: Html::new(), links: Vec::new(), is_in_head: false };
    for event in Parser::new_ext(markdown, options).take(EVENTS_MAX) {
        page.add(event);
    }
    page.html
}

/// The part of a page that is complete.
struct Page {
    html: Html,
    /// Whether each open link is one in the page.
    links: Vec<bool>,
    is_in_head: bool,
}

impl Page {
    fn add(&mut self, event: Event<'_>) {
        let html = std::mem::take(&mut self.html);
        self.html = match event {
            Event::Start(tag) => self.start(html, tag),
            Event::End(tag) => self.end(html, tag),
            Event::Text(text) => html.text(&text.replace(":warning:", "⚠")),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => html.code(&text),
            Event::Html(text) | Event::InlineHtml(text) if is_comment(&text) => html,
            Event::Html(text) | Event::InlineHtml(text) => html.text(&text),
            Event::SoftBreak => html.tag("\n"),
            Event::HardBreak => html.tag("<br>"),
            Event::Rule => html.tag("<hr>"),
            Event::FootnoteReference(name) => html.text(&name),
            Event::TaskListMarker(is_done) => html.tag(if is_done { "☑ " } else { "☐ " }),
        };
    }

    fn start(&mut self, html: Html, tag: Tag<'_>) -> Html {
        match tag {
            Tag::Paragraph => html.tag("<p>"),
            Tag::Heading { level, .. } => html.tag(heading(level).0),
            Tag::BlockQuote(_) => html.tag("<blockquote>"),
            Tag::CodeBlock(CodeBlockKind::Indented | CodeBlockKind::Fenced(_)) => html.tag("<pre><code>"),
            Tag::List(None) => html.tag("<ul>"),
            Tag::List(Some(_)) => html.tag("<ol>"),
            Tag::Item => html.tag("<li>"),
            Tag::Table(_) => html.tag("<table>"),
            Tag::TableHead => {
                self.is_in_head = true;
                html.tag("<tr>")
            }
            Tag::TableRow => html.tag("<tr>"),
            Tag::TableCell => html.tag(if self.is_in_head { "<th>" } else { "<td>" }),
            Tag::Emphasis => html.tag("<em>"),
            Tag::Strong => html.tag("<strong>"),
            Tag::Strikethrough => html.tag("<del>"),
            Tag::Link { dest_url, .. } => {
                self.links.push(is_harmless(&dest_url));
                if is_harmless(&dest_url) { html.tag("<a href=\"").text(&dest_url).tag("\">") } else { html }
            }
            // Of an image, only its text is shown.
            _ => html,
        }
    }

    fn end(&mut self, html: Html, tag: TagEnd) -> Html {
        match tag {
            TagEnd::Paragraph => html.tag("</p>\n"),
            TagEnd::Heading(level) => html.tag(heading(level).1),
            TagEnd::BlockQuote(_) => html.tag("</blockquote>\n"),
            TagEnd::CodeBlock => html.tag("</code></pre>\n"),
            TagEnd::List(false) => html.tag("</ul>\n"),
            TagEnd::List(true) => html.tag("</ol>\n"),
            TagEnd::Item => html.tag("</li>\n"),
            TagEnd::Table => html.tag("</table>\n"),
            TagEnd::TableHead => {
                self.is_in_head = false;
                html.tag("</tr>\n")
            }
            TagEnd::TableRow => html.tag("</tr>\n"),
            TagEnd::TableCell => html.tag(if self.is_in_head { "</th>" } else { "</td>" }),
            TagEnd::Emphasis => html.tag("</em>"),
            TagEnd::Strong => html.tag("</strong>"),
            TagEnd::Strikethrough => html.tag("</del>"),
            TagEnd::Link if self.links.pop().unwrap_or(false) => html.tag("</a>"),
            _ => html,
        }
    }
}

/// The tags of a heading. It is smaller than the headings of the page.
fn heading(level: HeadingLevel) -> (&'static str, &'static str) {
    match level {
        HeadingLevel::H1 | HeadingLevel::H2 => ("<h3>", "</h3>\n"),
        _ => ("<h4>", "</h4>\n"),
    }
}

fn is_comment(html: &str) -> bool {
    html.trim().starts_with("<!--") && html.trim().ends_with("-->")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(markdown: &str, expected: &str) {
        let page = rendered(markdown).page("", &Html::new());
        assert!(page.contains(expected), "{markdown}: {page}");
    }

    #[test]
    fn markdown_is_shown() {
        check("- **2** `x`\n", "<ul><li><strong>2</strong> <code>x</code></li>\n</ul>");
        check("| a |\n|---|\n| b |\n", "<table><tr><th>a</th></tr>\n<tr><td>b</td></tr>\n</table>");
        check("> [!WARNING]\n> This\n", "<blockquote><p>This</p>\n</blockquote>");
        check("[a](https://a.example/)", "<a href=\"https://a.example/\">a</a>");
    }

    #[test]
    fn html_is_shown_as_text() {
        check("a <img src=x onerror=alert(1)> b", "a &lt;img src=x onerror=alert(1)&gt; b");
        check("<script>\nalert(1)\n</script>\n", "&lt;script&gt;\nalert(1)\n&lt;/script&gt;");
        check("```\n</code><script>\n```\n", "<pre><code>&lt;/code&gt;&lt;script&gt;\n</code></pre>");
        assert!(!rendered("<!-- kalypso content 1 -->\n").page("", &Html::new()).contains("kalypso content"));
    }

    #[test]
    fn links_and_images_run_and_load_nothing() {
        check("[a](javascript:alert(1)) b", "<p>a b</p>");
        check("![a](https://a.example/pixel)", "<p>a</p>");
        check("[x\"](https://a.example/\"onclick=)", "&quot;");
    }
}
