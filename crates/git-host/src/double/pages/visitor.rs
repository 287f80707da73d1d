//! Who uses the pages: one of the accounts of the host, which a cookie names. There are no passwords, because the host is only for this machine.

use reqwest::Url;

use super::super::http::{Request, Response};
use super::html::Html;

/// The name of the cookie.
const COOKIE: &str = "account";

/// Who uses the pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visitor<'p> {
    /// All accounts that people can use.
    accounts: &'p [String],
    /// The one that is used now.
    pub(super) account: &'p str,
}

impl<'p> Visitor<'p> {
    /// The visitor of a request: the account of its cookie, or else the first one.
    pub(super) fn new(request: &Request, accounts: &'p [String]) -> Self {
        let cookies = request.header("cookie").unwrap_or_default().split(';');
        let mut named = cookies.filter_map(|cookie| cookie.trim().split_once('=')).filter(|(name, _)| *name == COOKIE);
        let chosen = named.find_map(|(_, value)| accounts.iter().find(|account| **account == *value));
        Self { accounts, account: chosen.or(accounts.first()).map_or("", String::as_str) }
    }

    /// Says who it is, with a button for each other account.
    pub(super) fn html(&self) -> Html {
        let others = self.accounts.iter().filter(|account| **account != *self.account);
        let html = Html::new().tag("<span class=\"visitor\">You are <strong>").text(self.account).tag("</strong>");
        let button = |html: Html, account: &String| {
            let html = html.form(&format!("/account/{account}"));
            html.tag("<button>").text(&format!("switch to {account}")).tag("</button></form>")
        };
        html.each(others, button).tag("</span>")
    }

    /// The answer to a button that changes the account: the page from which it was pressed. None: there is no such account.
    pub(super) fn changed(&self, request: &Request, account: &str) -> Option<Response> {
        let account = self.accounts.iter().find(|known| **known == *account)?;
        // Browsers name the page only if it is one of these.
        let page = request.header("referer").and_then(|page| Url::parse(page).ok());
        // An address with two slashes leads to another host.
        let page = page.map(|page| page.path().to_owned()).filter(|path| !path.starts_with("//"));
        let page = page.unwrap_or_else(|| "/".to_owned());
        let cookie = format!("{COOKIE}={account}; Path=/; HttpOnly; SameSite=Strict");
        let headers = [("Location", page), ("Set-Cookie", cookie)];
        let headers = headers.map(|(name, value)| (name.to_owned(), value)).into();
        Some(Response { status: 303, headers, body: Vec::new() })
    }
}
