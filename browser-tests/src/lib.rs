//! A real browser for tests of pages: Chromium, driven by chromedriver. The tests of this package visit the pages of a hub, and of the demo.
//!
//! It is apart from `testkit`, because its driver implements operators for texts, which makes expressions ambiguous in every package that is linked with it.

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
pub use thirtyfour::{By, Key, WebDriver, WebElement, error::WebDriverError, prelude::ElementQueryable};
use thirtyfour::{ChromiumLikeCapabilities as _, DesiredCapabilities};

use testkit::programs::on_path;

/// How long a page may take to show something. A machine that runs many tests is slow.
const PATIENCE: Duration = Duration::from_mins(1);

/// The names of the browser's program in distributions.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A browser with a profile of its own. It ends when it is dropped.
#[derive(Debug)]
pub struct Browser {
    /// The session, for what has no method here.
    pub driver: WebDriver,
    process: Child,
    _profile: TempDir,
}

/// The size of the part of a browser's window that shows a page, in CSS pixels.
#[derive(Clone, Copy, Debug)]
pub struct Viewport {
    /// Its width.
    pub width: u32,
    /// Its height.
    pub height: u32,
}

impl Viewport {
    /// That of a laptop.
    pub const LAPTOP: Self = Self { width: 1280, height: 900 };
    /// That of a phone.
    pub const PHONE: Self = Self { width: 390, height: 844 };
    /// That of a screen on a wall.
    pub const WALL: Self = Self { width: 2560, height: 1440 };
}

/// What a reader's system asks of pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preferences {
    /// Light text on a dark ground.
    pub is_dark: bool,
    /// Only the colours of the system.
    pub has_forced_colors: bool,
    /// As little motion as possible.
    pub has_reduced_motion: bool,
}

/// Whether a browser can be started with the programs of a search path.
///
/// # Errors
/// If a program is not installed: its name and where it comes from.
pub fn availability(path: &OsStr) -> Result<(), &'static str> {
    let missing = chromium(path).is_none();
    match (missing, on_path("chromedriver", path)) {
        (true, _) => Err("Chromium is not installed (Debian: chromium)"),
        (false, None) => Err("chromedriver is not installed (Debian: chromium-driver)"),
        (false, Some(_)) => Ok(()),
    }
}

impl Browser {
    /// Starts a browser.
    ///
    /// # Errors
    /// If it is not installed, or does not start.
    pub async fn start(path: &OsStr) -> Result<Self, WebDriverError> {
        availability(path).map_err(io::Error::other)?;
        let profile = TempDir::new()?;
        let mut capabilities = DesiredCapabilities::chrome();
        for argument in ARGUMENTS {
            capabilities.add_arg(argument)?;
        }
        capabilities.add_arg(&format!("--user-data-dir={}", profile.path().display()))?;
        if let Some(chromium) = chromium(path) {
            capabilities.set_binary(&chromium.display().to_string())?;
        }
        let (process, port) = serve(profile.path())?;
        let driver = WebDriver::new(format!("http://127.0.0.1:{port}"), capabilities).await?;
        Ok(Self { driver, process, _profile: profile })
    }

    /// Sets the size of the page.
    ///
    /// # Errors
    /// If the browser does not answer.
    pub async fn resize(&self, window: Viewport) -> Result<(), WebDriverError> {
        let metrics = json!({"width": window.width, "height": window.height, "deviceScaleFactor": 1, "mobile": false});
        self.command("Emulation.setDeviceMetricsOverride", metrics).await
    }

    /// Sets what the reader's system asks of pages.
    ///
    /// # Errors
    /// If the browser does not answer.
    pub async fn prefer(&self, preferences: Preferences) -> Result<(), WebDriverError> {
        let choose = |is_set: bool, value: &str| if is_set { value.to_owned() } else { String::new() };
        let scheme = if preferences.is_dark { "dark" } else { "light" };
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "forced-colors", "value": choose(preferences.has_forced_colors, "active")},
            {"name": "prefers-reduced-motion", "value": choose(preferences.has_reduced_motion, "reduce")},
        ]);
        self.command("Emulation.setEmulatedMedia", json!({ "features": features })).await
    }

    async fn command(&self, name: &str, parameters: Value) -> Result<(), WebDriverError> {
        self.driver.cdp().send_raw(name, parameters).await.map(drop)
    }

    /// The value of an expression in the page.
    ///
    /// # Errors
    /// If the expression fails.
    pub async fn value(&self, expression: &str) -> Result<Value, WebDriverError> {
        let found = self.driver.execute(format!("return {expression};"), Vec::new()).await?;
        Ok(found.json().clone())
    }

    /// Waits until an expression in the page is true.
    ///
    /// # Errors
    /// If it does not become true in time.
    pub async fn wait_for(&self, expression: &str) -> Result<(), WebDriverError> {
        let started = Instant::now();
        loop {
            // While a page is being left, it has no answer.
            if matches!(self.value(expression).await, Ok(Value::Bool(true))) {
                return Ok(());
            }
            if started.elapsed() > PATIENCE {
                let (address, text) =
                    (self.value("location.href").await?, self.value("document.body.innerText").await?);
                return Err(
                    io::Error::other(format!("`{expression}` does not become true at {address}: {text}")).into()
                );
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Presses keys, as a person without a pointer does.
    ///
    /// # Errors
    /// If the browser does not answer.
    pub async fn press(&self, keys: &str) -> Result<(), WebDriverError> {
        self.driver.action_chain().send_keys(keys).perform().await
    }

    /// What axe-core finds wrong on the page, one line for each kind of problem.
    ///
    /// # Errors
    /// If the browser does not answer, or the folder does not have the file of axe-core.
    pub async fn axe(&self, folder: &Path) -> Result<Vec<String>, WebDriverError> {
        let script = std::fs::read_to_string(folder.join("axe.min.js"))?;
        self.driver.execute(script, Vec::new()).await?;
        let run = "const done = arguments[0]; axe.run(document).then(found => done(found.violations.map(one => \
             one.id + ': ' + one.help + ' ' + one.nodes.slice(0, 3).map(node => node.html).join(' '))));";
        let found = self.driver.execute_async(run, Vec::new()).await?;
        found.convert()
    }
}

/// The sizes and preferences with which every page must be usable. 320 pixels are a window of 1280 at a zoom of 400 %.
const VIEWS: [(Preferences, Viewport); 6] = {
    let light = Preferences { is_dark: false, has_forced_colors: false, has_reduced_motion: false };
    let dark = Preferences { is_dark: true, ..light };
    let forced = Preferences { has_forced_colors: true, has_reduced_motion: true, ..light };
    let zoomed = Viewport { width: 320, height: 256 };
    [
        (light, Viewport::LAPTOP),
        (dark, Viewport::LAPTOP),
        (forced, Viewport::LAPTOP),
        (dark, Viewport::PHONE),
        (light, zoomed),
        (light, Viewport::WALL),
    ]
};

impl Browser {
    /// What is wrong with the page, at several sizes and with several preferences: it is wider than the window, or breaks a rule of axe-core in this folder.
    ///
    /// # Errors
    /// If the browser does not answer, or the folder does not have the file of axe-core.
    pub async fn faults(&self, axe: Option<&Path>) -> Result<Vec<String>, WebDriverError> {
        let mut faults = Vec::new();
        for (preferences, viewport) in VIEWS {
            self.prefer(preferences).await?;
            self.resize(viewport).await?;
            // Only regions that say so are wider than the page.
            let width = self.value("document.documentElement.scrollWidth").await?.as_u64().unwrap_or(u64::MAX);
            if width > u64::from(viewport.width) {
                faults.push(format!("{viewport:?}: the page is {width} wide"));
            }
            if let Some(folder) = axe {
                let found = self.axe(folder).await?;
                faults.extend(found.into_iter().map(|fault| format!("{viewport:?}, {preferences:?}: {fault}")));
            }
        }
        self.prefer(Preferences::default()).await?;
        self.resize(Viewport::LAPTOP).await?;
        Ok(faults)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends the browser with itself. It may have ended already.
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
    }
}

/// The browser's program.
fn chromium(path: &OsStr) -> Option<PathBuf> {
    PROGRAMS.into_iter().find_map(|name| Some(on_path(name, path)?.join(name)))
}

/// The arguments of Chromium.
const ARGUMENTS: [&str; 8] = [
    "--headless=new",
    // Tests may run as root in a container.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--no-first-run",
    "--no-proxy-server",
    "--hide-scrollbars",
    "--lang=en-GB",
];

/// Starts the driver, and reads the port that it chooses.
fn serve(folder: &Path) -> io::Result<(Child, u16)> {
    let mut command = Command::new("chromedriver");
    command.arg("--port=0").current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.spawn()?;
    let output = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let port = lines.find_map(|line| line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok());
    // The output must be read until the end. Otherwise the pipe fills.
    thread::spawn(move || lines.for_each(drop));
    let port = port.ok_or_else(|| io::Error::other("chromedriver does not say on which port it listens"))?;
    Ok((process, port))
}
