//! `kalypso get assignments`.

use std::collections::BTreeSet;

use engine::answers::inventory::Assigned;
use engine::compile::SingleAssignments;
use hub_api::timestamp::Timestamp;
use model::diagnostic::AssignmentId;
use workbench::held_assignments::HeldAssignments;
use workbench::listing::rows::{AssignmentRow, ListRow};
use workbench::listing::view::View;

use super::{List, Page, Request};
use crate::arguments::ListFormat;
use crate::exit::Exit;
use crate::listing::text::counts_text;
use crate::loading::parse_assignment;
use crate::{held_content, terminal};

/// How many assignments are looked up in the GitOps branches at once.
const PART: usize = 10_000;

/// Lists assignments.
pub(super) fn list(request: &Request<'_>, views: &mut [View<'_>]) -> anyhow::Result<Exit> {
    let mut list = List::new(request, request.options.environment.is_none());
    let after = request.options.after.as_deref().map(parse_assignment).transpose()?;
    let names: BTreeSet<_> = request.names.iter().map(|name| parse_assignment(name)).collect::<Result<_, _>>()?;
    for view in views.iter() {
        let inventory = &view.inventory;
        let selected = request.filter.assignments(view).unwrap_or_default();
        let mut set = selected.and(&inventory.selected(request.filter.selector()));
        if !names.is_empty() {
            set = set.and(&inventory.these(names.iter()));
        }
        let is_listed = |assigned: &Assigned<'_>| names.is_empty() || names.contains(&assigned.id());
        let mut page = Page::new(request.options);
        page.total = inventory.len(&set);
        if !names.is_empty() {
            // A name that the limit leaves out of the list is found, too.
            let found: Vec<_> = inventory.assignments(&set, None).filter(is_listed).map(|one| one.id()).collect();
            found.iter().for_each(|id| list.add_found(&id.to_string()));
            page.total = found.len();
        }
        let mut all = inventory.assignments(&set, after.as_ref()).filter(is_listed);
        write(&mut list, view, &mut all, &mut page)?;
        if names.is_empty() {
            let environment = request.options.environment.is_none().then(|| format!("{}: ", view.environment()));
            let counts = counts_text(inventory.counts(&set));
            list.writer.heading(&format!("{}{counts}", environment.unwrap_or_default()));
        }
        page.end(&mut list, view);
    }
    list.end(views)
}

/// Writes the rows of a page.
fn write<'p>(
    list: &mut List<'_>,
    view: &View<'p>,
    all: &mut dyn Iterator<Item = Assigned<'p>>,
    page: &mut Page<'_>,
) -> anyhow::Result<()> {
    let (prepared, now) = (view.inventory.prepared(), Timestamp::now());
    // A list of names shows no contents.
    let is_shown = list.request.options.output != ListFormat::Name;
    let mut held = is_shown.then(|| HeldAssignments::read(view.loaded, prepared, &terminal::warn));
    loop {
        let part: Vec<_> = all.take(PART.min(page.limit - page.listed)).collect();
        if part.is_empty() {
            break;
        }
        let ids: Vec<_> = part.iter().map(Assigned::id).collect();
        let desired = |ids: &[AssignmentId]| SingleAssignments::new(prepared, ids.iter()).folders(ids);
        let found = held.as_mut().map(|held| held.find(&ids, desired)).unwrap_or_default();
        for (assigned, id) in part.iter().zip(&ids) {
            let name = id.to_string();
            let held = found.get(id).map(|held| (held, held_content::since(held, now)));
            let row = AssignmentRow::new(assigned, view.environment(), held);
            list.writer.add(ListRow::new(&row), view.environment(), &name)?;
            page.last = name;
        }
        page.listed += part.len();
    }
    page.rest = all.next().is_some();
    Ok(())
}
