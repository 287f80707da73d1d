//! Reads unit files of systemd.

/// The lines of a unit file: section, name and value. Comments and empty lines are left out.
pub(crate) struct Unit(Vec<[String; 3]>);

impl Unit {
    pub(crate) fn parse(text: &str) -> Self {
        let mut section = String::new();
        let mut lines = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some((name, value)) = line.split_once('=') {
                lines.push([section.clone(), name.to_owned(), value.to_owned()]);
            } else {
                line.trim_matches(['[', ']']).clone_into(&mut section);
            }
        }
        Self(lines)
    }

    /// All values of a setting in the section `Service`.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let lines = self.0.iter().filter(|[section, found, _]| section == "Service" && found == name);
        lines.map(|[_, _, value]| value.as_str()).collect()
    }

    /// The only value of a setting in the section `Service`.
    #[track_caller]
    pub(crate) fn one(&self, name: &str) -> &str {
        let [value] = self.all(name)[..] else { panic!("`{name}` is not there once") };
        value
    }
}
