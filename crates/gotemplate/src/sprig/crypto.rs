//! Functions of sprig that exist, but always return an error: passwords and keys belong in a vault.

use super::function;
use crate::function::{Call, Function, FunctionError, Type};
use crate::value::Value;

use Type::{Int64, Text};

pub(super) const FUNCTIONS: &[Function] = &[
    function("decryptAES", &[Text, Text], refuse),
    function("derivePassword", &[Int64, Text, Text, Text, Text], refuse),
    function("encryptAES", &[Text, Text], refuse),
];

fn refuse(_: &mut Call<'_>, _: &[Value]) -> Result<Value, FunctionError> {
    Err(FunctionError::error("not supported: keep secrets in a vault and refer to them"))
}
