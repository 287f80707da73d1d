//! Ids of resources of Azure Resource Manager.

/// `/subscriptions/S/resourceGroups/G/providers/NAMESPACE/TYPE/NAME/…`. Upper and lower case are equivalent in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourceId<'a> {
    segments: Vec<&'a str>,
}

impl<'a> ResourceId<'a> {
    /// Parses an id. None if it is not the id of a resource in a resource group.
    pub(crate) fn parse(id: &'a str) -> Option<Self> {
        let segments: Vec<_> = id.strip_prefix('/')?.trim_end_matches('/').split('/').collect();
        let is = |index: usize, word: &str| segments.get(index).is_some_and(|at| at.eq_ignore_ascii_case(word));
        let is_id = is(0, "subscriptions") && is(2, "resourceGroups") && is(4, "providers");
        let is_whole = segments.len() >= 8 && segments.iter().all(|segment| !segment.is_empty());
        (is_id && is_whole).then_some(Self { segments })
    }

    /// The name of the root resource.
    pub(crate) fn name(&self) -> &'a str {
        self.segment(7)
    }

    /// The last part.
    pub(crate) fn last(&self) -> &'a str {
        self.segment(self.segments.len() - 1)
    }

    /// The name that follows a type, anywhere in the id.
    pub(crate) fn of_type(&self, name: &str) -> Option<&'a str> {
        let mut pairs = self.segments.windows(2).skip(6);
        pairs.find(|pair| pair.first().is_some_and(|at| at.eq_ignore_ascii_case(name)))?.get(1).copied()
    }

    /// The id of the root resource, without child resources. It is in lower case, to compare it.
    pub(crate) fn root(&self) -> String {
        let segments: Vec<_> = self.segments.iter().take(8).copied().collect();
        format!("/{}", segments.join("/")).to_lowercase()
    }

    /// `name.group.subscription`, in lower case.
    pub(crate) fn qualified(&self) -> String {
        format!("{}.{}.{}", self.name(), self.segment(3), self.segment(1)).to_lowercase()
    }

    /// Whether the root resource has this type.
    pub(crate) fn is_of(&self, namespace: &str, kind: &str) -> bool {
        self.segment(5).eq_ignore_ascii_case(namespace) && self.segment(6).eq_ignore_ascii_case(kind)
    }

    fn segment(&self, index: usize) -> &'a str {
        self.segments.get(index).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_parsed_in_any_case() {
        let id = "/subscriptions/S-1/resourcegroups/RG/providers/Microsoft.Kubernetes/connectedClusters/Edge-04/providers/Microsoft.KubernetesConfiguration/FluxConfigurations/apps";
        let id = ResourceId::parse(id).unwrap();
        assert_eq!((id.name(), id.last(), id.of_type("fluxConfigurations")), ("Edge-04", "apps", Some("apps")));
        assert_eq!(
            id.root(),
            "/subscriptions/s-1/resourcegroups/rg/providers/microsoft.kubernetes/connectedclusters/edge-04"
        );
        assert_eq!(id.qualified(), "edge-04.rg.s-1");
        assert!(id.is_of("microsoft.kubernetes", "connectedclusters") && !id.is_of("microsoft.edge", "targets"));
    }

    #[test]
    fn invalid_ids_are_refused() {
        for id in
            ["", "/", "/subscriptions/S", "subscriptions/S/resourceGroups/G/providers/N/T/X", "/a/b/c/d/e/f/g/h/i"]
        {
            assert_eq!(ResourceId::parse(id), None, "{id}");
        }
        assert_eq!(ResourceId::parse("/subscriptions//resourceGroups/G/providers/N/T/X"), None);
    }
}
