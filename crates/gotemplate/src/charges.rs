//! Tests that every function charges for its work: large arguments exhaust few steps.

use std::fmt::Write as _;

use crate::function::{Function, Type};
use crate::{ErrorKind, RenderLimits, Template, Value, builtins, kalypso, sprig};

/// Functions whose work does not depend on the items of a list or map.
const READS_NO_ITEM: &[&str] = &[
    "add",
    "add1",
    "biggest",
    "ceil",
    "coalesce",
    "default",
    "dict",
    "div",
    "empty",
    "first",
    "float64",
    "floor",
    "hasKey",
    "index",
    "int",
    "int64",
    "kindIs",
    "kindOf",
    "last",
    "len",
    "list",
    "max",
    "min",
    "mod",
    "mul",
    "not",
    "pluck",
    "round",
    "sub",
    "ternary",
    "tuple",
    "typeIs",
    "typeIsLike",
    "typeOf",
    "unquote",
    "urlJoin",
    "eq",
    "ne",
    "ge",
    "gt",
    "le",
    "lt",
    "call",
    "date",
    "dateInZone",
    "date_in_zone",
    "htmlDate",
    "htmlDateInZone",
    "unset",
];

fn functions() -> impl Iterator<Item = &'static Function> {
    builtins::FUNCTIONS.iter().chain(sprig::FUNCTIONS).chain(kalypso::FUNCTIONS)
}

/// A call of the function with large arguments. `any` is the argument for parameters of any type.
fn call(function: &Function, any: &str) -> String {
    let mut call = function.name.to_owned();
    for parameter in function.params {
        let argument = match parameter {
            Type::Any => any,
            Type::Text => ".text",
            Type::Bool => "true",
            Type::Int | Type::Int64 => "3",
            Type::Float => "0.5",
            Type::Dict => ".map",
            Type::Time => "(toDate \"2006-01-02\" \"2020-01-01\")",
        };
        let _ = write!(call, " {argument}");
    }
    call
}

/// Test data: a quarter of a megabyte of text, and 25,000 items and entries.
fn data() -> Value {
    const SIZE: i64 = 25_000;
    Value::dict([
        ("text", Value::text("Ab-1,".repeat(50_000))),
        ("list", Value::list((0..SIZE).map(Value::int).collect())),
        ("map", Value::dict((0..SIZE).map(|number| (format!("k{number}"), Value::int(number))))),
    ])
}

/// The length of the output of an action, rendered with a limit of so many steps.
fn render(data: &Value, action: &str, steps: u64) -> Result<usize, ErrorKind> {
    let template = Template::parse("t", &format!("{{{{ {action} }}}}")).map_err(|error| error.kind)?;
    let rendered = template.render(data, &RenderLimits { steps, ..RenderLimits::default() });
    rendered.map(|bytes| bytes.len()).map_err(|error| error.kind)
}

#[test]
fn text_arguments_are_charged() {
    let data = data();
    for function in functions() {
        let takes_text = function.params.iter().any(|parameter| matches!(parameter, Type::Text));
        if takes_text {
            assert_eq!(render(&data, &call(function, ".text"), 1_000), Err(ErrorKind::Limit), "{}", function.name);
        }
    }
}

#[test]
fn items_of_arguments_are_charged() {
    let data = data();
    for function in functions() {
        let takes_items = function.params.iter().any(|parameter| matches!(parameter, Type::Any | Type::Dict));
        let is_text_only = function.params.iter().any(|parameter| matches!(parameter, Type::Text));
        if takes_items && !is_text_only && !READS_NO_ITEM.contains(&function.name) {
            assert_eq!(render(&data, &call(function, ".list"), 1_000), Err(ErrorKind::Limit), "{}", function.name);
        }
    }
}

/// Calls with very large results, or much work for small arguments, end within the limits of one rendering.
#[test]
fn multiplying_functions_reach_a_limit() {
    let data = data();
    for action in [
        r#"splitList "" (repeat 5 .text)"#,
        r#"regexReplaceAll "" .text "$x$y$z""#,
        r#"range until 10000 }}{{ regexMatch (printf "(a{100}){20}%d" .) "a" }}{{ end"#,
        r#"range until 900000 }}{{ regexMatch (printf "x%d" .) "a" }}{{ end"#,
        r#"printf (repeat 1000 "%1000000[1]v") nil | len"#,
        r#"printf (repeat 1000 "%1000000[1]T") 1 | len"#,
        r"uniq .list",
        r"range until 100 }}{{ semverCompare $.text $.text }}{{ end",
        r"range until 200 }}{{ trimAll $.text $.text }}{{ end",
        r"$l := .list }}{{ range until 100 }}{{ $l = concat $l $l }}{{ end",
        r"$t := .text }}{{ range until 100 }}{{ $t = cat $t $t }}{{ end",
        r#"range until 100 }}{{ pick $.map "a" "b" "c" "d" "e" "f" "g" "h" }}{{ end"#,
    ] {
        assert_eq!(render(&data, action, RenderLimits::default().steps), Err(ErrorKind::Limit), "{action}");
    }
}

/// A rendering compiles an expression once, whichever function uses it, and the cost depends on the size of the expression.
#[test]
fn expressions_are_compiled_once() {
    let data = data();
    let many = r#"range until 1000 }}{{ regexMatch "^[a-z]+-[0-9]+$" "a-1" }}{{ end"#;
    assert_eq!(render(&data, many, 10_000), Ok("true".len() * 1000));
    assert_eq!(render(&data, r#"regexMatch "((a{50}){50}){10}" "a""#, 2_000), Err(ErrorKind::Limit));
}

#[test]
fn the_list_of_exceptions_names_functions() {
    let names: Vec<_> = functions().map(|function| function.name).collect();
    let unknown: Vec<_> = READS_NO_ITEM.iter().filter(|name| !names.contains(name)).collect();
    assert_eq!(unknown, [&""; 0]);
}
