//! The answers of `kalypso serve` about compiled environments, compared with those of the commands.

use hub_api::client::{Client, ClientError};
use hub_api::compiled::{AssignmentName, CompiledAnswer};
use serde::Serialize;
use serde_json::{Value as Json, json};
use testkit::hub_program::HubProgram;

use crate::company::Company;
use crate::serving::Serving;

/// Nothing is found by a poll.
const SETTINGS: &str = "[service]\npoll = \"1h\"\nsettle = \"50ms\"\nresync = \"1h\"\n";

/// A company with a running service.
struct Asked {
    company: Company,
    serving: Serving,
}

impl Asked {
    fn new() -> Self {
        Self::of(Company::new())
    }

    fn of(company: Company) -> Self {
        company.configure(&format!("{}/", company.path("served").display()), SETTINGS);
        let serving = Serving::start_command(company.command().args(["serve", "--listen", "127.0.0.1:0"]));
        Self { company, serving }
    }

    fn client(&self) -> Client {
        Client::new(self.serving.program.url(), None).unwrap()
    }

    /// The answer of a command.
    fn command(&self, arguments: &str) -> Json {
        self.company.kalypso(&format!("{arguments} -o json")).json()
    }
}

/// Waits for the answer to a request of the client.
fn wait<T>(request: impl Future<Output = Result<T, ClientError>>) -> Result<T, ClientError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(request)
}

/// The answer as JSON, after a check that it names its sources.
#[track_caller]
fn json_of<T: Serialize>(answer: Result<CompiledAnswer<T>, ClientError>) -> Json {
    let CompiledAnswer { sources, notes, answer, .. } = answer.unwrap();
    assert!(!sources.is_empty() && notes.is_empty(), "{sources:?} {notes:?}");
    json!(answer)
}

fn name(place: &str, target: &str) -> AssignmentName {
    AssignmentName { place: place.to_owned(), target: target.to_owned() }
}

/// The status and the advice of a refusal.
#[track_caller]
fn refusal<T: std::fmt::Debug>(answer: Result<T, ClientError>) -> (u16, String) {
    match answer.unwrap_err() {
        ClientError::Refused { status, detail, hint, .. } => {
            (status, format!("{detail}: {}", hint.unwrap_or_default()))
        }
        other => panic!("{other}"),
    }
}

#[test]
fn explanations_are_those_of_the_command() {
    let asked = Asked::new();
    let client = asked.client();
    let of = name("west", "shop-test");
    let answer = json_of(wait(client.explain("dev", &of, None)));
    assert_eq!(answer, asked.command("explain -e dev west/shop-test"));
    let value = json_of(wait(client.explain("dev", &of, Some("DATABASE"))));
    assert_eq!(value["values"], json!([asked.command("explain -e dev west/shop-test DATABASE")]));
}

#[test]
fn unknown_names_have_advice() {
    let asked = Asked::new();
    let client = asked.client();
    let check = |environment: &str, place: &str, target: &str, key: Option<&str>| {
        refusal(wait(client.explain(environment, &name(place, target), key)))
    };
    let (status, text) = check("devv", "west", "shop-test", None);
    assert!(status == 404 && text.ends_with("did you mean `dev`?"), "{text}");
    let (status, text) = check("dev", "westt", "shop-test", None);
    assert!(status == 404 && text.contains("`west`"), "{text}");
    let (status, text) = check("dev", "west", "shop-tes", None);
    assert!(status == 404 && text.contains("`shop-test`"), "{text}");
    let (status, text) = check("dev", "west", "shop-test", Some("DATABASEE"));
    assert!(status == 404 && text.contains("`DATABASE`"), "{text}");
}

#[test]
fn a_process_that_is_only_a_hub_has_no_compiled_environments() {
    let company = Company::new();
    let hub = HubProgram::start(company.command().args(["hub", "run", "--listen", "127.0.0.1:0"])).unwrap();
    let client = Client::new(hub.url(), None).unwrap();
    let (status, text) = refusal(wait(client.explain("dev", &name("west", "shop-test"), None)));
    assert!(status == 404 && text.contains("only a hub") && text.contains("kalypso serve"), "{text}");
}
