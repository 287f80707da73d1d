//! The functions of sprig 2.22.0, except those whose result depends on the machine or the time.

mod arguments;
mod cases;
mod checksums;
mod convert;
mod crypto;
mod dates;
mod defaults;
mod dicts;
mod encoding;
mod equality;
mod flow;
mod json;
mod lists;
mod math;
mod merge;
mod paths;
mod quoting;
mod regex;
mod split;
mod strings;
mod types;
mod urls;
mod versions;
mod wrap;

use crate::function::{Call, Function, FunctionError, Type};
use crate::value::Value;

/// All functions, group by group.
pub(crate) const FUNCTIONS: &[Function] = &concatenated::<{ total(GROUPS) }>(GROUPS);

const GROUPS: &[&[Function]] = &[
    cases::FUNCTIONS,
    convert::FUNCTIONS,
    crypto::FUNCTIONS,
    dates::FUNCTIONS,
    defaults::FUNCTIONS,
    dicts::FUNCTIONS,
    encoding::FUNCTIONS,
    flow::FUNCTIONS,
    json::FUNCTIONS,
    lists::FUNCTIONS,
    math::FUNCTIONS,
    paths::FUNCTIONS,
    quoting::FUNCTIONS,
    regex::FUNCTIONS,
    split::FUNCTIONS,
    strings::FUNCTIONS,
    checksums::FUNCTIONS,
    types::FUNCTIONS,
    urls::FUNCTIONS,
    versions::FUNCTIONS,
    wrap::FUNCTIONS,
];

/// The implementation of a function.
type Body = fn(&mut Call<'_>, &[Value]) -> Result<Value, FunctionError>;

/// Makes an entry of a function table.
const fn function(name: &'static str, params: &'static [Type], body: Body) -> Function {
    Function { name, params, variadic: false, reads_deeply: false, body }
}

/// The same function with a variadic last parameter.
const fn variadic(function: Function) -> Function {
    Function { variadic: true, ..function }
}

/// The same function, which reads its arguments at all levels.
const fn deep(function: Function) -> Function {
    Function { reads_deeply: true, ..function }
}

const fn total(groups: &[&[Function]]) -> usize {
    let (mut count, mut group) = (0, 0);
    while group < groups.len() {
        count += groups[group].len();
        group += 1;
    }
    count
}

/// Joins the groups into one array. Constants can't join slices otherwise.
const fn concatenated<const TOTAL: usize>(groups: &[&[Function]]) -> [Function; TOTAL] {
    let mut all = [groups[0][0]; TOTAL];
    let (mut at, mut group) = (0, 0);
    while group < groups.len() {
        let mut row = 0;
        while row < groups[group].len() {
            all[at] = groups[group][row];
            at += 1;
            row += 1;
        }
        group += 1;
    }
    all
}

#[cfg(test)]
mod tests;
