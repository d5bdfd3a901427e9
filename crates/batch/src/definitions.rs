//! Task definitions of BenchExec, as the Competition on Software Verification uses them.

use crate::job::{Expected, stem};
use crate::plan::{matches, unreadable};
use ir::diagnostic::{Diagnostic, Kind};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What a task definition says.
pub(crate) struct Definition {
    /// The files of the program.
    pub files: Vec<PathBuf>,
    /// The properties that have an expected verdict, with it.
    pub properties: Vec<(PathBuf, Expected)>,
    /// The data model, if it is named.
    pub data_model: Option<String>,
}

#[derive(Deserialize)]
struct Document {
    input_files: Files,
    #[serde(default)]
    properties: Vec<Property>,
    #[serde(default)]
    options: Options,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Files {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
struct Property {
    property_file: String,
    expected_verdict: Option<bool>,
    subproperty: Option<String>,
}

#[derive(Deserialize, Default)]
struct Options {
    data_model: Option<String>,
}

/// Whether a file with this ending is a task definition: other YAML files are none.
pub(crate) fn is_definition(path: &Path) -> bool {
    let has_ending = path.extension().is_some_and(|ending| ending == "yml" || ending == "yaml");
    // What cannot be read is reported when it is.
    has_ending && std::fs::read_to_string(path).map_or(true, |text| text.contains("input_files"))
}

/// Reads a task definition.
pub(crate) fn read(path: &Path) -> Result<Definition, Diagnostic> {
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    let document: Document = serde_saphyr::from_str(&text).map_err(|error| {
        let place = error.location().map_or((0, 0), |at| (at.line() as u32, at.column() as u32));
        let message = error.to_string();
        let first = message.lines().next().unwrap_or("it is no task definition").to_owned();
        Diagnostic::at(path, place, Kind::Text, first)
            .help("task definitions have `input_files` and `properties`")
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let patterns = match document.input_files {
        Files::One(pattern) => vec![pattern],
        Files::Many(patterns) => patterns,
    };
    let mut files = Vec::new();
    for pattern in &patterns {
        files.extend(matches(folder, pattern).map_err(|why| Diagnostic::of_file(path, Kind::File, why))?);
    }
    let mut properties = Vec::new();
    for Property { property_file, expected_verdict, subproperty } in document.properties {
        // Properties without a verdict are goals of test generators.
        if let Some(holds) = expected_verdict {
            properties.push((folder.join(property_file), Expected { holds, part: subproperty }));
        }
    }
    Ok(Definition { files, properties, data_model: document.options.data_model })
}

impl Definition {
    /// The properties that are asked for, by the names of their files; all, if none is.
    pub(crate) fn asked(&self, names: &[PathBuf]) -> Vec<(PathBuf, Expected)> {
        let is_asked = |path: &Path| names.is_empty() || names.iter().any(|name| stem(name) == stem(path));
        self.properties.iter().filter(|(path, _)| is_asked(path)).cloned().collect()
    }
}
