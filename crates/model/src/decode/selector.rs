//! Reads label selectors, and checks labels by the rules of Kubernetes.

use super::{Decoder, is_null, items, node, scalar_text, shown, text, texts};
use crate::diagnostic::Code;
use crate::label;
use crate::selector::{LabelSelector, Operator, Requirement};
use crate::yaml::Node;

/// Whether a text is the key or the value of a label.
#[derive(Clone, Copy)]
enum LabelPart {
    Key,
    Value,
}

impl LabelPart {
    /// The broken rule, and the name of the part.
    fn check(self, text: &str) -> Result<(), (&'static str, &'static str)> {
        match self {
            Self::Key => label::check_key(text).map_err(|reason| ("key", reason)),
            Self::Value => label::check_value(text).map_err(|reason| ("value", reason)),
        }
    }
}

impl Decoder<'_> {
    /// Reads a label selector whose shape is valid. A key or a value that no label can have is an error, as in Kubernetes: `NotIn` and `DoesNotExist`
    /// would hold everywhere.
    pub(crate) fn selector(&mut self, root: &Node, keys: &[&str]) -> LabelSelector {
        let Some(selector) = node(root, keys) else { return LabelSelector::default() };
        let mut requirements = Vec::new();
        for (key, value) in node(selector, &["matchLabels"]).and_then(Node::as_mapping).unwrap_or_default() {
            self.selector_part(key, LabelPart::Key);
            self.selector_part(value, LabelPart::Value);
            requirements.push(Requirement { key: scalar_text(key), operator: Operator::In(vec![scalar_text(value)]) });
        }
        requirements.sort_by(|one, other| one.key.cmp(&other.key));
        let expressions = items(selector, &["matchExpressions"]);
        requirements.extend(expressions.iter().filter_map(|expression| self.requirement(expression)));
        if requirements.is_empty() {
            self.check_is_meant_empty(selector);
        }
        LabelSelector { requirements }
    }

    /// Warns of labels that Kubernetes refuses. They count here, but no selector can name them. Control characters are reported elsewhere, as errors.
    pub(crate) fn check_label_rules(&mut self, root: &Node, keys: &[&str]) {
        for (key, value) in node(root, keys).and_then(Node::as_mapping).unwrap_or_default() {
            for (node, part) in [(key, LabelPart::Key), (value, LabelPart::Value)] {
                let text = scalar_text(node);
                if text.chars().any(char::is_control) {
                    continue;
                }
                if let (Some(_), Err((name, reason))) = (node.as_scalar(), part.check(&text)) {
                    let message = format!("Kubernetes refuses {} as the {name} of a label: {reason}", shown(&text));
                    self.warning(Code::ImpossibleLabel, node.span, message);
                    self.suggest_label(&text, part);
                }
            }
        }
    }

    /// Checks a key of a label, where only the key is named.
    pub(crate) fn label_key(&mut self, node: &Node) {
        self.selector_part(node, LabelPart::Key);
    }

    fn selector_part(&mut self, node: &Node, part: LabelPart) {
        let text = scalar_text(node);
        if let (Some(_), Err((name, reason))) = (node.as_scalar(), part.check(&text)) {
            let message = format!("no label can have the {name} {}: {reason}", shown(&text));
            self.error(Code::InvalidSelector, node.span, message);
            self.suggest_label(&text, part);
        }
    }

    fn suggest_label(&mut self, text: &str, part: LabelPart) {
        let trimmed = text.trim();
        let is_better = trimmed.len() < text.len() && !trimmed.is_empty() && part.check(trimmed).is_ok();
        let dashed = trimmed.split_whitespace().collect::<Vec<_>>().join("-");
        if is_better {
            self.help(format!("remove the blanks: {trimmed:?}"));
        } else if dashed != text && part.check(&dashed).is_ok() {
            self.help(format!("did you mean {dashed:?}?"));
        }
    }

    /// Reports a selector without requirements that has a key without a value: it would select everything.
    fn check_is_meant_empty(&mut self, selector: &Node) {
        let is_begun = |(key, value): &&(Node, Node)| is_null(value) && key.as_scalar().is_some();
        if let Some((key, _)) = selector.as_mapping().unwrap_or_default().iter().find(is_begun) {
            let message = format!("`{}` is empty, so this selector would select everything", scalar_text(key));
            self.error(Code::InvalidSelector, key.span, message);
            self.help("write the labels to match; or `labelSelector: {}` to select everything");
        }
    }

    fn requirement(&mut self, expression: &Node) -> Option<Requirement> {
        if let Some(key) = node(expression, &["key"]).filter(|key| !is_null(key)) {
            self.selector_part(key, LabelPart::Key);
        }
        for value in items(expression, &["values"]) {
            self.selector_part(value, LabelPart::Value);
        }
        let operator = self.operator(expression)?;
        Some(Requirement { key: text(expression, &["key"]), operator })
    }

    fn operator(&mut self, expression: &Node) -> Option<Operator> {
        let operator_node = node(expression, &["operator"])?;
        let values = texts(expression, &["values"]);
        let written = scalar_text(operator_node);
        match &*written {
            "In" | "NotIn" if values.is_empty() => {
                self.error(Code::InvalidSelector, operator_node.span, format!("`{written}` needs at least one value"));
                self.help("add `values: [...]`");
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let span = node(expression, &["values"]).map_or(operator_node.span, |values| values.span);
                self.error(Code::InvalidSelector, span, format!("`{written}` takes no values"));
                self.help("remove `values`, or use `In` or `NotIn`");
            }
            "In" => return Some(Operator::In(values)),
            "NotIn" => return Some(Operator::NotIn(values)),
            "Exists" => return Some(Operator::Exists),
            "DoesNotExist" => return Some(Operator::DoesNotExist),
            other => {
                let message = format!("{other:?} is not an operator of selectors");
                self.error(Code::InvalidSelector, operator_node.span, message);
                self.help("the operators are `In`, `NotIn`, `Exists` and `DoesNotExist`");
            }
        }
        None
    }
}
