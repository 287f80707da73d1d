//! Imports of signed files into both databases.

use std::path::Path;

use hub::authentication::tokens::{self, NewToken};
use hub::store::SqlValue;
use hub::writer::Writer;
use hub::writer::import::{Imported, import};
use hub_api::report::signed_file;
use hub_api::timestamp::Timestamp;
use hub_api::token::TokenText;
use hub_api::tokens::Scope;

use crate::sample::{Applied, HOSTS, lines, report};
use crate::twins::Ground;

twins![late_reports_find_their_place_and_known_ones_change_nothing];

async fn token(ground: &Ground) -> TokenText {
    let scope = Scope::host(HOSTS[0]);
    let token = NewToken { name: "site".into(), scope, signs: true, expires_on: None };
    tokens::create(&ground.database, &token, "test").await.unwrap()
}

async fn taken(ground: &Ground, ingest: &Writer, file: &Path) -> [usize; 4] {
    let Imported { stored, confirmed, repeated, refused, .. } =
        import(&ground.database, ingest, file, Timestamp::now()).await.unwrap();
    [stored, confirmed, repeated, refused]
}

async fn late_reports_find_their_place_and_known_ones_change_nothing(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let said = |commit, time| report(HOSTS[0], "dev", "cart", Applied { commit, at: time });
    ingest.submit(vec![said(2, 20)]).await.unwrap();
    let carried = [said(1, 10), said(3, 30)];
    let addition = signed_file::add(&[], &token(&ground).await, &carried, Timestamp::now()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("reports.signed");
    std::fs::write(&file, addition.bytes).unwrap();
    assert_eq!(taken(&ground, &ingest, &file).await, [2, 0, 0, 0]);
    let history = "select d.revision, p.revision, case when s.deployment_id is null then 0 else 1 end from deployment d \
                   left join deployment p on p.id = d.previous_id left join reconciler_state s on s.deployment_id = d.id \
                   order by d.created_on";
    let before = lines(&ground.database, history).await;
    let revision = |commit| format!("{:?}", SqlValue::from(said(commit, 0).revision));
    let line = |commit, previous: String, is_latest: i64| {
        format!("{} {previous} {:?}", revision(commit), SqlValue::from(is_latest))
    };
    let expected = [line(1, "None".into(), 0), line(2, revision(1), 0), line(3, revision(2), 1)];
    assert_eq!(before, expected);
    assert_eq!(taken(&ground, &ingest, &file).await, [0, 0, 2, 0]);
    assert_eq!(lines(&ground.database, history).await, before);
}
