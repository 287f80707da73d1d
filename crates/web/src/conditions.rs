//! The conditions of a filter: as parameters of addresses, and as what a page shows and removes.

use hub_api::filter::Filter;

use crate::address::Address;
use crate::visit::Visit;

/// The conditions that the reader of a page set, each in words with the address without it.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    pub(crate) chips: Vec<(String, String)>,
    /// The page without any of them.
    pub(crate) unfiltered: String,
}

impl Conditions {
    /// The conditions of a filter, which does not contain what the page is about.
    pub(crate) fn new(visit: &Visit, filter: &Filter) -> Self {
        let own = conditions(filter);
        let chip = |(name, value): &(String, String)| {
            (format!("{name}: {value}"), visit.address.clone().without(name).to_string())
        };
        let unfiltered = own.iter().fold(visit.address.clone(), |address, (name, _)| address.without(name));
        Self { chips: own.iter().map(chip).collect(), unfiltered: unfiltered.to_string() }
    }
}

/// The conditions of a filter: names of parameters of the API, and their values.
fn conditions(filter: &Filter) -> Vec<(String, String)> {
    // All fields are optional texts.
    let query = serde_urlencoded::to_string(filter).unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

/// An address with the conditions of a filter.
pub(crate) fn filtered(address: Address, filter: &Filter) -> Address {
    conditions(filter).iter().fold(address, |address, (name, value)| address.with(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_conditions_of_a_filter_are_in_the_address() {
        let filter = Filter { host: Some("a&b".into()), status: Some("failed".into()), ..Filter::default() };
        assert_eq!(
            filtered(Address::of(["deployments"]), &filter).to_string(),
            "/deployments?host=a%26b&status=failed"
        );
    }
}
