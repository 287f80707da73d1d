//! The description of the API.

use serde_json::Value;

use super::Hub;

async fn description() -> Value {
    Hub::start().await.get("/api/v1/openapi.json").send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn every_question_says_how_it_is_refused() {
    let description = description().await;
    let questions =
        ["deployments", "environments", "targets", "rollouts", "rollouts/{of}", "compare", "history", "drift"];
    for question in questions {
        let responses = &description["paths"][format!("/api/v1/{question}")]["get"]["responses"];
        let statuses: Vec<_> = responses.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(statuses, ["200", "304", "4XX", "5XX"], "{question}");
        let schema = &responses["4XX"]["content"]["application/problem+json"]["schema"]["$ref"];
        assert_eq!(schema, "#/components/schemas/Problem", "{question}");
    }
}

#[tokio::test]
async fn every_reference_leads_somewhere() {
    let description = description().await;
    assert!(description["openapi"].as_str().unwrap().starts_with("3.1."));
    let text = description.to_string();
    let references = text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next());
    let mut count = 0;
    for reference in references {
        assert!(description.pointer(reference).is_some(), "{reference}");
        count += 1;
    }
    assert!(count > 20);
}
