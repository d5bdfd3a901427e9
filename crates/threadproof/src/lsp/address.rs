//! URIs of files, as in the protocol.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The path of a file; `None` when the address is of something else.
pub fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // A host may be given; only the local one is supported.
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::new();
    let mut letters = rest.bytes();
    while let Some(byte) = letters.next() {
        match byte {
            b'%' => {
                let mut digit = || char::from(letters.next()?).to_digit(16);
                let (high, low) = (digit()?, digit()?);
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            b'?' | b'#' => break,
            byte => bytes.push(byte),
        }
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// The address of a file.
pub fn uri_of(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let text: String = path
        .as_os_str()
        .as_bytes()
        .iter()
        .map(|byte| if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    format!("file://{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths() {
        let path = Path::new("/tmp/a b/ü#.c");
        assert_eq!(uri_of(path), "file:///tmp/a%20b/%C3%BC%23.c");
        assert_eq!(path_of(&uri_of(path)).as_deref(), Some(path));
        assert_eq!(path_of("file:///x%3Ay?z#f"), Some(PathBuf::from("/x:y")));
        assert_eq!(path_of("untitled:one"), None);
        assert_eq!(path_of("file:///%4"), None);
    }
}
