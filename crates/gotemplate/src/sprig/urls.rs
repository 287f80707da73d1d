//! Functions on URLs.

use super::arguments::{NIL_POINTER, bytes, dict};
use super::function;
use crate::function::{Call, Function, FunctionError, Type};
use crate::text::Text;
use crate::types::kind_name;
use crate::url::{Url, User};
use crate::value::{Key, Value};

use Type::Dict;

pub(super) const FUNCTIONS: &[Function] =
    &[function("urlJoin", &[Dict], join), function("urlParse", &[Type::Text], parse)];

fn parse(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let url = Url::parse(bytes(args, 0)?).map_err(|why| FunctionError::error(format!("unable to parse url: {why}")))?;
    let user = url.user.as_ref().map(User::write).unwrap_or_default();
    let parts: [(&str, &[u8]); 8] = [
        ("fragment", &url.fragment),
        ("host", &url.host),
        ("hostname", url.hostname()),
        ("opaque", &url.opaque),
        ("path", &url.path),
        ("query", &url.query),
        ("scheme", &url.scheme),
        ("userinfo", &user),
    ];
    Ok(Value::dict(parts.map(|(name, part)| (name, Value::text(part)))))
}

fn join(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let entries = call.changes.entries(dict(args, 0)?);
    let part = |name: &str| match entries.get(&Key::Text(Text::from(name))) {
        None => Ok(Vec::new()),
        Some(Value::Text(text)) => Ok(text.as_bytes().to_vec()),
        Some(Value::Nil | Value::Missing) => Err(FunctionError::error(NIL_POINTER)),
        Some(other) => {
            let kind = kind_name(other);
            Err(FunctionError::error(format!("unable to parse {name} key, must be of type string, but {kind} found")))
        }
    };
    let url = Url {
        scheme: part("scheme")?,
        opaque: part("opaque")?,
        user: user(&part("userinfo")?)?,
        host: part("host")?,
        path: part("path")?,
        query: part("query")?,
        fragment: part("fragment")?,
    };
    Ok(Value::text(url.write()))
}

fn user(userinfo: &[u8]) -> Result<Option<User>, FunctionError> {
    if userinfo.is_empty() {
        return Ok(None);
    }
    let url = Url::parse(&[b"proto://", userinfo, b"@host"].concat());
    let url = url.map_err(|why| FunctionError::error(format!("unable to parse userinfo in dict: {why}")))?;
    Ok(url.user)
}
