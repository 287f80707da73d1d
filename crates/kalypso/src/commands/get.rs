//! `kalypso get`: lists of objects, of assignments and of values.

mod assignments;
mod values;

use std::collections::BTreeSet;

use delivery::sources::loaded::Loaded;
use engine::compile::Prepared;
use workbench::listing::filter::{ListConditions, advice, is_of_assignments, unknown_label};
use workbench::listing::kind::ListedKind;
use workbench::listing::object::{Listed, objects};
use workbench::listing::rows::{self, ListRow, columns_of};
use workbench::listing::view::View;

use crate::arguments::{Get, ListFormat};
use crate::exit::{Exit, Failure};
use crate::listing::environments;
use crate::listing::output::{ListWriter, limit_of};
use crate::listing::text::more_text;
use crate::progress::Watch;
use crate::terminal;

/// The question of a list.
struct Request<'o> {
    options: &'o Get,
    kind: ListedKind,
    names: Vec<&'o str>,
    filter: ListConditions,
}

pub(super) fn run(options: &Get) -> anyhow::Result<Exit> {
    let request = Request::new(options)?;
    let mut watch = Watch::start();
    let environments = environments::read(&options.source, options.environment.as_deref(), &watch)?;
    let prepare = |loaded: &Loaded| Prepared::with_progress(&loaded.fleet, watch.progress());
    let prepared: Vec<_> = environments.loaded.iter().map(prepare).collect();
    let mut views: Vec<_> =
        environments.loaded.iter().zip(&prepared).map(|(loaded, prepared)| View::new(loaded, prepared)).collect();
    watch.end();
    if let Some(unknown) = request.filter.unknown(&views) {
        return Err(unknown.into());
    }
    let exit = match request.kind {
        ListedKind::Assignment => assignments::list(&request, &mut views)?,
        ListedKind::Value => values::list(options, &request.filter, &mut views)?,
        ListedKind::Environment => request.environments(&mut views, &environments.unread)?,
        _ => request.objects(&mut views)?,
    };
    Ok(if environments.exit == Exit::Good { exit } else { environments.exit })
}

impl<'o> Request<'o> {
    fn new(options: &'o Get) -> Result<Self, Failure> {
        let (kind, names) = kind_and_names(&options.objects)?;
        if options.values.key.is_some() && kind != ListedKind::Value {
            return Err(Failure::usage("`--key` is for `kalypso get values`"));
        }
        Ok(Self { options, kind, names, filter: ListConditions::new(options.filter.clone().into(), kind)? })
    }

    /// Lists objects of a kind.
    fn objects(&self, views: &mut [View<'_>]) -> anyhow::Result<Exit> {
        let mut list = List::new(self, self.options.environment.is_none());
        for view in views.iter_mut() {
            let prepared = view.inventory.prepared();
            let mut page = Page::new(self.options);
            for listed in self.selected(view, prepared) {
                list.add_found(listed.name());
                if page.takes(listed.name()) {
                    let name = format!("{}/{}", self.kind.words().0, listed.name());
                    list.writer.add(rows::row(&listed, view), view.environment(), &name)?;
                }
            }
            page.end(&mut list, view);
        }
        list.end(views)
    }

    /// The objects that the names and conditions select, by name.
    fn selected<'p>(&self, view: &View<'_>, prepared: &'p Prepared) -> Box<dyn Iterator<Item = Listed> + 'p> {
        let names: BTreeSet<String> = self.names.iter().map(|name| (*name).to_owned()).collect();
        let selector = self.filter.selector().clone();
        let is_named = move |listed: &Listed| names.is_empty() || names.contains(&**listed.name());
        let fleet = prepared.fleet();
        let is_labelled =
            move |listed: &Listed| selector.requirements.is_empty() || selector.matches(&listed.labels(fleet));
        let all = objects(self.kind, prepared).filter(is_named).filter(is_labelled);
        if !self.filter.is_by_assignments() {
            return Box::new(all);
        }
        let set = self.filter.assignments(view).unwrap_or_default();
        let members = view.inventory.members(&set);
        let kind = self.kind;
        Box::new(all.filter(move |listed| match kind {
            ListedKind::ClusterType | ListedKind::Cluster => members.places.contains(&**listed.name()),
            ListedKind::Workload => members.workloads.contains(&**listed.name()),
            _ => members.targets.contains(&**listed.name()),
        }))
    }

    /// Lists environments. Those that can't be read have only a name.
    fn environments(&self, views: &mut [View<'_>], unread: &[String]) -> anyhow::Result<Exit> {
        let mut list = List::new(self, false);
        let mut page = Page::new(self.options);
        let after = self.options.after.as_deref();
        let names = views.iter().map(View::environment).chain(unread.iter().map(String::as_str));
        let mut is_before = names.into_iter().any(|name| Some(name) == after);
        // The order is that of promotion, not that of names.
        let mut takes = |name: &str, page: &mut Page<'_>| {
            let was_before = is_before;
            is_before &= Some(name) != after;
            page.takes_listed(name, was_before)
        };
        for view in views.iter_mut() {
            let name = view.environment().to_owned();
            let listed = objects(self.kind, view.inventory.prepared()).next();
            let labels = listed.as_ref().map(|listed| listed.labels(view.fleet())).unwrap_or_default();
            let is_named = self.names.is_empty() || self.names.contains(&name.as_str());
            if !is_named || !self.filter.selector().matches(&labels) {
                continue;
            }
            list.add_found(&name);
            if takes(&name, &mut page) {
                let row = match listed {
                    Some(listed) => rows::row(&listed, view),
                    None => rows::undeclared(view),
                };
                list.writer.add(row, &name, &format!("environment/{name}"))?;
            }
        }
        for name in unread.iter().filter(|_| self.names.is_empty()) {
            if takes(name, &mut page) {
                let cells = [vec![name.clone(), "(can't be read)".to_owned()], vec!["-".to_owned(); 8]].concat();
                let json = [("name".to_owned(), name.as_str().into())].into_iter().collect();
                list.writer.add(ListRow { cells, json }, name, &format!("environment/{name}"))?;
            }
        }
        list.writer.count(page.total, page.is_more());
        list.end(views)
    }

    /// Says that a name does not exist, with the most similar one.
    fn warn_unknown(&self, name: &str, views: &[View<'_>]) {
        let what = self.kind.words().0.replace('-', " ");
        terminal::note(&format!("error: there is no {what} `{name}`{}", in_environment(views)));
        if self.kind == ListedKind::Assignment {
            let command = views.first().map_or_else(String::new, |view| format!(" -e {}", view.environment()));
            return terminal::note(&format!("  = help: kalypso why-not{command} {name} shows why"));
        }
        let known: BTreeSet<String> = match self.kind {
            ListedKind::Environment => views.iter().map(|view| view.environment().to_owned()).collect(),
            kind => {
                let all = views.iter().flat_map(|view| objects(kind, view.inventory.prepared()));
                all.map(|listed| listed.name().to_string()).collect()
            }
        };
        if let Some(advice) = advice(name, &known, views.iter().map(|view| view.inventory.prepared())) {
            terminal::note(&format!("  = help: {advice}"));
        }
    }
}

/// A list that is written, and which of the requested names it has.
struct List<'r> {
    request: &'r Request<'r>,
    writer: ListWriter,
    found: BTreeSet<String>,
}

impl<'r> List<'r> {
    fn new(request: &'r Request<'r>, has_environments: bool) -> Self {
        let writer = ListWriter::new(request.options.output, columns_of(request.kind), has_environments);
        Self { request, writer, found: BTreeSet::new() }
    }

    /// Notes that a name exists, if names are requested.
    fn add_found(&mut self, name: &str) {
        if !self.request.names.is_empty() {
            self.found.insert(name.to_owned());
        }
    }

    /// Writes the rest of the list, and reports names that do not exist.
    fn end(self, views: &[View<'_>]) -> anyhow::Result<Exit> {
        let Self { request, writer, found } = self;
        let is_empty = writer.is_empty();
        writer.end()?;
        let missing: Vec<_> = request.names.iter().filter(|name| !found.contains(**name)).collect();
        for name in &missing {
            request.warn_unknown(name, views);
        }
        if is_empty
            && missing.is_empty()
            && is_of_assignments(request.kind)
            && let Some(failure) = unknown_label(request.filter.selector(), views)
        {
            return Err(failure.into());
        }
        if is_empty && missing.is_empty() {
            let (many, filter) = (request.kind.words().1.replace('-', " "), &request.options.filter);
            let is_filtered =
                filter.selector.is_some() || request.filter.is_by_assignments() || request.options.after.is_some();
            let such = if is_filtered { "such " } else { "" };
            terminal::note(&format!("there are no {such}{many}{}", in_environment(views)));
        }
        Ok(Exit::Good.unless(!missing.is_empty()))
    }
}

/// The environments at the end of a sentence: ` in prod`. Empty for several.
fn in_environment(views: &[View<'_>]) -> String {
    match views {
        [one] => format!(" in {}", one.environment()),
        _ => String::new(),
    }
}

/// The rows of an environment that are listed.
struct Page<'o> {
    limit: usize,
    after: Option<&'o str>,
    listed: usize,
    total: usize,
    last: String,
    rest: bool,
}

impl<'o> Page<'o> {
    fn new(options: &'o Get) -> Self {
        let limit = limit_of(options.limit, options.output);
        let (listed, total, last, rest) = Default::default();
        Self { limit, after: options.after.as_deref(), listed, total, last, rest }
    }

    /// Counts a name, and returns whether it is listed.
    fn takes(&mut self, name: &str) -> bool {
        self.takes_listed(name, self.after.is_some_and(|after| name <= after))
    }

    /// The same in a list with another order. `is_before`: the name is not after the one that the list begins after.
    fn takes_listed(&mut self, name: &str, is_before: bool) -> bool {
        self.total += 1;
        if is_before {
            return false;
        }
        if self.listed == self.limit {
            self.rest = true;
            return false;
        }
        self.listed += 1;
        name.clone_into(&mut self.last);
        true
    }

    fn is_more(&self) -> bool {
        self.rest
    }

    /// Says how the list goes on.
    fn end(&self, List { request, writer, .. }: &mut List<'_>, view: &View<'_>) {
        writer.count(self.total, self.is_more());
        if !self.is_more() {
            return;
        }
        let environment = view.environment();
        let of = if request.options.environment.is_none() { format!(" of {environment}") } else { String::new() };
        let more = match self.after {
            None => more_text(self.total - self.listed),
            Some(_) => "… and more".to_owned(),
        };
        let total = terminal::thousands(self.total);
        let next = match &*self.last {
            "" => "--limit N shows more".to_owned(),
            last => format!("-e {environment} --after {last} shows the next"),
        };
        writer.footer.push(format!("{more}{of}, {total} in all: {next}"));
    }
}

/// The kind and the names on the command line: `KIND NAME…`, or `KIND/NAME…`. Names of assignments need no kind.
pub(super) fn kind_and_names(objects: &[String]) -> Result<(ListedKind, Vec<&str>), Failure> {
    let Some((first, rest)) = objects.split_first() else { return Err(Failure::usage("which kind?")) };
    if let Some(kind) = ListedKind::find(first) {
        return Ok((kind, rest.iter().map(|name| name_of(kind, name).unwrap_or(name)).collect()));
    }
    let Some((word, _)) = first.split_once('/') else { return Err(unknown_kind(first)) };
    let Some(kind) = ListedKind::find(word) else {
        return Ok((ListedKind::Assignment, objects.iter().map(String::as_str).collect()));
    };
    let named = |text: &'_ String| name_of(kind, text).is_some();
    if let Some(other) = objects.iter().find(|text| !named(text)) {
        let message = format!("`{other}` is not {}/NAME", kind.words().0);
        return Err(Failure::usage(message).help("list one kind at a time"));
    }
    Ok((kind, objects.iter().filter_map(|text| name_of(kind, text)).collect()))
}

/// The name in `KIND/NAME`. None if the text does not begin with this kind.
fn name_of(kind: ListedKind, text: &str) -> Option<&str> {
    let (word, name) = text.split_once('/')?;
    (ListedKind::find(word) == Some(kind)).then_some(name)
}

fn unknown_kind(word: &str) -> Failure {
    ListedKind::parse(word).err().unwrap_or_else(|| Failure::usage(format!("there is no kind `{word}`")))
}

/// Whether programs read the list.
fn is_for_programs(format: ListFormat) -> bool {
    !matches!(format, ListFormat::Human | ListFormat::Wide)
}
