//! `kalypso add template`: adds a template that is ready to use.

use std::fmt::Write as _;

use authoring::additions::PlacedObject;
use authoring::file_edits::FileEdits;
use authoring::scaffold::Pack;
use authoring::scaffold::packs::ALL;
use model::kind::Kind;
use model::name::TemplateName;
use workbench::answers::template_packs::TemplatePacks;

use crate::arguments::{AddTemplate, Format};
use crate::commands::branch_edit::{BranchEdit, EditVerb, OpenBranch, name};
use crate::exit::{Exit, Failure};
use crate::terminal;

pub(in crate::commands) fn add(options: &AddTemplate) -> anyhow::Result<Exit> {
    let Some(text) = &options.pack else { return list(options.edit.output) };
    let pack = Pack::find(text).ok_or_else(|| unknown(text))?;
    let given: Option<TemplateName> = options.name.as_deref().map(|text| name(text, "template")).transpose()?;
    let template = given.as_ref().map_or(pack.template, TemplateName::as_str);
    let file = pack.file(given.as_ref());
    let open = OpenBranch::new(&options.edit, None)?;
    let found = open.files().find(Kind::Template, template).map(|found| found.path.to_string());
    let taken = found.or_else(|| open.branch.read(&file.path).ok().flatten().map(|_| file.path.clone()));
    if let Some(path) = taken {
        let message = format!("there is a template `{template}` in {}", open.branch.shown(&path));
        return Err(Failure::refused(message).help("give the new one another name: --as NAME").into());
    }
    let mut files = FileEdits::default();
    let object = PlacedObject { kind: Kind::Template, name: template.into(), path: file.path.as_str().into() };
    files.write(file.path, file.text.into_bytes());
    let notes = vec![format!("cluster types name it: {}: {template}", pack.role.field())];
    let edit = BranchEdit::new(EditVerb::Add, vec![object], files, format!("template-{template}"));
    open.finish(Ok(BranchEdit { notes, ..edit }), &options.edit)
}

fn unknown(text: &str) -> Failure {
    let names: Vec<_> = ALL.iter().map(|pack| pack.name).collect();
    let packs = format!("the packs are {}", names.join(", "));
    Failure::usage(format!("there is no template pack `{text}`")).did_you_mean(text, names, packs)
}

fn list(format: Format) -> anyhow::Result<Exit> {
    let answer = TemplatePacks::all();
    if format == Format::Human {
        let width = answer.packs.iter().map(|pack| pack.name.len()).max().unwrap_or_default();
        let mut text = String::new();
        for pack in answer.packs {
            let _ = writeln!(text, "{:width$}  {:<16}  {}", pack.name, pack.field, pack.summary);
        }
        terminal::answer(&text)?;
    } else {
        terminal::answer(&terminal::structured(&answer, format))?;
    }
    Ok(Exit::Good)
}
