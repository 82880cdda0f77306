//! Files in and out: `-` is standard input or output, and a file appears whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use crate::json::{Document, Malformed, from_json, top_fields};
use crate::pb;

/// Most names tried for a temporary file; names are taken only by runs that were killed under the same process id.
const TEMPORARY_NAMES_MAX: u32 = 100;

/// The text of a file, and what to call it in messages.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) name: String,
    text: String,
}

impl Source {
    /// Reads it whole.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let mut bytes = Vec::new();
        let name = if is_dash(path) {
            let name = name(path);
            let read = io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|cause| Failure::read(Path::new(&name), cause))?;
            name
        } else {
            bytes = fs::read(path).map_err(|cause| Failure::read(path, cause))?;
            name(path)
        };
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Source { name, text }),
            Err(_) => Err(Failure::NotText(name)),
        }
    }

    /// The text, without the byte order mark that some editors put in front.
    pub(super) fn text(&self) -> &str {
        self.text.strip_prefix('\u{feff}').unwrap_or(&self.text)
    }

    /// The one message that the text holds.
    pub(super) fn message<M: Document>(&self) -> Result<M, Failure> {
        from_json(self.text()).map_err(|malformed| self.malformed(malformed))
    }

    /// A plan: an `OptimizeResponse`, or its `plan` alone; and where in the file the plan's own fields begin.
    pub(super) fn plan(&self) -> Result<(pb::OptimizeResponse, &'static str), Failure> {
        if self.has_any(&["plan", "report"])? {
            return Ok((self.message()?, "plan."));
        }
        let response = pb::OptimizeResponse {
            plan: Some(self.message()?),
            report: None,
        };
        Ok((response, ""))
    }

    /// Whether the message has any of these fields.
    pub(super) fn has_any(&self, names: &[&str]) -> Result<bool, Failure> {
        let fields = top_fields(self.text()).map_err(|malformed| self.malformed(malformed))?;
        Ok(fields.iter().any(|field| names.contains(&field.as_str())))
    }

    fn malformed(&self, malformed: Malformed) -> Failure {
        let file = self.name.clone();
        Failure::Malformed { file, malformed }
    }
}

/// Standard input can be read once.
pub(super) fn only_one_dash(paths: &[&Path]) -> Result<(), Failure> {
    if paths.iter().filter(|path| is_dash(path)).count() > 1 {
        let text = "standard input (-) can be only one of the files";
        return Err(Failure::Usage(text.to_owned()));
    }
    Ok(())
}

/// What to call a file to be read in messages.
pub(super) fn name(path: &Path) -> String {
    if is_dash(path) {
        return "standard input".to_owned();
    }
    path.display().to_string()
}

pub(super) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes to standard output. A reader that has left is [`Failure::Closed`].
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|cause| match cause.kind() {
        io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::write(Path::new("standard output"), cause),
    })
}

/// Writes to standard error. A reader that has left is nobody to tell.
pub(super) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes a file, which then holds either all of `text` or what it held before. What is no regular file (a device,
/// a pipe) is written in place.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if is_dash(path) {
        return print(text);
    }
    let written = match fs::metadata(path) {
        Ok(found) if !found.is_file() => fs::write(path, text),
        Ok(found) => fs::canonicalize(path)
            .and_then(|target| replace(&target, text, Some(found.permissions()))),
        Err(_) => replace(path, text, None),
    };
    written.map_err(|cause| Failure::write(path, cause))
}

fn replace(target: &Path, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    let (temporary, mut file) = temporary(target)?;
    let fill = || {
        file.write_all(text.as_bytes())?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        fs::rename(&temporary, target)
    };
    let written = fill();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A new file beside `target`, so that the rename stays within one file system.
fn temporary(target: &Path) -> io::Result<(PathBuf, File)> {
    let Some(name) = target.file_name() else {
        return Err(io::Error::from(io::ErrorKind::InvalidFilename));
    };
    let mut attempt = 0;
    loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{attempt}.tmp", std::process::id()));
        let path = target.with_file_name(hidden);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && attempt < TEMPORARY_NAMES_MAX =>
            {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}
