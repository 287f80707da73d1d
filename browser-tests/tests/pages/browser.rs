//! The pages in a real browser: what people see, with a keyboard, at any size, and with any preferences.

use std::env;
use std::path::PathBuf;

use browser_tests::{Browser, By, Viewport};
use hub_api::tokens::{Reach, Scope};
use serde_json::Value;

use super::hostile::hostile_site;
use super::{Site, company};

/// A browser whose reader is signed in. None: there is no browser on this machine.
async fn signed_in(site: &Site) -> Option<Browser> {
    let path = env::var_os("PATH").unwrap();
    if let Err(reason) = browser_tests::availability(&path) {
        println!("skipped: {reason}");
        return None;
    }
    let browser = Browser::start(&path).await.unwrap();
    let token = site.token("reader", Scope::Read(Reach::ALL)).await;
    browser.resize(Viewport::LAPTOP).await.unwrap();
    browser.driver.goto(site.url("/drift?environment=prod")).await.unwrap();
    browser.driver.find(By::Id("token")).await.unwrap().send_keys(token).await.unwrap();
    browser.press("\u{e007}").await.unwrap();
    // Back at the address that was asked for.
    browser.wait_for("location.pathname + location.search === '/drift?environment=prod'").await.unwrap();
    Some(browser)
}

/// One page of each kind.
const KINDS: [&str; 20] = [
    "/",
    "/environments/prod",
    "/deployments",
    "/deployments?status=silent",
    "/hosts/prod-11",
    "/rollouts",
    "/rollouts/till",
    "/drift",
    "/history",
    "/compare?from=stage&to=prod",
    "/environments/prod/targets",
    "/workloads/till",
    "/workloads/till?workspace=shop&columns=hostLabel:ring",
    "/places/west-edge",
    "/places/west-edge?environment=prod",
    "/account",
    "/search?q=prod",
    "/search?q=nothing",
    "/deployments?workload=nothing",
    "/sign-in",
];

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_accessible_and_fit_at_every_size_and_with_all_preferences() {
    let site = company().await;
    let Some(browser) = signed_in(&site).await else { return };
    let axe = env::var_os("KALYPSO_AXE").map(PathBuf::from);
    if axe.is_none() {
        println!("skipped: the rules of axe-core; the variable KALYPSO_AXE does not name their folder");
    }
    // With a favourite, each page has one more navigation, and the account a list.
    browser
        .driver
        .find(By::Css(".keep [name=name]"))
        .await
        .unwrap()
        .send_keys("Drift of prod ".repeat(7))
        .await
        .unwrap();
    browser.driver.find(By::Css(".keep [type=checkbox]")).await.unwrap().click().await.unwrap();
    browser.driver.find(By::Css(".keep button")).await.unwrap().click().await.unwrap();
    browser.wait_for("document.querySelector('.views [aria-current]')?.textContent.startsWith('Drift')").await.unwrap();
    for path in KINDS {
        browser.driver.goto(site.url(path)).await.unwrap();
        let faults = browser.faults(axe.as_deref()).await.unwrap();
        assert!(faults.is_empty(), "{path}: {faults:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_read_and_left_by_keyboard_alone() {
    let site = company().await;
    let Some(browser) = signed_in(&site).await else { return };
    browser.driver.goto(site.url("/")).await.unwrap();
    browser.wait_for("document.querySelector('#live').textContent === 'live'").await.unwrap();
    browser.press("gh").await.unwrap();
    browser
        .wait_for("location.pathname === '/deployments' && document.querySelector('#live').textContent !== ''")
        .await
        .unwrap();
    browser.press("jj").await.unwrap();
    browser.wait_for("document.activeElement.closest('tr')?.rowIndex === 2").await.unwrap();
    browser.press("k").await.unwrap();
    browser.wait_for("document.activeElement.closest('tr')?.rowIndex === 1").await.unwrap();
    browser.press("\u{e007}").await.unwrap();
    browser.wait_for("location.pathname.startsWith('/hosts/') && document.readyState === 'complete'").await.unwrap();
    browser.press("?").await.unwrap();
    browser.wait_for("document.querySelector('#keys').open").await.unwrap();
    browser.press("\u{e00c}").await.unwrap();
    browser.wait_for("!document.querySelector('#keys').open").await.unwrap();
    browser.press("gd").await.unwrap();
    browser
        .wait_for("location.pathname === '/drift' && document.querySelector('#live').textContent !== ''")
        .await
        .unwrap();
    browser.press("/").await.unwrap();
    browser.wait_for("document.activeElement.tagName === 'INPUT'").await.unwrap();
    // In a field, letters are letters. What is found is shown while one types.
    browser.press("pro").await.unwrap();
    browser.wait_for("document.querySelector('#found a')?.textContent === 'prod'").await.unwrap();
    browser.press("\u{e015}\u{e007}").await.unwrap();
    browser.wait_for("location.pathname === '/environments/prod' && document.readyState === 'complete'").await.unwrap();
    browser.press("/").await.unwrap();
    browser.press("gh?\u{e007}").await.unwrap();
    browser.wait_for("location.search.includes('gh%3F')").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_texts_do_nothing_in_a_browser() {
    let (site, paths) = hostile_site().await;
    let Some(browser) = signed_in(&site).await else { return };
    for path in paths {
        browser.driver.goto(site.url(&path)).await.unwrap();
        let state = "[window.hit === undefined, document.querySelectorAll('main img, main script').length, \
            document.documentElement.scrollWidth <= innerWidth]";
        assert_eq!(browser.value(state).await.unwrap(), serde_json::json!([true, 0, true]), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_page_shows_changes_and_keeps_what_a_reader_holds() {
    let site = company().await;
    let Some(browser) = signed_in(&site).await else { return };
    browser.driver.goto(site.url("/hosts/prod-11")).await.unwrap();
    browser.wait_for("document.querySelector('#live').textContent === 'live'").await.unwrap();
    let names = super::Names {
        host: "prod-11".to_owned(),
        message: "now it works".to_owned(),
        ..super::Names::new("shop", "till", 1)
    };
    site.report(&names, "prod", "success").await;
    browser.wait_for("document.querySelector('main').textContent.includes('now it works')").await.unwrap();
    // Paused, the page only counts.
    browser.press("p").await.unwrap();
    browser.wait_for("document.querySelector('#live').textContent.startsWith('paused')").await.unwrap();
    site.report(&super::Names { message: "and again".to_owned(), ..names }, "prod", "failure").await;
    browser.wait_for("document.querySelector('#live').textContent.includes('change')").await.unwrap();
    assert_eq!(browser.value("document.querySelector('main').textContent.includes('and again')").await.unwrap(), false);
    browser.driver.find(By::Css("#live button")).await.unwrap().click().await.unwrap();
    browser.wait_for("document.querySelector('main').textContent.includes('and again')").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_without_its_hub_keeps_what_it_shows_and_says_so() {
    let site = company().await;
    let Some(browser) = signed_in(&site).await else { return };
    browser.driver.goto(site.url("/hosts/prod-11")).await.unwrap();
    browser.wait_for("document.querySelector('#live').textContent === 'live'").await.unwrap();
    site.stop().await;
    browser.wait_for("document.querySelector('#live').textContent.startsWith('out of date since')").await.unwrap();
    assert_eq!(browser.value("document.querySelectorAll('main [data-key]').length").await.unwrap(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_session_ended_keeps_what_it_shows_and_leads_to_sign_in_and_back() {
    let site = company().await;
    let Some(browser) = signed_in(&site).await else { return };
    let path = "/deployments?environment=prod&workload=till";
    browser.driver.goto(site.url(path)).await.unwrap();
    browser.wait_for("document.querySelector('#live').textContent === 'live'").await.unwrap();
    let page = browser.driver.window().await.unwrap();
    let other = browser.driver.new_tab().await.unwrap();
    browser.driver.switch_to_window(other).await.unwrap();
    browser.driver.goto(site.url("/account")).await.unwrap();
    browser.driver.find(By::Css("[formaction='/sign-out/everywhere']")).await.unwrap().click().await.unwrap();
    browser.wait_for("location.pathname === '/sign-in'").await.unwrap();
    browser.driver.switch_to_window(page).await.unwrap();
    let names = super::Names { host: "prod-11".to_owned(), ..super::Names::new("shop", "till", 1) };
    site.report(&names, "prod", "success").await;
    browser.wait_for("document.querySelector('#live').textContent === 'signed out: sign in'").await.unwrap();
    assert_eq!(browser.value("document.querySelectorAll('main [data-key]').length").await.unwrap(), 2);
    browser.driver.find(By::Css("#live a")).await.unwrap().click().await.unwrap();
    browser.wait_for("location.pathname === '/sign-in' && document.readyState === 'complete'").await.unwrap();
    let token = site.token("reader again", Scope::Read(Reach::ALL)).await;
    browser.driver.find(By::Id("token")).await.unwrap().send_keys(token).await.unwrap();
    browser.press("\u{e007}").await.unwrap();
    browser.wait_for(&format!("location.pathname + location.search === '{path}'")).await.unwrap();
    browser.wait_for("document.querySelector('#live').textContent === 'live'").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_tabs_share_one_stream_of_events() {
    let site = company().await;
    let Some(browser) = signed_in(&site).await else { return };
    let live = "document.querySelector('#live').textContent === 'live'";
    browser.driver.goto(site.url("/")).await.unwrap();
    browser.wait_for(live).await.unwrap();
    for _ in 1..10 {
        let tab = browser.driver.new_tab().await.unwrap();
        browser.driver.switch_to_window(tab).await.unwrap();
        browser.driver.goto(site.url("/")).await.unwrap();
        browser.wait_for(live).await.unwrap();
    }
    let query = "navigator.locks.query().then(found => arguments[0]([found.held.length, found.pending.length]));";
    let locks: Value = browser.driver.execute_async(query, vec![]).await.unwrap().json().clone();
    assert_eq!(locks, serde_json::json!([1, 9]));
    // All of them show a change; the first one is hidden, and shows it when it is looked at.
    let names = super::Names { host: "prod-11".to_owned(), ..super::Names::new("shop", "till", 1) };
    site.report(&names, "prod", "success").await;
    let windows = browser.driver.windows().await.unwrap();
    assert_eq!(windows.len(), 10);
    for window in windows {
        browser.driver.switch_to_window(window).await.unwrap();
        let cell = "document.querySelector('tr[data-key=prod] .share a')?.textContent === '3/4'";
        browser.wait_for(cell).await.unwrap();
    }
}
