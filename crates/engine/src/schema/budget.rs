//! Limits the total size of the schemas of each registration.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, FieldPart, Origin};
use model::name::RegistrationName;

use crate::schedule::target::SchemaText;

/// The maximum number of schemas, with references written out, of one registration. A schema with hundreds of properties counts as about a
/// thousand. It counts once, also if many targets repeat it. Half a million take some hundred MiB in compiled form.
const UNFOLDED_MAX: usize = 500_000;

/// The number of bytes of schema text that count as one schema. Texts that do not compile count, too, because they are read.
const TEXT_BYTES: usize = 64;

/// The size of the schemas of each registration.
#[derive(Debug, Default)]
pub(super) struct Budget {
    spent: BTreeMap<RegistrationName, Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    unfolded: usize,
    texts: BTreeSet<Arc<str>>,
}

impl Budget {
    /// Reports a schema that exceeds the limit and is not compiled. None if it is compiled. Schemas of the platform team have no limit.
    pub(super) fn refuse(&self, owner: Option<&RegistrationName>, text: &SchemaText) -> Option<Diagnostic> {
        let (owner, spent) = owner.and_then(|owner| Some((owner, self.spent.get(owner)?)))?;
        if spent.unfolded <= UNFOLDED_MAX || spent.texts.contains(&text.text) {
            return None;
        }
        let message = format!(
            "this schema is not used: those of registration `{owner}` are more than {UNFOLDED_MAX} schemas already"
        );
        let origin = Origin::part(&text.object, text.path.clone(), FieldPart::Value);
        Some(
            Diagnostic::error(Code::TooManySchemas, message)
                .at(origin, "")
                .help("repeat the same text where several targets have the same schema, or write smaller schemas")
                .about(&text.object),
        )
    }

    /// Adds the size of a schema. Each text counts once.
    pub(super) fn spend(&mut self, owner: Option<&RegistrationName>, text: &SchemaText, unfolded: usize) {
        let Some(owner) = owner else { return };
        let spent = self.spent.entry(owner.clone()).or_default();
        if spent.texts.insert(Arc::clone(&text.text)) {
            spent.unfolded += unfolded.max(text.text.len() / TEXT_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::field_path::FieldPath;
    use model::kind::Kind;
    use model::object_key::ObjectKey;

    use super::*;

    #[test]
    fn each_registration_has_its_own_limit_and_each_text_counts_once() {
        let text = |text: &str| SchemaText {
            text: text.into(),
            object: ObjectKey { kind: Kind::Workload, name: "a".into(), of: None },
            path: FieldPath::default(),
        };
        let [one, other] = ["one", "other"].map(|name| RegistrationName::new(name).unwrap());
        let mut budget = Budget::default();
        for _ in 0..10 {
            budget.spend(Some(&one), &text("{}"), UNFOLDED_MAX);
            budget.spend(None, &text("{}"), UNFOLDED_MAX);
        }
        assert_eq!(budget.refuse(Some(&one), &text("true")), None);
        budget.spend(Some(&one), &text("true"), 1);
        let refused = budget.refuse(Some(&one), &text("false")).unwrap();
        assert_eq!(refused.code, Code::TooManySchemas);
        assert_eq!(budget.refuse(Some(&one), &text("{}")), None);
        assert_eq!(budget.refuse(Some(&other), &text("false")), None);
        assert_eq!(budget.refuse(None, &text("false")), None);
    }
}
