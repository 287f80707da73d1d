//! The answers of `kalypso serve` about compiled environments, compared with those of the commands.

use hub_api::client::{Client, ClientError};
use hub_api::compiled::{
    AssignmentName, AssignmentOrder, AssignmentQuery, CompiledAnswer, CompiledAssignments, ContractQuery,
    DifferenceQuery, FilesQuery, FindingQuery, ValueQuery, WhyNotQuery,
};
use serde::Serialize;
use serde_json::{Value as Json, json};
use testkit::company::CompanyFiles;
use testkit::hub_program::HubProgram;
use testkit::objects;

use crate::company::Company;
use crate::secrets;
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
fn reasons_for_missing_assignments_are_those_of_the_command() {
    let asked = Asked::new();
    let client = asked.client();
    let check = |place: Option<&str>, target: Option<&str>, object: Option<&str>, words: &str| {
        let [place, target, object] = [place, target, object].map(|text| text.map(str::to_owned));
        let query = WhyNotQuery { place, target, object, key: None };
        let answer = json_of(wait(client.why_not("dev", &query)));
        assert_eq!(answer, asked.command(&format!("why-not -e dev {words}")), "{words}");
    };
    check(Some("east"), Some("shop-test"), None, "east/shop-test");
    check(None, Some("shop-test"), None, "shop-test");
    check(Some("east"), Some("shop-test"), Some("configmap/west"), "east/shop-test configmap/west");
    check(Some("east"), Some("shop-tes"), None, "east/shop-tes");
    let (status, text) = refusal(wait(client.why_not("dev", &WhyNotQuery::default())));
    assert!(status == 400 && text.contains("names nothing"), "{text}");
}

#[test]
fn contracts_are_those_of_the_command() {
    let asked = Asked::new();
    let client = asked.client();
    let all = json_of(wait(client.contract("dev", &ContractQuery::default())));
    assert_eq!(all, asked.command("contract -e dev"));
    let of_shop = ContractQuery { workload: Some("shop".to_owned()), place: None };
    assert_eq!(json_of(wait(client.contract("dev", &of_shop))), asked.command("contract -e dev shop"));
    let unknown = ContractQuery { workload: Some("shopp".to_owned()), place: None };
    let (status, text) = refusal(wait(client.contract("dev", &unknown)));
    assert!(status == 404 && text.contains("`shop`"), "{text}");
}

#[test]
fn assignments_are_listed_in_pages() {
    let asked = Asked::of(two_applications());
    let client = asked.client();
    let list = |query: &AssignmentQuery| wait(client.assignments("dev", query)).unwrap().answer;
    let names = |page: &CompiledAssignments| -> Vec<_> {
        page.items.iter().map(|item| format!("{}/{}", item.place, item.target)).collect()
    };
    let first = list(&AssignmentQuery { sort: AssignmentOrder::Target, limit: Some(3), ..AssignmentQuery::default() });
    assert_eq!(names(&first), ["east/bank-dev", "west/bank-dev", "east/shop-dev"]);
    assert_eq!((first.total, first.all, first.failing), (4, 4, 0));
    let row = &first.items[0];
    assert_eq!(
        (row.folder.as_deref(), &*row.workspace, &*row.policies[0]),
        (Some("east/bank-dev"), "bank-team", "bank")
    );
    let next = AssignmentQuery { sort: AssignmentOrder::Target, cursor: first.next, ..AssignmentQuery::default() };
    let last = list(&next);
    assert_eq!((names(&last), last.next), (vec!["west/shop-dev".to_owned()], None));
    let of_west = AssignmentQuery { place_selector: Some("region=west-us".to_owned()), ..AssignmentQuery::default() };
    assert_eq!(names(&list(&of_west)), ["west/bank-dev", "west/shop-dev"]);
}

#[test]
fn a_token_for_a_workspace_sees_nothing_of_others() {
    let company = two_applications();
    let created = company.kalypso("hub token create shop --role reader --workspace shop-team -o json").json();
    let asked = Asked::of(company);
    let client = Client::new(asked.serving.program.url(), created["token"].as_str().map(str::to_owned)).unwrap();
    let all = wait(client.assignments("dev", &AssignmentQuery::default())).unwrap();
    assert_eq!((all.answer.total, all.answer.all), (2, 2));
    assert!(all.sources.iter().all(|source| !source.repository.ends_with("bank")), "{:?}", all.sources);
    wait(client.explain("dev", &name("west", "shop-dev"), None)).unwrap();
    let contract = wait(client.contract("dev", &ContractQuery::default())).unwrap();
    let why_not = WhyNotQuery { target: Some("shop-dev".to_owned()), ..WhyNotQuery::default() };
    let why_not = wait(client.why_not("dev", &why_not)).unwrap();
    for text in [json!(all), json!(contract), json!(why_not)].map(|answer| answer.to_string()) {
        assert!(text.contains("shop") && !text.contains("bank-"), "{text}");
    }
    // Another one is like one that does not exist.
    let hidden = refusal(wait(client.explain("dev", &name("west", "bank-dev"), None)));
    let (_, unknown) = refusal(wait(client.explain("dev", &name("west", "nick-dev"), None)));
    assert_eq!(hidden, (404, unknown.replace("nick", "bank")));
    let of_bank = ContractQuery { workload: Some("bank".to_owned()), place: None };
    assert_eq!(refusal(wait(client.contract("dev", &of_bank))).0, 404);
    let hidden = refusal(wait(client.files("dev", &name("west", "bank-dev"), &FilesQuery::default())));
    let (_, unknown) = refusal(wait(client.files("dev", &name("west", "nick-dev"), &FilesQuery::default())));
    assert_eq!(hidden, (404, unknown.replace("nick", "bank")));
    let of = ValueQuery { q: "DATABASE".to_owned(), limit: None };
    let values = wait(client.values("dev", &of)).unwrap().answer.items;
    assert!(values.iter().all(|value| value.assignment_count == 1), "{values:?}");
}

#[test]
fn findings_have_their_lines_and_assignments() {
    let company = two_applications();
    let json = r#"{"type": "object", "properties": {"LOG_LEVEL": {"enum": ["warn"]}}}"#;
    company.change("control-plane@dev", "schema.yaml", &objects::schema("levels", "{workload: shop}", json));
    let asked = Asked::of(company);
    let client = asked.client();
    let found = wait(client.findings("dev", &FindingQuery::default())).unwrap().answer;
    assert_eq!((found.errors, found.items[0].assignment_count), (1, 2), "{found:?}");
    let place = &found.items[0].places[0];
    let excerpt = place.excerpt.as_ref().unwrap();
    assert!(excerpt.text.contains("LOG_LEVEL: info") && excerpt.text[excerpt.mark_start..].starts_with("info"));
    assert_eq!(place.position.as_ref().unwrap().path, "configs/common.yaml");
    let failing = AssignmentQuery { failing: true, ..AssignmentQuery::default() };
    let failing = wait(client.assignments("dev", &failing)).unwrap().answer;
    assert_eq!((failing.total, failing.all, failing.items[0].findings), (2, 4, 1));
    let of_bank = FindingQuery { workload: Some("bank".to_owned()), ..FindingQuery::default() };
    assert_eq!(wait(client.findings("dev", &of_bank)).unwrap().answer.total, 0);
    let on_west = |target: &str| {
        let (place, target) = (Some("west".to_owned()), Some(target.to_owned()));
        wait(client.findings("dev", &FindingQuery { place, target, ..FindingQuery::default() }))
    };
    let totals = ["shop-dev", "bank-dev"].map(|target| on_west(target).unwrap().answer.total);
    assert_eq!((totals, refusal(on_west("nick-dev")).0), ([1, 0], 404));
}

/// Two applications of two workspaces, each on two cluster types.
fn two_applications() -> Company {
    Company::empty().filled(&CompanyFiles::with_applications(&["dev"], &["bank", "shop"]))
}

#[test]
fn files_are_shown_as_compiled_and_as_published() {
    let company = Company::new().published();
    company.change("control-plane@dev", "configs/west.yaml", &west("mysql://west-2/a"));
    let asked = Asked::of(company);
    let client = asked.client();
    let of = name("west", "shop-test");
    let files = |at: Option<&str>| {
        wait(client.files("dev", &of, &FilesQuery { at: at.map(str::to_owned) })).map(|answer| answer.answer)
    };
    let text = |at: Option<&str>| {
        let found = files(at).unwrap().files.into_iter();
        found.map(|file| format!("# {}\n{}", file.path, file.content.unwrap())).collect::<String>()
    };
    let now = files(None).unwrap();
    assert_eq!((now.folder.as_deref(), now.at, now.more), (Some("west/shop-test"), None, 0));
    let paths: Vec<_> = now.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["namespace.yaml", "platform-config.yaml", "reconciler.yaml"]);
    assert!(text(None).contains("mysql://west-2/a"));
    let [published] = &now.publications[..] else { panic!("{:?}", now.publications) };
    let then = text(Some(&published.commit));
    assert!(then.contains("mysql://west/a") && !then.contains("west-2"), "{then}");
    assert_eq!(files(Some(&published.commit)).unwrap().at.as_ref(), Some(published));
    for unknown in ["main", &"0".repeat(40), &published.commit[..10]] {
        let (status, text) = refusal(files(Some(unknown)));
        assert!(status == 404 && text.contains("no publication"), "{text}");
    }
}

#[test]
fn differences_are_those_of_the_plan() {
    let company = Company::new().published();
    company.change("control-plane@dev", "configs/west.yaml", &west("mysql://west-2/a"));
    let asked = Asked::of(company);
    let client = asked.client();
    let of = name("west", "shop-test");
    let difference = |query: &DifferenceQuery| wait(client.difference("dev", &of, query)).unwrap().answer;
    let found = difference(&DifferenceQuery::default());
    let [file] = &found.files[..] else { panic!("{found:?}") };
    let hunks = file.difference.as_deref().unwrap().split_once("@@").unwrap().1;
    assert!(hunks.contains("-  DATABASE: mysql://west/a\n+  DATABASE: mysql://west-2/a\n"), "{hunks}");
    let plan = asked.company.kalypso("plan -e dev --diff").ends(2);
    assert!(plan.out.contains(hunks.trim_end()), "{} {hunks}", plan.out);
    let from = found.from.unwrap().commit;
    let same = difference(&DifferenceQuery { from: Some(from.clone()), to: Some(from) });
    assert!(same.files.is_empty() && same.to.is_some());
}

#[test]
fn values_are_found_by_key_and_text() {
    let asked = Asked::of(two_applications());
    let client = asked.client();
    let find = |q: &str| {
        let query = ValueQuery { q: q.to_owned(), limit: None };
        wait(client.values("dev", &query)).map(|found| found.answer.items)
    };
    let found = find("database").unwrap();
    let shown: Vec<_> = found.iter().map(|one| (&*one.key, one.assignment_count, &*one.set_by[0].config_map)).collect();
    assert_eq!(shown, [("DATABASE", 2, "common"), ("DATABASE", 2, "west")]);
    let found = find("//WEST/").unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].set_by[0].place.as_ref().unwrap().path, "configs/west.yaml");
    assert!(find("nothing-like-it").unwrap().is_empty());
    assert_eq!(refusal(find(" ")).0, 400);
}

#[test]
fn no_answer_of_the_service_holds_a_sensitive_value() {
    let company = secrets::company().published();
    secrets::password(&company, secrets::NEW);
    let asked = Asked::of(company);
    let client = asked.client();
    let of = name("west", "shop-test");
    let files = wait(client.files("dev", &of, &FilesQuery::default())).unwrap();
    let first = files.answer.publications[0].commit.clone();
    let query = |q: &str| ValueQuery { q: q.to_owned(), limit: None };
    let answers = [
        json!(wait(client.files("dev", &of, &FilesQuery { at: Some(first) })).unwrap()),
        json!(wait(client.difference("dev", &of, &DifferenceQuery::default())).unwrap()),
        json!(wait(client.explain("dev", &of, None)).unwrap()),
        json!(wait(client.contract("dev", &ContractQuery { workload: Some("shop".to_owned()), place: None })).unwrap()),
        json!(wait(client.findings("dev", &FindingQuery::default())).unwrap()),
        json!(wait(client.assignments("dev", &AssignmentQuery::default())).unwrap()),
        json!(wait(client.values("dev", &query("PASSWORD"))).unwrap()),
        json!(files),
    ];
    answers.iter().for_each(|answer| secrets::check_text(&answer.to_string(), "the service"));
    let shown = answers[0].to_string();
    assert!(shown.contains("(sensitive)") && shown.contains("kind: Secret"), "{shown}");
    // A hidden value is found by its key, and not by its text.
    let found = wait(client.values("dev", &query("password"))).unwrap().answer.items;
    assert_eq!(found.iter().filter(|value| value.is_sensitive && value.key == "PASSWORD").count(), 1, "{found:?}");
    for text in [secrets::NEW, "sha256"] {
        assert!(wait(client.values("dev", &query(text))).unwrap().answer.items.is_empty());
    }
}

fn west(database: &str) -> String {
    objects::config("west", "region: west-us", &format!("DATABASE: {database}"))
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
