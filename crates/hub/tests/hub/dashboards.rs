//! The SQL of the Grafana dashboards, and of dashboards that were written for Microsoft's hub.

use std::path::Path;

use serde_json::Value;
use testkit::postgres::PostgresDatabase;

use crate::sample::{ENVIRONMENTS, fill};
use crate::twins::Ground;

twins![;
    every_query_of_every_dashboard_runs,
    deployment_observability_says_what_runs_where,
    cluster_state_says_which_clusters_fail,
    environment_state_is_the_history_of_a_rollout,
    environment_discrepancies_are_side_by_side,
    queries_written_for_microsofts_hub_run,
];

const VALUES: [(&str, &[&str]); 4] = [
    ("environment", &ENVIRONMENTS),
    ("workload", &["cart", "portal"]),
    ("target", &["functional-test"]),
    ("status", &["success", "failure", "in_progress", "unknown"]),
];

fn dashboard(name: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../deploy/grafana/{name}.json"));
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// Substitutes variables as Grafana does: texts in quotes, separated by commas.
fn substituted(sql: &str, values: &[(&str, &[&str])]) -> String {
    let quoted = |values: &[&str]| {
        values.iter().map(|value| format!("'{}'", value.replace('\'', "''"))).collect::<Vec<_>>().join(",")
    };
    values
        .iter()
        .fold(sql.to_owned(), |sql, (name, values)| sql.replace(&format!("${{{name}:sqlstring}}"), &quoted(values)))
}

/// The rows of a panel with these values of its variables.
fn panel(postgres: &PostgresDatabase, (name, title): (&str, &str), values: &[(&str, &[&str])]) -> String {
    let dashboard = dashboard(name);
    let panel = dashboard["panels"].as_array().unwrap().iter().find(|panel| panel["title"] == title).unwrap();
    postgres.psql(&substituted(panel["targets"][0]["rawSql"].as_str().unwrap(), values)).unwrap()
}

/// All queries of a dashboard.
fn queries(dashboard: &Value) -> Vec<&str> {
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let of_panels = panels.flat_map(|panel| panel["targets"].as_array().unwrap()).map(|target| &target["rawSql"]);
    let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
    let of_variables = variables.filter(|variable| variable["type"] == "query").map(|variable| &variable["query"]);
    of_panels.chain(of_variables).map(|sql| sql.as_str().unwrap()).collect()
}

async fn filled() -> Ground {
    let ground = Ground::postgres().await;
    fill(&ground.database).await;
    ground
}

async fn every_query_of_every_dashboard_runs() {
    let ground = filled().await;
    let postgres = ground.postgres.as_ref().unwrap();
    // Roles belong to the server, which other tests use, too.
    let role = format!("grafana_{}", std::process::id());
    postgres.psql(&format!("create role \"{role}\"")).unwrap();
    hub::questions::export::grant_read(&ground.database, &role).await.unwrap();
    for name in ["deployment-observability", "cluster-state", "environment-state", "environment-discrepancies"] {
        for sql in queries(&dashboard(name)) {
            let sql = substituted(sql, &VALUES);
            assert!(!sql.contains('$'), "{sql}");
            let answer = postgres.psql(&format!("set role \"{role}\"; {sql}")).unwrap();
            assert!(!answer.is_empty(), "{name}: {sql}");
        }
    }
    postgres.psql(&format!("drop owned by \"{role}\"; drop role \"{role}\"")).unwrap();
}

async fn deployment_observability_says_what_runs_where() {
    let ground = filled().await;
    let show = |title: &str| panel(ground.postgres.as_ref().unwrap(), ("deployment-observability", title), &VALUES);
    assert_eq!(
        show("Environments state"),
        "acme|shop|dev|cart|functional-test|1.4|1.4|success|3\n\
         acme|shop|dev|portal|functional-test|1.4|1.4|success|3\n\
         acme|shop|prod|cart|functional-test|1.4|1.3|failure|1\n\
         acme|shop|prod|cart|functional-test|1.4|1.4|success|2\n\
         acme|shop|prod|portal|functional-test|1.4|1.3|failure|1\n\
         acme|shop|prod|portal|functional-test|1.4|1.4|success|2"
    );
    assert_eq!(["As desired", "Behind", "Failing", "Silent"].map(show), ["10", "2", "2", "0"]);
}

async fn cluster_state_says_which_clusters_fail() {
    let ground = filled().await;
    let values: [(&str, &[&str]); 4] = [
        ("environment", &["prod"]),
        ("workload", &["cart"]),
        ("target", &["functional-test"]),
        ("status", &["failure"]),
    ];
    let shown = panel(ground.postgres.as_ref().unwrap(), ("cluster-state", "Clusters state"), &values);
    let commit = crate::sample::hash(3);
    assert_eq!(
        shown,
        format!("門真|edge|acme|shop|prod|cart|functional-test|1.3|{commit}|1970-01-01 00:00:00.03|failure")
    );
}

async fn environment_state_is_the_history_of_a_rollout() {
    let ground = filled().await;
    let values: [(&str, &[&str]); 3] =
        [("environment", &["prod"]), ("workload", &["cart"]), ("target", &["functional-test"])];
    let shown = panel(ground.postgres.as_ref().unwrap(), ("environment-state", "Environment history"), &values);
    let line = |commit: i64, counts: &str| {
        format!("1.{commit}|{}|1970-01-01 00:00:00.0{commit}|{counts}", crate::sample::hash(commit))
    };
    assert_eq!(shown, [line(4, "2|0|0"), line(3, "2|1|0"), line(2, "3|0|0"), line(1, "3|0|0")].join("\n"));
}

async fn environment_discrepancies_are_side_by_side() {
    let ground = filled().await;
    let values: [(&str, &[&str]); 1] = [("environment", &ENVIRONMENTS)];
    let show = |title: &str| {
        panel(ground.postgres.as_ref().unwrap(), ("environment-discrepancies", title), &values)
            .lines()
            .take(2)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let both = |dev: &str, prod: &str| format!("cart / functional-test|dev|{dev}\ncart / functional-test|prod|{prod}");
    assert_eq!(show("Scheduled versions"), both("1.4", "1.4"));
    assert_eq!(show("Deployed versions"), both("1.4", "1.3, 1.4"));
    assert_eq!(show("Hosts"), both("3 of 3", "2 of 3"));
}

/// Features of the original dashboards' queries: joins by endpoint and commit, the latest row by `created_on`, and names of reconcilers that are split
/// at dots.
async fn queries_written_for_microsofts_hub_run() {
    let ground = filled().await;
    let sql = "select h.name, split_part(r.name, '.', -1), e.name, wl.name, wv.version, d.status \
        from deployment d join reconciler r on d.reconciler_id = r.id join host h on r.host_id = h.id \
        join deployment_target dt on r.manifests_endpoint = dt.manifests_endpoint \
        join environment e on dt.environment_id = e.id join workload wl on dt.workload_id = wl.id \
        join deployment_assignment da on da.deployment_target_id = dt.id and d.gitops_commit_id = da.gitops_commit_id \
        join workload_version wv on da.workload_version_id = wv.id \
        where d.created_on = (select max(l.created_on) from deployment l where l.reconciler_id = r.id) \
        and e.name = 'prod' and wl.name = 'cart' order by h.name collate \"C\"";
    assert_eq!(
        ground.postgres.as_ref().unwrap().psql(sql).unwrap(),
        "berlin|edge|prod|cart|1.4|success\nchicago|edge|prod|cart|1.4|success\n門真|edge|prod|cart|1.3|failure"
    );
}
