//! The differences between two environments.

use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::compare::{Compared, ComparedSide, ComparedTarget};
use hub_api::filter::Filter;

use super::list::ListPage;
use crate::part::{Cell, Row, Share};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    let [Some(from), Some(to)] = ["from", "to"].map(|name| visit.address.get(name).map(str::to_owned)) else {
        return visit.refuse(Refusal::invalid("The address names no two environments: `/compare?from=stage&to=prod`."));
    };
    let page = comparison(&visit, (from, to)).await;
    visit.answer(page)
}

async fn comparison(visit: &Visit, (from, to): (String, String)) -> Result<ListPage<'_>, ClientError> {
    let title = format!("{from} and {to}");
    let compared = Compared { from, to, map: None, differing: visit.address.get("differing").is_some() };
    let filter = Filter { environment: None, ..visit.filter() };
    let answer = visit.api.compare(&compared, &filter, &visit.page()).await?;
    let mut page = ListPage::new(visit, title, &["workspace", "workload", "target"]);
    page.about = "What is desired in each of the two environments, target by target.";
    page.empty = "The two environments have no deployment targets.";
    let differing = visit.address.clone().without("cursor");
    page.links = vec![if compared.differing {
        ("Also what is equal".to_owned(), differing.without("differing").to_string())
    } else {
        ("Only what differs".to_owned(), differing.with("differing", "true").to_string())
    }];
    page.next = visit.next(answer.next.as_ref());
    let columns = ["Workload", "Version there", "As desired there", "Version here", "As desired here", "Configuration"];
    page.table(&columns, answer.items.iter().map(|one| row(visit, one)).collect());
    Ok(page)
}

fn row(visit: &Visit, one: &ComparedTarget) -> Row {
    let side = |side: &Option<ComparedSide>| match side {
        None => [Cell::Text("not there".to_owned()), Cell::Empty],
        Some(side) => {
            [Cell::code(side.version.as_deref().or(side.commit.as_deref())), Cell::Share(Share::new(side.counts, None))]
        }
    };
    let configuration = match one.config_differs.len() {
        0 => format!("equal for {} cluster types", one.config_same),
        differing => format!("differs for {differing} cluster types"),
    };
    let workload = Cell::link(&one.workload, &visit.to(["rollouts", &one.workload]).with("workspace", &one.workspace));
    let mut cells = vec![workload];
    cells.extend(side(&one.from));
    cells.extend(side(&one.to));
    cells.push(Cell::Text(configuration));
    let target = one.from.as_ref().or(one.to.as_ref()).map_or("", |side| side.target.as_str());
    Row { key: format!("{}/{}/{target}", one.workspace, one.workload), cells }
}
