//! An operator sees that stage fails, and finds the host and its message.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use browser_tests::{Browser, By, Viewport};
use tokio::runtime::Runtime;

use super::machine::Demo;

/// Runs a story in a browser that shows the demo. Says why it is skipped if there is no browser.
fn tell(story: impl AsyncFnOnce(&Browser)) {
    let path = env::var_os("PATH").unwrap();
    if let Err(reason) = browser_tests::availability(&path) {
        println!("skipped: {reason}");
        return;
    }
    hub_api::tls::install_provider();
    let demo = Demo::start();
    Runtime::new().unwrap().block_on(async {
        let browser = Browser::start(&path).await.unwrap();
        browser.resize(Viewport::LAPTOP).await.unwrap();
        browser.driver.goto(&demo.url).await.unwrap();
        browser.wait_for("document.querySelector('#live').textContent === 'live'").await.unwrap();
        story(&browser).await;
    });
}

pub(crate) fn with_pointer() {
    tell(async |browser| {
        let click = async |selector: &str| browser.driver.find(By::Css(selector)).await.unwrap().click().await.unwrap();
        browser
            .wait_for("document.querySelector('tr[data-key=stage] .share').classList.contains('bad')")
            .await
            .unwrap();
        click("tr[data-key=stage] td a").await;
        browser
            .wait_for("location.pathname === '/environments/stage' && document.readyState === 'complete'")
            .await
            .unwrap();
        // The worst cell is in the first row; it leads to its hosts.
        click("table.grid td.bad a").await;
        browser.wait_for("location.pathname === '/deployments' && document.readyState === 'complete'").await.unwrap();
        let failed = "[...document.querySelectorAll('.state.bad')].length";
        assert!(browser.value(failed).await.unwrap().as_u64().unwrap() >= 1);
        click("tr:has(.state.bad) td:nth-child(2) a").await;
        browser
            .wait_for("location.pathname.startsWith('/hosts/stage-') && document.readyState === 'complete'")
            .await
            .unwrap();
        let message = "document.querySelector('tr:has(.state.bad) .message').textContent";
        assert!(!browser.value(message).await.unwrap().as_str().unwrap().is_empty());
        // Why it is there, with which values, and where each is written.
        click("tr:has(.state.bad) td:nth-child(3) a").await;
        browser
            .wait_for("location.pathname === '/environments/stage/assignments' && document.readyState === 'complete'")
            .await
            .unwrap();
        click("[data-rows] td a").await;
        browser.wait_for("document.querySelector('#values') !== null").await.unwrap();
        let line =
            r"/control-plane@stage:configs\/[a-z-]+\.yaml:\d+/.test(document.querySelector('#values').textContent)";
        assert_eq!(browser.value(line).await.unwrap(), true);
    });
}

/// The pages that only a service has, or that the demo fills.
const PAGES: [&str; 11] = [
    "environments/stage",
    "environments/stage?rows=target&columns=state",
    "environments/stage/promotion",
    "environments/stage/assignments",
    "environments/stage/assignments/hamburg-edge/checkout-eu",
    "environments/stage/findings",
    "environments/stage/contract",
    "environments/stage/why-not?target=checkout-eu&place=hamburg-edge",
    "search?q=checkout",
    "workloads/checkout",
    "places/hamburg-edge?environment=stage",
];

pub(crate) fn accessible() {
    tell(async |browser| {
        let axe = env::var_os("KALYPSO_AXE").map(PathBuf::from);
        let start = browser.driver.current_url().await.unwrap();
        for path in PAGES {
            // The service reads its sources after it has started.
            let is_there = "!document.title.startsWith('Not found')";
            for _ in 0..100 {
                browser.driver.goto(start.join(path).unwrap().as_str()).await.unwrap();
                if browser.value(is_there).await.unwrap() == true {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            assert_eq!(browser.value(is_there).await.unwrap(), true, "{path}");
            let faults = browser.faults(axe.as_deref()).await.unwrap();
            assert!(faults.is_empty(), "{path}: {faults:#?}");
        }
        // The hub names targets without their workload, assignments with it.
        browser.driver.goto(start.join("places/hamburg-edge?environment=stage").unwrap().as_str()).await.unwrap();
        let link = "document.querySelector('#targets a[href$=\"/assignments/hamburg-edge/checkout-eu\"]') !== null";
        browser.wait_for(link).await.unwrap();
    });
}

pub(crate) fn with_keyboard() {
    tell(async |browser| {
        browser.press("j").await.unwrap();
        let link = "document.activeElement.closest('[data-key]')?.dataset.key";
        for _ in 0..3 {
            if browser.value(link).await.unwrap() == "stage" {
                break;
            }
            browser.press("j").await.unwrap();
        }
        browser.press(ENTER).await.unwrap();
        browser
            .wait_for(
                "location.pathname === '/environments/stage' && document.querySelector('#live').textContent !== ''",
            )
            .await
            .unwrap();
        // To the first failed cell, with the key that every browser has.
        for _ in 0..200 {
            if browser.value("document.activeElement.closest('td.bad') !== null").await.unwrap() == true {
                break;
            }
            browser.press(TAB).await.unwrap();
        }
        browser.press(ENTER).await.unwrap();
        browser
            .wait_for("location.pathname === '/deployments' && document.querySelector('#live').textContent !== ''")
            .await
            .unwrap();
        let is_failed = "document.activeElement.closest('tr')?.querySelector('.state.bad') != null";
        for _ in 0..100 {
            browser.press("j").await.unwrap();
            if browser.value(is_failed).await.unwrap() == true {
                break;
            }
        }
        browser.press(ENTER).await.unwrap();
        browser
            .wait_for(
                "location.pathname.startsWith('/hosts/stage-') && document.querySelector('tr .state.bad') !== null",
            )
            .await
            .unwrap();
        // The list is one key away.
        browser.wait_for("!document.querySelector('#walk').hidden").await.unwrap();
    });
}

/// The keys, as drivers write them.
const ENTER: &str = "\u{e007}";
const TAB: &str = "\u{e004}";
