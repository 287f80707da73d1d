//! `kalypso describe`: an object, what it reaches, what reaches it, and what is wrong with it.

mod held;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use engine::compile::Prepared;
use workbench::answers::describe::{DescribedEnvironment, DescribedObject, DescriptionFields, Descriptions};
use workbench::listing::filter::nearest;
use workbench::listing::kind::ListedKind;
use workbench::listing::object::objects;

use super::get::kind_and_names;
use crate::arguments::{Describe, Format};
use crate::exit::{Exit, Failure};
use crate::listing::environments;
use crate::progress::Watch;
use crate::{compiling, terminal};

pub(super) fn run(options: &Describe) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let environments = environments::read(&options.source, options.environment.as_deref(), &watch)?;
    let prepared: Vec<_> = environments.loaded.iter().map(|loaded| Prepared::new(&loaded.fleet)).collect();
    let wanted = wanted(&options.objects, &prepared)?;
    let mut answer = Answer { format: options.output, text: String::new(), items: Vec::new(), found: BTreeSet::new() };
    for (loaded, prepared) in environments.loaded.iter().zip(&prepared) {
        let objects = described(&wanted, prepared);
        if objects.is_empty() {
            continue;
        }
        let compiled = compiling::compile(loaded, watch.progress());
        let mut environment = DescribedEnvironment::new(loaded, &compiled, &terminal::warn);
        objects.into_iter().for_each(|object| answer.add(object, &mut environment));
    }
    watch.end();
    let missing: Vec<_> = wanted.iter().filter(|wanted| !answer.found.contains(*wanted)).cloned().collect();
    answer.write()?;
    for (kind, name) in &missing {
        warn_unknown(*kind, name, &prepared);
    }
    Ok(if environments.exit == Exit::Good { Exit::Good.unless(!missing.is_empty()) } else { environments.exit })
}

/// What is printed.
struct Answer {
    format: Format,
    text: String,
    items: Vec<DescriptionFields>,
    found: BTreeSet<(ListedKind, String)>,
}

impl Answer {
    fn add(&mut self, object: DescribedObject, environment: &mut DescribedEnvironment<'_>) {
        self.found.insert((object.kind, object.listed.name().to_string()));
        let description = environment.describe(object);
        if self.format == Format::Human {
            if !self.text.is_empty() {
                self.text.push_str("\n\n");
            }
            self.text.push_str(&workbench::visible::visible(&text::text(&description, environment)));
            self.text.push_str(&text::problems(&description.report));
        } else {
            self.items.push(DescriptionFields::new(description, &mut environment.view));
        }
    }

    fn write(self) -> std::io::Result<()> {
        match self.format {
            Format::Human => terminal::answer_styled(&self.text),
            format => terminal::answer(&terminal::structured(&Descriptions::from(self.items), format)),
        }
    }
}

/// The kinds and names on the command line. A name alone must be of one kind.
fn wanted(objects: &[String], prepared: &[Prepared]) -> anyhow::Result<BTreeSet<(ListedKind, String)>> {
    let is_name = |text: &str| !text.contains('/') && ListedKind::find(text).is_none();
    if let [name] = objects
        && is_name(name)
    {
        return Ok(BTreeSet::from([kind_of(name, prepared)?]));
    }
    let (kind, names) = kind_and_names(objects)?;
    if names.is_empty() {
        let failure = Failure::usage(format!("which {}?", kind.words().0.replace('-', " ")));
        return Err(failure.help(format!("`kalypso get {}` lists them", kind.words().1)).into());
    }
    match kind {
        ListedKind::Assignment => {
            let message = "`kalypso explain` describes assignments".to_owned();
            let help = format!("kalypso explain -e ENV {}", names.first().unwrap_or(&""));
            Err(Failure::usage(message).help(help).into())
        }
        ListedKind::Value => Err(Failure::usage("`kalypso get values --key KEY` lists values").into()),
        _ => Ok(names.into_iter().map(|name| (kind, name.to_owned())).collect()),
    }
}

/// The one kind that has an object of this name.
fn kind_of(name: &str, prepared: &[Prepared]) -> Result<(ListedKind, String), Failure> {
    let has = |kind: &ListedKind| prepared.iter().any(|one| objects(*kind, one).any(|other| **other.name() == *name));
    let kinds: Vec<_> = ListedKind::ALL.into_iter().filter(has).collect();
    match kinds.as_slice() {
        // A registration often has the name of its workload, whose description names the registration.
        [kind] | [kind @ ListedKind::Workload, ListedKind::Registration] => Ok((*kind, name.to_owned())),
        [] => Err(not_found(name, prepared)),
        several => {
            let all: Vec<_> = several.iter().map(|kind| format!("{}/{name}", kind.words().0)).collect();
            Err(Failure::refused(format!("several objects have the name `{name}`")).help(all.join(", ")))
        }
    }
}

fn not_found(name: &str, prepared: &[Prepared]) -> Failure {
    let mut known: BTreeMap<String, ListedKind> = BTreeMap::new();
    for kind in ListedKind::ALL {
        known.extend(prepared.iter().flat_map(|one| objects(kind, one)).map(|other| (other.name().to_string(), kind)));
    }
    let failure = Failure::refused(format!("there is no object `{name}`"));
    if let Some(meaning) = prepared.iter().find_map(|one| one.meaning(name)) {
        return failure.help(format!("`{name}` is {meaning}"));
    }
    match nearest(name, known.keys().map(String::as_str)) {
        Some(near) => {
            let kind = known.get(near).map_or("", |kind| kind.words().0);
            failure.help(format!("did you mean `{kind}/{near}`?"))
        }
        None => failure.help("`kalypso get KIND` lists the objects of a kind"),
    }
}

/// The wanted objects of an environment.
fn described(wanted: &BTreeSet<(ListedKind, String)>, prepared: &Prepared) -> Vec<DescribedObject> {
    let of = |(kind, name): &(ListedKind, String)| {
        let found: Vec<_> = objects(*kind, prepared).filter(|listed| **listed.name() == **name).collect();
        found.into_iter().map(|listed| DescribedObject { kind: *kind, listed }).collect::<Vec<_>>()
    };
    wanted.iter().flat_map(of).collect()
}

fn warn_unknown(kind: ListedKind, name: &str, prepared: &[Prepared]) {
    terminal::note(&format!("error: there is no {} `{name}`", kind.words().0.replace('-', " ")));
    let known: BTreeSet<String> =
        prepared.iter().flat_map(|one| objects(kind, one)).map(|listed| listed.name().to_string()).collect();
    let meaning = prepared.iter().find_map(|one| one.meaning(name));
    let near = || nearest(name, known.iter().map(String::as_str));
    if let Some(meaning) = meaning {
        terminal::note(&format!("  = help: `{name}` is {meaning}"));
    } else if let Some(near) = near() {
        terminal::note(&format!("  = help: did you mean `{}/{near}`?", kind.words().0));
    }
}
