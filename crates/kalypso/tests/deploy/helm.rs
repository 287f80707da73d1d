//! Renders the chart as Helm does: Go's templates with sprig and Helm's functions, over the merged values.
//!
//! The text is the same, byte for byte, as with the Go libraries that Helm is made of. Helm's functions that the chart does not use are missing here.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use gotemplate::function::{Call, Function, FunctionError, Type};
use gotemplate::{RenderLimits, Template, Value};
use serde_json::{Map, Value as Json, json};

use crate::{page, yaml};

const CHART: &str = "deploy/helm/kalypso";

/// The name and the namespace of the release.
pub(crate) const RELEASE: &str = "kalypso";

/// The functions that only Helm has, and `toYaml`, which writes other bytes in Helm.
const FUNCTIONS: &[Function] = &[
    Function {
        name: "include",
        params: &[Type::Text, Type::Any],
        variadic: false,
        reads_deeply: true,
        body: |_, arguments| include(arguments),
    },
    Function {
        name: "required",
        params: &[Type::Text, Type::Any],
        variadic: false,
        reads_deeply: false,
        body: |_, arguments| required(arguments),
    },
    Function { name: "toYaml", params: &[Type::Any], variadic: false, reads_deeply: true, body: to_yaml },
];

/// The named templates of the chart.
static DEFINITIONS: LazyLock<String> = LazyLock::new(|| page::text(&format!("{CHART}/templates/_helpers.tpl")));

/// A file of the chart as YAML.
pub(crate) fn file(name: &str) -> Json {
    yaml::document(&page::text(&format!("{CHART}/{name}")))
}

/// The paths of the files in a folder of the chart, in order.
pub(crate) fn files(folder: &str) -> Vec<PathBuf> {
    let folder = fs::read_dir(page::repository(CHART).join(folder)).unwrap();
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The values of the chart, replaced by those of a user.
pub(crate) fn values(over: &Json) -> Json {
    let mut values = file("values.yaml");
    merge(&mut values, over);
    values
}

/// Merges maps at all levels. Null removes a key.
pub(crate) fn merge(values: &mut Json, over: &Json) {
    let Some(over) = over.as_object() else { return values.clone_from(over) };
    if !values.is_object() {
        *values = Json::Object(Map::new());
    }
    let values = values.as_object_mut().unwrap();
    for (name, value) in over {
        if value.is_null() {
            values.shift_remove(name);
        } else if value.is_object() {
            merge(values.entry(name).or_insert(Json::Null), value);
        } else {
            values.insert(name.clone(), value.clone());
        }
    }
}

/// The rendered files by name, those without content too. An error has the text of the function that stops the rendering.
pub(crate) fn render(values: &Json) -> Result<BTreeMap<String, String>, String> {
    let chart = file("Chart.yaml");
    let chart = json!({"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]});
    let release = json!({"Name": RELEASE, "Namespace": RELEASE, "Service": "Helm"});
    let data = value(&json!({"Values": values, "Chart": chart, "Release": release}));
    let rendered = files("templates").into_iter().filter(|path| path.extension().is_none_or(|kind| kind != "tpl"));
    let rendered = rendered.map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        // Helm's `lookup` and missing values print nothing.
        Ok((name.to_owned(), execute(name, &text, &data)?.replace("<no value>", "")))
    });
    rendered.collect()
}

fn execute(name: &str, text: &str, data: &Value) -> Result<String, String> {
    let template = Template::parse_with(name, text, FUNCTIONS).map_err(|error| error.to_string())?;
    let rendered = template.render(data, &RenderLimits::default()).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(rendered).unwrap())
}

/// Renders a named template of the chart.
fn include(arguments: &[Value]) -> Result<Value, FunctionError> {
    let [Value::Text(name), data] = arguments else {
        return Err(FunctionError::error("include needs a name and data"));
    };
    // The text around the definitions is written, too.
    let text = format!("{}\0{{{{ template {:?} . }}}}", *DEFINITIONS, name.to_string());
    let rendered = execute("include", &text, data).map_err(FunctionError::error)?;
    Ok(Value::text(rendered.split_once('\0').map_or("", |(_, rendered)| rendered)))
}

/// Refuses null and the empty text.
fn required(arguments: &[Value]) -> Result<Value, FunctionError> {
    match arguments {
        [Value::Text(message), Value::Nil] => Err(FunctionError::error(message.to_string())),
        [Value::Text(message), Value::Text(text)] if text.is_empty() => Err(FunctionError::error(message.to_string())),
        [_, value] => Ok(value.clone()),
        _ => Err(FunctionError::error("required needs a message and a value")),
    }
}

/// Writes YAML like Helm: by way of JSON, indented by two spaces, and lists not at all.
fn to_yaml(_: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let json =
        execute("toJson", "{{ toJson . }}", arguments.first().unwrap_or(&Value::Nil)).map_err(FunctionError::error)?;
    let json: Json = serde_json::from_str(&json).unwrap();
    Ok(Value::text(lines(&json, "").trim_end()))
}

/// A value as lines.
fn lines(json: &Json, indentation: &str) -> String {
    match json {
        Json::Object(entries) if !entries.is_empty() => {
            let sorted: BTreeMap<_, _> = entries.iter().collect();
            let entry = |(name, value): (&String, &Json)| {
                let name = scalar(&name.as_str().into());
                let inner = if value.is_array() { indentation.to_owned() } else { format!("{indentation}  ") };
                let text = lines(value, &inner);
                if is_block(value) {
                    format!("{indentation}{name}:\n{text}")
                } else {
                    format!("{indentation}{name}: {}", text.trim_start())
                }
            };
            sorted.into_iter().map(entry).collect()
        }
        Json::Array(items) if !items.is_empty() => {
            let item = |item| format!("{indentation}- {}", lines(item, &format!("{indentation}  ")).trim_start());
            items.iter().map(item).collect()
        }
        _ => format!("{indentation}{}\n", scalar(json)),
    }
}

/// Whether a value begins on a new line after its key.
fn is_block(json: &Json) -> bool {
    json.as_object().is_some_and(|map| !map.is_empty()) || json.as_array().is_some_and(|list| !list.is_empty())
}

fn scalar(json: &Json) -> String {
    let text = gotemplate::yaml::to_yaml(&value(json)).unwrap();
    String::from_utf8(text).unwrap().trim_end().to_owned()
}

/// A value as Helm reads it: all numbers are floating.
fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(bool) => Value::Bool(*bool),
        Json::Number(number) => Value::Float(number.as_f64().unwrap()),
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(value).collect()),
        Json::Object(entries) => Value::dict(entries.iter().map(|(name, json)| (name.as_str(), value(json)))),
    }
}
