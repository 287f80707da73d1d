//! The files of an archive of a chart, as `helm package` writes it: `tar`, compressed with gzip.

use std::io::Read as _;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use model::source::Source;
use tar::{Archive, EntryType};

use super::{FileSet, FilesError, Reading, normalized};
use crate::limits::FILES_BYTES_MAX;

/// The patterns of files that are not packaged. In an archive they have no meaning: a folder with them would lose files.
const IGNORE_FILE: &str = ".helmignore";

impl FileSet {
    /// The files of an archive. All of them are in one folder, which has the name of the chart. It is not part of their paths.
    ///
    /// # Errors
    /// If the archive is damaged, if an entry leads out of the folder or is a link, or if it exceeds a limit.
    pub fn of_archive(content: &[u8], source: &Arc<Source>) -> Result<Self, FilesError> {
        let unreadable = |error: std::io::Error| FilesError::Archive(error.to_string());
        let mut reading = Reading::new("");
        // Headers, names and padding count too, so that an archive without files ends as well.
        let unpacked = MultiGzDecoder::new(content).take(FILES_BYTES_MAX * 2);
        let mut archive = Archive::new(unpacked);
        for entry in archive.entries().map_err(unreadable)? {
            let mut entry = entry.map_err(unreadable)?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            match entry.header().entry_type() {
                EntryType::Regular => {}
                EntryType::Directory | EntryType::XGlobalHeader => continue,
                // A link could lead to any file of the machine.
                _ => {
                    let name = name.escape_debug();
                    return Err(FilesError::Archive(format!("`{name}` is a link or a device, not a file")));
                }
            }
            let path = normalized(&name)
                .ok_or_else(|| FilesError::Archive(format!("`{}` leads out of the chart", name.escape_debug())))?;
            let (_, path) = path
                .split_once('/')
                .ok_or_else(|| FilesError::Archive(format!("`{path}` is not in the folder of the chart")))?;
            if path == IGNORE_FILE {
                continue;
            }
            reading.enter(path).map_err(too_much)?;
            let mut content = Vec::new();
            entry.by_ref().take(reading.room() + 1).read_to_end(&mut content).map_err(unreadable)?;
            reading.add(source, path.to_owned(), content.into()).map_err(too_much)?;
        }
        Ok(reading.files)
    }
}

/// The error of a limit, without the folder: an archive has none.
fn too_much(error: FilesError) -> FilesError {
    match error {
        FilesError::TooMuch { limit, .. } => FilesError::Archive(format!("it has more than {limit}")),
        error => error,
    }
}

#[cfg(test)]
mod tests;
