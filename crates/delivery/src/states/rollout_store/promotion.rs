//! The admitted `Promotion` of an environment: the file with the object, as it was at the admitted commit of the main branch.

use std::sync::Arc;

use model::object::{AnyObject, Object, Promotion};
use model::read::read_file;
use model::source::FileId;

use super::StateFileError;

/// The file on the branch with the states.
pub(super) const FILE: &str = "admitted-promotion.yaml";

/// The `Promotion` whose gates and rings count until another one is proved.
#[derive(Clone, Debug)]
pub struct AdmittedPromotion {
    /// The whole file with the object.
    pub file: Arc<[u8]>,
    /// The object.
    pub spec: Promotion,
}

impl PartialEq for AdmittedPromotion {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file
    }
}

impl AdmittedPromotion {
    /// Reads the promotion into an environment from a file.
    ///
    /// # Errors
    /// If the file has no valid promotion into it.
    pub fn parse(file: &[u8], environment: &str) -> Result<Self, StateFileError> {
        let read = read_file(FileId::default(), FILE, file);
        let is_it = |object: &Arc<Object<Promotion>>| *object.spec.to == *environment;
        let found = read.objects.iter().find_map(|object| match object {
            AnyObject::Promotion(object) if is_it(object) => Some(object.spec.clone()),
            _ => None,
        });
        let error = |message: String| StateFileError { file: FILE.into(), line: 1, column: 1, message };
        let spec = found.ok_or_else(|| match read.diagnostics.iter().find(|found| found.is_error()) {
            Some(first) => error(format!("[{}] {}", first.code, first.message)),
            None => error(format!("the file has no `Promotion` into `{environment}`")),
        })?;
        Ok(Self { file: file.into(), spec })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promotion_of_the_environment_is_read() {
        let of = |to: &str| {
            format!(
                "---\napiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {{name: {to}}}\nspec: {{to: {to}}}\n"
            )
        };
        let file = format!("{}{}", of("stage"), of("prod"));
        let found = AdmittedPromotion::parse(file.as_bytes(), "prod").unwrap();
        assert_eq!((&*found.spec.to, &*found.file), ("prod", file.as_bytes()));
        let check = |file: &str, expected: &str| {
            assert_eq!(AdmittedPromotion::parse(file.as_bytes(), "dev").unwrap_err().to_string(), expected);
        };
        check(&file, "admitted-promotion.yaml:1:1: the file has no `Promotion` into `dev`");
        let broken = of("dev").replace("spec: {to: dev}", "spec: {to: dev, rings: 7}");
        assert!(AdmittedPromotion::parse(broken.as_bytes(), "dev").is_err());
    }
}
