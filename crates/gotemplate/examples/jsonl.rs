//! Renders templates from the standard input: each line is `{"template": "..", "data": {..}}`. Writes `{"output": ".."}` or `{"error": ".."}` for each.

#[path = "../tests/decode/mod.rs"]
mod decode;

use std::io::{BufRead as _, Write as _};

use gotemplate::{RenderLimits, Template};

fn main() -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = match answer(&line?) {
            Ok(text) => serde_json::json!({ "output": text }),
            Err(error) => serde_json::json!({ "error": error.to_string() }),
        };
        writeln!(output, "{answer}")?;
    }
    Ok(())
}

fn answer(line: &str) -> Result<String, Box<dyn std::error::Error>> {
    let case: serde_json::Value = serde_json::from_str(line)?;
    let template = Template::parse("template", case["template"].as_str().unwrap_or_default())?;
    let text = template.render_nested(&decode::decode(&case["data"]), &RenderLimits::default())?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
