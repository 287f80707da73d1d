//! The fuzz targets on the stable toolchain, with inputs that are the same in each run.

use testkit::fuzz::{self, FuzzTarget};

const TEMPLATES: &[&[u8]] = &[
    b"{{ toYaml . | indent 2 }}",
    b"{{ if eq .Labels.region \"west-us\" }}a{{ else if .nil }}b{{ else }}c{{ end }}",
    b"{{ range $i, $e := .l }}{{ $i }}={{ $e }},{{ else }}none{{ end }}",
    b"{{ define \"T\" }}<{{ . }}{{ if gt (len .) 1 }}{{ template \"T\" (rest .) }}{{ end }}>{{ end }}{{ template \"T\" .l }}",
    b"{{- with $x := .db -}} {{ $x.host | quote | trim }}:{{ printf \"%05.2f|%-8v|%q\" $.f $x.port .host }} {{- end -}}",
    b"{{ $d := dict \"a\" 1 \"b\" (list 1 2 .l) }}{{ $_ := set $d \"c\" $d }}{{ hash $d }}{{ stringify $d }}",
    b"{{ .nested }}{{ range until 9 }}{{ if . }}{{ break }}{{ end }}{{ continue }}{{ end }}{{/* c */}}",
    b"{{ regexReplaceAll \"(a|b)+\" .Environment \"$1\" | trunc 3 | b64enc }}{{ semverCompare \">=1.2\" \"1.3.0\" }}",
    b"{{ splitList \",\" \"a,b\" | join \"-\" | title | wrap 3 }}{{ date \"2006-01-02\" (toDate \"2006-01-02\" .date) }}",
    b"{{ slice .l 1 2 | first }}{{ index .Labels \"edge\" }}{{ .cut | trunc 4 | printf \"%x %q\" }}{{ 1e3 }}{{ 'a' }}{{ 0x1F }}",
];

const TEMPLATE_WORDS: &[&str] = &[
    "{{",
    "}}",
    "{{-",
    "-}}",
    " | ",
    "(",
    ")",
    ".",
    "$",
    "$x",
    " := ",
    " = ",
    "\"",
    "`",
    "'",
    "\\",
    "/*",
    "*/",
    "{{end}}",
    "{{else}}",
    "{{range .l}}",
    "{{with .db}}",
    "{{if .t}}",
    "{{block \"B\" .}}",
    "{{define \"T\"}}",
    "{{template \"T\" .}}",
    " nil",
    " true",
    "1e9",
    "-1",
    "0b1",
    "99999999999999999999",
    "%v",
    "%-999d",
    "é",
    "\u{1f681}",
    "\0",
    ".nil",
    ".l",
    ".f",
    ".cut",
    "printf ",
    "index ",
    "slice ",
    "and ",
    "or ",
    "not ",
    "len ",
    "html ",
    "js ",
    "urlquery ",
    "eq ",
    "lt ",
    "call ",
    "toYaml ",
    "toJson ",
    "stringify ",
    "hash ",
    "unquote ",
    "set ",
    "merge ",
    "repeat 99999 ",
    "indent 999 ",
    "until 9999 ",
    "untilStep 0 9 0 ",
    "list ",
    "dict ",
    "split ",
    "splitn ",
    "regexFind ",
    "regexSplit ",
    "wrap 1 ",
    "substr 1 2 ",
    "trunc -1 ",
    "abbrev 5 ",
    "nindent ",
    "add ",
    "div 0 ",
    "mod 1 ",
    "round ",
    "toDecimal ",
    "date ",
    "ago ",
    "semver ",
    "urlParse ",
    "fail ",
];

const DOCUMENTS: &[&[u8]] = &[
    b"a: 1\nb: [x, {y: 'z'}]\nc: |-\n  text\n---\n- &a 012\n- *a\n- \"\\u00e9\"\n",
    b"? |\n  key\n: >\n folded\n\n text\n<<: {a: 1}\nd: 2024-01-01\ne: !!binary AA==\n",
];

const DOCUMENT_WORDS: &[&str] = &[
    ": ", "- ", "\n", "\n  ", "---\n", "...\n", "|", ">", "&a ", "*a", "!!", "'", "\"", "{", "}", "[", "]", ", ", "#",
    "%", "\t",
];

/// Bytes that [`fuzz::yaml_writer`] takes for nested values.
const VALUES: &[&[u8]] =
    &[b"\x17\x03key\x2bvalue\x04a\nb\x1e\x10\x09\x22\x01\x02", b"\x1f\x05a: b\n\x23 \t#'\"\x02no\x3f\x01k\x13-1"];

const VALUE_WORDS: &[&str] =
    &["\n", " ", ": ", " #", "yes", "~", "1_0", "0o7", ".5", "1:30", "2024-01-01", "\u{feff}", "\t", "---"];

const SELECTORS: &[&[u8]] = &[
    b"  deploymentTargetSelector:\n    workspace: w\n    labelSelector: {matchLabels: {edge: \"true\"}}\n  clusterTypeSelector:\n    labelSelector:\n      matchExpressions:\n        - {key: region, operator: In, values: [east, west]}\n",
    b"  deploymentTargetSelector: {labelSelector: {}}\n  clusterTypeSelector: {labelSelector: {matchExpressions: [{key: size, operator: Exists}, {key: a, operator: NotIn, values: [b]}]}}\n",
];

const SELECTOR_WORDS: &[&str] = &[
    "In",
    "NotIn",
    "Exists",
    "DoesNotExist",
    "values: []",
    "key: ",
    "operator: ",
    "null",
    "[",
    "{",
    "}",
    "1",
    "- ",
    ": ",
    "\n      ",
];

const URLS: &[&[u8]] = &[
    b"https://git.example/acme/\nhttps://git.example/acme/control-plane.git",
    b"ssh://git@git.example:22/acme/a\ngit@git.example:acme/a",
    b"ext::sh -c x\n--upload-pack=x",
];

const URL_WORDS: &[&str] = &[
    "https://", "ssh://", "file://", "http://", "ext::", "-", "@", ":", "/", "..", "%2e", "\\", "[::1]", "git", "\0",
    "é", ".git", "~",
];

fn run(target: FuzzTarget<'_>) {
    target.run(|name| std::env::var(name).ok());
}

#[test]
fn selectors() {
    run(FuzzTarget { name: "selector", body: fuzz::selector, seeds: SELECTORS, words: SELECTOR_WORDS, count: 3_000 });
}

#[test]
fn urls() {
    run(FuzzTarget { name: "url", body: fuzz::url, seeds: URLS, words: URL_WORDS, count: 30_000 });
}

#[test]
fn templates() {
    run(FuzzTarget { name: "template", body: fuzz::template, seeds: TEMPLATES, words: TEMPLATE_WORDS, count: 6_000 });
}

#[test]
fn yaml_that_is_read() {
    run(FuzzTarget {
        name: "yaml_reader",
        body: fuzz::yaml_reader,
        seeds: DOCUMENTS,
        words: DOCUMENT_WORDS,
        count: 4_000,
    });
}

#[test]
fn yaml_that_is_written() {
    run(FuzzTarget { name: "yaml_writer", body: fuzz::yaml_writer, seeds: VALUES, words: VALUE_WORDS, count: 20_000 });
}
