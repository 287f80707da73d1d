//! The shape of objects: one description. The reader, the JSON Schemas and the reference pages all use it.

/// The allowed values of a field.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A text.
    Text,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A text or a number, as it is written: an amount such as `2` or `0.5%`.
    TextOrNumber,
    /// The name of an object, or a part of one.
    Name,
    /// A day, `YYYY-MM-DD`, or a timestamp as in RFC 3339.
    Timestamp,
    /// A mapping of texts to texts.
    TextMap,
    /// A mapping of texts to texts that becomes part of manifests: no control characters.
    PlainTextMap,
    /// A mapping with these fields.
    Fields(&'static [Field]),
    /// A list of values with this shape.
    List(&'static Shape),
    /// A list of values with this shape, where each item is independent: an item with errors does not affect the others.
    Parts(&'static Shape),
    /// Any value.
    Any,
}

/// A field of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// Whether the field is required.
    pub required: bool,
    /// The allowed values.
    pub shape: Shape,
    /// The meaning of the field, for the reference.
    pub doc: &'static str,
}

/// A required field.
pub(crate) const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field { name, required: true, shape, doc }
}

/// An optional field.
pub(crate) const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field { name, required: false, shape, doc }
}

/// A Kubernetes label selector.
pub(crate) const LABEL_SELECTOR: Shape = Shape::Fields(&[
    optional("matchLabels", Shape::TextMap, "Labels that must exist with exactly these values."),
    optional(
        "matchExpressions",
        Shape::List(&Shape::Fields(&[
            required("key", Shape::Text, "The label's key."),
            required(
                "operator",
                Shape::Text,
                "`In`, `NotIn` (true as well where the label is absent), `Exists` or `DoesNotExist`.",
            ),
            optional("values", Shape::List(&Shape::Text), "The values, for `In` and `NotIn`."),
        ])),
        "Requirements that must all hold.",
    ),
]);

/// A place in a repository.
pub(crate) const REPOSITORY_PLACE: &[Field] = &[
    required("repo", Shape::Text, "The repository's URL, `https` or `ssh`."),
    required("branch", Shape::Text, "The branch."),
    required("path", Shape::Text, "The folder or file in the repository; `.` is all of it."),
];

/// The destination of an environment's output.
pub(crate) const GITOPS_PLACE: &[Field] = &[
    required("repo", Shape::Text, "The repository's URL, `https` or `ssh`."),
    required("branch", Shape::Text, "The branch."),
    required("path", Shape::Text, "The folder or file in the repository; `.` is all of it."),
    optional(
        "autoMerge",
        Shape::Boolean,
        "Whether the git host merges Kalypso's pull requests by itself as soon as the requirements of the branch are met (default `false`). Removals that need a confirmation wait for it.",
    ),
];

/// The metadata of every object.
pub const METADATA: &[Field] = &[
    required("name", Shape::Name, "The name, unique for its kind in an environment: a DNS subdomain."),
    optional("labels", Shape::PlainTextMap, "Labels, by which selectors and values find the object."),
    optional("annotations", Shape::TextMap, "Annotations: settings of this object, and notes for other tools."),
];
