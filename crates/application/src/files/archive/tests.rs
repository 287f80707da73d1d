//! Tests of archives, also of hostile ones.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};

use super::*;
use crate::limits::FILES_MAX;

/// An archive with entries of these types, names and contents. Names are written as they are.
fn archive(entries: &[(EntryType, &str, &str)]) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (kind, name, content) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        if matches!(kind, EntryType::Link | EntryType::Symlink) {
            header.set_link_name("target").unwrap();
        }
        header.set_cksum();
        builder.append(&header, content.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

fn check(content: &[u8], expected: Result<&[&str], &str>) {
    let found = FileSet::of_archive(content, &Arc::new(Source::directory()));
    let found = found.map(|files| files.iter().map(|(path, _)| path.to_string()).collect::<Vec<_>>());
    let expected = expected.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect());
    assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
}

#[test]
fn files_have_their_paths_in_the_chart() {
    let content = archive(&[
        (EntryType::Directory, "db/", ""),
        (EntryType::Regular, "db/Chart.yaml", "name: db\n"),
        (EntryType::Regular, "db/templates/a.yaml", "a"),
        (EntryType::Regular, "db/.helmignore", "*"),
    ]);
    check(&content, Ok(&["Chart.yaml", "templates/a.yaml"]));
}

#[test]
fn entries_that_lead_outside_are_refused() {
    for name in ["db/../../etc/passwd", "/etc/passwd", "db\\..\\x", "../x"] {
        let content = archive(&[(EntryType::Regular, name, "x")]);
        let message = format!("the archive can't be read: `{}` leads out of the chart", name.escape_debug());
        check(&content, Err(&message));
    }
    let content = archive(&[(EntryType::Regular, "Chart.yaml", "x")]);
    check(&content, Err("the archive can't be read: `Chart.yaml` is not in the folder of the chart"));
}

#[test]
fn links_and_devices_are_refused() {
    for kind in [EntryType::Symlink, EntryType::Link, EntryType::Fifo] {
        let message = "the archive can't be read: `db/a` is a link or a device, not a file";
        check(&archive(&[(kind, "db/a", "")]), Err(message));
    }
}

#[test]
fn archives_have_a_limit_of_files() {
    let many: Vec<_> = (0..=FILES_MAX).map(|number| format!("db/{number}")).collect();
    let many: Vec<_> = many.iter().map(|name| (EntryType::Regular, name.as_str(), "")).collect();
    check(&archive(&many), Err("the archive can't be read: it has more than 20000 files"));
}

#[test]
fn a_bomb_ends_at_the_limit() {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    let mut header = Header::new_gnu();
    header.set_path("db/a").unwrap();
    header.set_size(FILES_BYTES_MAX * 4);
    header.set_cksum();
    bomb.write_all(header.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    (0..FILES_BYTES_MAX >> 19).for_each(|_| bomb.write_all(&zeros).unwrap());
    check(&bomb.finish().unwrap(), Err("the archive can't be read: it has more than 128 MiB"));
}

#[test]
fn damaged_archives_are_errors() {
    let whole = archive(&[(EntryType::Regular, "db/Chart.yaml", &"x".repeat(2_000))]);
    for content in [&whole[..whole.len() / 2], b"<html>".as_slice(), b""] {
        assert!(FileSet::of_archive(content, &Arc::new(Source::directory())).is_err());
    }
}
