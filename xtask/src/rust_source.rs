//! A parsed Rust file for the checks: its tokens with their lines, its functions with their sizes, and its tests.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::uses::{self, Use};

/// A range of lines, both ends included, from 1.
type Lines = RangeInclusive<usize>;

/// A parsed Rust file.
#[derive(Debug)]
pub(crate) struct RustSource {
    tokens: Vec<Token>,
    /// All functions with a body.
    pub(crate) functions: Vec<Function>,
    /// The names of the tests in `proptest!`.
    pub(crate) property_tests: Vec<String>,
    test_lines: Vec<Lines>,
    uses: Vec<Use>,
}

/// A function with a body.
#[derive(Debug)]
pub(crate) struct Function {
    /// `name`, or `Type::name` for a function of an `impl` or a trait.
    pub(crate) name: String,
    /// From the line of its `fn` to the line of its closing brace.
    pub(crate) lines: Lines,
    /// The number of parameters, with `self`. A tuple of three is three.
    pub(crate) parameters: usize,
}

#[derive(Debug)]
struct Token {
    /// The text of the token. `::` and `!` are one token each, brackets too.
    text: String,
    lines: Lines,
}

impl RustSource {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// Returns an error if the text is not valid Rust.
    pub(crate) fn parse(text: &str) -> syn::Result<Self> {
        let file = syn::parse_file(text)?;
        let mut tokens = Vec::new();
        flatten(text.parse()?, &mut tokens);
        let mut extents = Extents::default();
        extents.visit_file(&file);
        let Extents { functions, property_tests, test_lines, .. } = extents;
        Ok(Self { tokens, functions, property_tests, test_lines, uses: uses::uses(&file) })
    }

    /// The number of lines with code: not blank, not only comments, and not in a test module.
    pub(crate) fn code_lines(&self) -> usize {
        let lines: BTreeSet<usize> = self.tokens.iter().flat_map(|token| token.lines.clone()).collect();
        lines.into_iter().filter(|line| !self.is_test(*line)).count()
    }

    /// The lines outside of tests where this sequence of tokens begins.
    pub(crate) fn find(&self, sequence: &[&str]) -> Vec<usize> {
        self.find_anywhere(sequence).into_iter().filter(|line| !self.is_test(*line)).collect()
    }

    /// The lines, in tests too, where this sequence of tokens begins.
    pub(crate) fn find_anywhere(&self, sequence: &[&str]) -> Vec<usize> {
        let matches = |window: &&[Token]| window.iter().zip(sequence).all(|(token, text)| token.text == *text);
        let begin = |window: &[Token]| window.first().map(|token| *token.lines.start());
        self.tokens.windows(sequence.len()).filter(matches).filter_map(begin).collect()
    }

    /// The names of the public types and traits outside of tests, each with its line.
    pub(crate) fn public_types(&self) -> impl Iterator<Item = (&str, usize)> {
        let declared = self.tokens.windows(3).filter_map(|window| match window {
            [public, keyword, name]
                if public.text == "pub" && ["struct", "enum", "trait", "type"].contains(&keyword.text.as_str()) =>
            {
                Some((name.text.as_str(), *name.lines.start()))
            }
            _ => None,
        });
        // In a macro, the name may be a parameter.
        declared.filter(|(name, line)| *name != "$" && !self.is_test(*line))
    }

    /// The paths of the same crate that the file uses outside of tests.
    pub(crate) fn uses(&self) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(|used| !self.is_test(used.line))
    }

    fn is_test(&self, line: usize) -> bool {
        self.test_lines.iter().any(|lines| lines.contains(&line))
    }
}

/// Whether the whole file is tests, by its path.
pub(crate) fn is_test_file(path: &str) -> bool {
    let mut folders: Vec<&str> = path.split('/').collect();
    let name = folders.pop();
    name == Some("tests.rs") || folders.iter().any(|folder| ["tests", "benches", "examples"].contains(folder))
}

/// The tokens in the order of the text, without those of doc comments.
///
/// The function is recursive over nested brackets. This is safe, because the files are those of this workspace.
fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut rest = trees.as_slice();
    while let Some((first, mut after)) = rest.split_first() {
        if let Some(length) = doc_comment_length(rest) {
            after = rest.get(length..).unwrap_or_default();
        } else if let TokenTree::Group(group) = first {
            let (open, close) = brackets(group.delimiter());
            tokens.push(Token { text: open.to_owned(), lines: lines_of(group.span_open()) });
            flatten(group.stream(), tokens);
            tokens.push(Token { text: close.to_owned(), lines: lines_of(group.span_close()) });
        } else if let [TokenTree::Punct(one), TokenTree::Punct(two), tail @ ..] = rest
            && (one.as_char(), one.spacing(), two.as_char()) == (':', Spacing::Joint, ':')
        {
            tokens.push(Token { text: "::".to_owned(), lines: lines_of(one.span()) });
            after = tail;
        } else {
            tokens.push(Token { text: first.to_string(), lines: lines_of(first.span()) });
        }
        rest = after;
    }
}

fn doc_comment_length(trees: &[TokenTree]) -> Option<usize> {
    let is_punct = |tree: &TokenTree, wanted| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == wanted);
    let is_doc = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => group.stream().into_iter().next().is_some_and(|first| first.to_string() == "doc"),
        _ => false,
    };
    match trees {
        [hash, group, ..] if is_punct(hash, '#') && is_doc(group) => Some(2),
        [hash, bang, group, ..] if is_punct(hash, '#') && is_punct(bang, '!') && is_doc(group) => Some(3),
        _ => None,
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

/// The number of parameters that are written as one: the elements of a tuple, also behind a reference.
fn parameters(argument: &syn::FnArg) -> usize {
    fn of_type(kind: &syn::Type) -> usize {
        match kind {
            syn::Type::Tuple(tuple) => tuple.elems.iter().map(of_type).sum(),
            syn::Type::Reference(reference) => of_type(&reference.elem),
            syn::Type::Paren(inner) => of_type(&inner.elem),
            _ => 1,
        }
    }
    match argument {
        syn::FnArg::Receiver(_) => 1,
        syn::FnArg::Typed(typed) => of_type(&typed.ty),
    }
}

fn lines_of(span: Span) -> Lines {
    span.start().line..=span.end().line
}

/// Collects the functions, the tests in `proptest!`, and the lines of test modules.
#[derive(Default)]
struct Extents {
    functions: Vec<Function>,
    property_tests: Vec<String>,
    test_lines: Vec<Lines>,
    owner: Option<String>,
}

impl Extents {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let name = match &self.owner {
            Some(owner) => format!("{owner}::{}", signature.ident),
            None => signature.ident.to_string(),
        };
        let lines = signature.fn_token.span.start().line..=body.brace_token.span.close().end().line;
        let parameters = signature.inputs.iter().map(parameters).sum();
        self.functions.push(Function { name, lines, parameters });
    }

    fn within(&mut self, owner: Option<String>, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.owner, owner);
        visit(self);
        self.owner = outer;
    }
}

impl<'ast> Visit<'ast> for Extents {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if let (Some((braces, _)), Some(attribute)) =
            (&module.content, module.attrs.iter().find(|found| is_cfg_test(found)))
        {
            self.test_lines.push(attribute.pound_token.span.start().line..=braces.span.close().end().line);
        }
        visit::visit_item_mod(self, module);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let owner = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
            _ => None,
        };
        self.within(owner, |this| visit::visit_item_impl(this, item));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.within(Some(item.ident.to_string()), |this| visit::visit_item_trait(this, item));
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.add(&function.sig, &function.block);
        self.within(None, |this| visit::visit_item_fn(this, function));
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if call.path.segments.last().is_some_and(|name| name.ident == "proptest") {
            let trees: Vec<_> = call.tokens.clone().into_iter().collect();
            let is_fn = |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if word == "fn");
            let names = trees.iter().zip(trees.iter().skip(1)).filter(|(word, _)| is_fn(word));
            self.property_tests.extend(names.map(|(_, name)| name.to_string()));
        }
        visit::visit_macro(self, call);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

fn is_cfg_test(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> RustSource {
        RustSource::parse(text).expect("the example is Rust")
    }

    #[test]
    fn blank_lines_comments_and_tests_are_not_code() {
        let source = parse(
            "//! About.\n\n/// Doc.\n#[inline]\nfn a() {\n    // why\n    b();\n}\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n",
        );
        assert_eq!(source.code_lines(), 4);
    }

    #[test]
    fn functions_are_measured_from_their_fn_to_their_brace() {
        let source =
            parse("struct S;\nimpl S {\n    /// Doc.\n    pub fn a() {\n    }\n}\nfn b() {}\ntrait T {\n fn c();\n}\n");
        let found: Vec<_> = source.functions.iter().map(|found| (found.name.as_str(), found.lines.clone())).collect();
        assert_eq!(found, [("S::a", 4..=5), ("b", 7..=7)]);
    }

    #[test]
    fn property_tests_are_the_functions_in_their_macro() {
        let source = parse(
            "proptest! {\n    #[test]\n    fn a(x in 0..9) { let f: fn() = g; }\n}\n#[cfg(test)]\nmod tests {\n    proptest::proptest! { #[test] fn b() {} }\n    #[test]\n    fn c() {}\n}\n",
        );
        assert_eq!(source.property_tests, ["a", "b"]);
    }

    #[test]
    fn sequences_are_found_in_macros_but_not_in_strings_comments_or_tests() {
        let source = parse(
            "fn a() {\n    // std::env\n    let s = \"std::env\";\n    f!(std::env::var);\n}\n#[cfg(test)]\nmod tests {\n    use std::env;\n}\n",
        );
        assert_eq!(source.find(&["std", "::", "env"]), [4]);
    }

    #[test]
    fn test_files_are_known_by_their_place() {
        for path in ["crates/a/src/b/tests.rs", "crates/a/tests/all.rs", "crates/a/benches/x.rs"] {
            assert!(is_test_file(path), "{path}");
        }
        assert!(!is_test_file("crates/testkit/src/lib.rs"));
    }
}
