//! The reader: the roles, and the session.

use askama::Template;
use axum::response::Response;
use hub_api::sessions::AuthenticationMethod;
use hub_api::tokens::Reach;

use crate::part::Moment;
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    let visit = visit.of_the_present();
    visit.answer(Ok(AccountPage { visit: &visit }))
}

/// The page of the reader.
#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage<'a> {
    visit: &'a Visit,
}

impl AccountPage<'_> {
    /// How the hub knows the reader.
    fn authentication(&self) -> &'static str {
        match self.visit.caller.authentication {
            AuthenticationMethod::Token => "by a token that is sent with each request",
            AuthenticationMethod::Session => "by a session of this browser",
            AuthenticationMethod::Open => "not at all: the hub has no token yet, and is open to its machine",
        }
    }

    /// The roles, each with what it is limited to.
    fn roles(&self) -> Vec<(&'static str, String)> {
        let reach = |reach: &Reach| if reach.is_all() { "everything".to_owned() } else { reach.to_string() };
        self.visit.caller.grants.iter().map(|grant| (grant.role(), reach(grant.reach()))).collect()
    }

    fn ends(&self) -> Option<Moment> {
        self.visit.caller.expires_on.map(|end| Moment::new(end, self.visit.now))
    }

    fn ends_unused(&self) -> Option<Moment> {
        self.visit.caller.idle_expires_on.map(|end| Moment::new(end, self.visit.now))
    }
}
