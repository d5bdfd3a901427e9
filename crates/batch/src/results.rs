//! Results on disk: a database of SQLite, with a row for each finished job.
//!
//! A row is written as a whole when its job is finished, so that a kill at any moment loses at most the jobs
//! that run. One batch at a time writes: the database is locked while it is open.

use crate::job::{Job, Verdict};
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use std::path::{Path, PathBuf};

/// What marks our files: `tprf`.
const APPLICATION: i32 = 0x7470_7266;
/// The version of the tables.
const VERSION: i32 = 1;

/// The answer of a finished job, and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// The answer.
    pub verdict: Verdict,
    /// Seconds by the clock.
    pub seconds: f64,
    /// Seconds of processor time.
    pub cpu_seconds: f64,
    /// The most memory that was used, in bytes.
    pub bytes: u64,
    /// Whether the answer came from a cache.
    pub is_cached: bool,
}

/// The results of a folder.
#[derive(Debug)]
pub struct Results {
    path: PathBuf,
    connection: Connection,
}

impl Results {
    /// Opens the database, or makes it. Says why that is not possible.
    pub fn open(path: &Path) -> Result<Self, String> {
        let fail = |error| message(path, &error);
        let connection = Connection::open(path).map_err(fail)?;
        let results = Self { path: path.to_owned(), connection };
        results.prepare().map_err(fail)?.map_err(|why| format!("{}: {why}", path.display()))?;
        Ok(results)
    }

    /// Locks the database and makes its table; refuses other files.
    fn prepare(&self) -> rusqlite::Result<Result<(), String>> {
        let number =
            |name: &str| self.connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i32>(0));
        // A batch that writes does so for long: waiting for it is no use.
        self.connection.busy_timeout(std::time::Duration::ZERO)?;
        // The lock lasts from the first change on.
        self.connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        self.connection.execute_batch("BEGIN EXCLUSIVE")?;
        let tables = "SELECT count(*) FROM sqlite_schema";
        let is_new = self.connection.query_row(tables, [], |row| row.get::<_, i32>(0))? == 0;
        if !is_new && (number("application_id")?, number("user_version")?) != (APPLICATION, VERSION) {
            let text = "it is no database of results of this version; name another folder by --output";
            return Ok(Err(text.to_owned()));
        }
        if is_new {
            self.connection.pragma_update(None, "application_id", APPLICATION)?;
            self.connection.pragma_update(None, "user_version", VERSION)?;
            self.connection.execute_batch(
                "CREATE TABLE result (
                    id TEXT PRIMARY KEY, name TEXT NOT NULL, property TEXT NOT NULL, verdict TEXT NOT NULL,
                    detail TEXT NOT NULL, seconds REAL NOT NULL, cpu_seconds REAL NOT NULL, bytes INTEGER NOT NULL,
                    cached INTEGER NOT NULL, finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
                ) WITHOUT ROWID",
            )?;
        }
        self.connection.execute_batch("COMMIT")?;
        Ok(Ok(()))
    }

    /// The result of a job, if it is finished.
    pub fn get(&self, id: &str) -> Result<Option<Finished>, String> {
        let query = "SELECT verdict, detail, seconds, cpu_seconds, bytes, cached FROM result WHERE id = ?1";
        let row = self.connection.query_row(query, [id], |row| {
            let (word, detail): (String, String) = (row.get(0)?, row.get(1)?);
            Ok(Verdict::of(&word, &detail).map(|verdict| -> rusqlite::Result<Finished> {
                Ok(Finished {
                    verdict,
                    seconds: row.get(2)?,
                    cpu_seconds: row.get(3)?,
                    bytes: row.get::<_, i64>(4)? as u64,
                    is_cached: row.get(5)?,
                })
            }))
        });
        let found = row.optional().and_then(|found| found.flatten().transpose());
        found.map_err(|error| message(&self.path, &error))
    }

    /// Records the result of a job; it is on disk afterwards.
    pub fn put(&self, id: &str, job: &Job, finished: &Finished) -> Result<(), String> {
        let insert = "INSERT OR REPLACE INTO result
            (id, name, property, verdict, detail, seconds, cpu_seconds, bytes, cached)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let Finished { verdict, seconds, cpu_seconds, bytes, is_cached } = finished;
        let values = params![
            id,
            job.name,
            job.asked.name(),
            verdict.word(),
            verdict.detail(),
            seconds,
            cpu_seconds,
            *bytes as i64,
            is_cached,
        ];
        self.connection.execute(insert, values).map_err(|error| message(&self.path, &error))?;
        Ok(())
    }

    /// Records the results of several jobs, all or none: it is the waiting for the disk that takes long.
    pub fn put_all<'a>(
        &self,
        all: impl IntoIterator<Item = (&'a str, &'a Job, &'a Finished)>,
    ) -> Result<(), String> {
        let fail = |error| message(&self.path, &error);
        let transaction = self.connection.unchecked_transaction().map_err(fail)?;
        for (id, job, finished) in all {
            self.put(id, job, finished)?;
        }
        transaction.commit().map_err(fail)
    }

    /// Forgets the result of a job.
    pub fn forget(&self, id: &str) -> Result<(), String> {
        let delete = "DELETE FROM result WHERE id = ?1";
        self.connection.execute(delete, [id]).map_err(|error| message(&self.path, &error))?;
        Ok(())
    }
}

/// What is wrong with the database, and what to do about it.
fn message(path: &Path, error: &rusqlite::Error) -> String {
    let why = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another batch writes to it; wait for its end, or name another folder by --output".to_owned()
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            "it is no database; name another folder by --output".to_owned()
        }
        Some(ErrorCode::DiskFull) => "the disk is full; free some space, and run it again".to_owned(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            "it cannot be written; name another folder by --output".to_owned()
        }
        Some(_) | None => error.to_string(),
    };
    format!("{}: {why}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Asked, Limits};

    fn job() -> Job {
        Job {
            name: "a".to_owned(),
            files: Vec::new(),
            asked: Asked::Check("races".to_owned()),
            options: Vec::new(),
            limits: Limits { seconds: 1.0, megabytes: 1 },
            expected: None,
            is_cacheable: true,
        }
    }

    #[test]
    fn results_stay_and_one_batch_writes() {
        let path = std::env::temp_dir().join(format!("threadproof-results-{}.sqlite", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let finished = Finished {
            verdict: Verdict::Unknown("out of time".to_owned()),
            seconds: 1.5,
            cpu_seconds: 2.5,
            bytes: 1 << 33,
            is_cached: true,
        };
        let results = Results::open(&path).expect("it is made");
        assert_eq!(results.get("1"), Ok(None));
        results.put("1", &job(), &finished).expect("it is written");
        let second = Results::open(&path).expect_err("it is locked");
        assert!(second.contains("another batch writes to it"), "{second}");
        drop(results);
        let results = Results::open(&path).expect("it is there");
        assert_eq!(results.get("1"), Ok(Some(finished)));
        results.forget("1").expect("it is there");
        assert_eq!(results.get("1"), Ok(None));
        drop(results);
        std::fs::write(&path, "some text, and not a database at all").expect("it can be written");
        let other = Results::open(&path).expect_err("it is no database");
        assert!(other.contains("it is no database"), "{other}");
        std::fs::remove_file(&path).expect("it is there");
        let foreign = Connection::open(&path).expect("it is made");
        foreign.execute_batch("CREATE TABLE mine (x)").expect("it is made");
        drop(foreign);
        let other = Results::open(&path).expect_err("it is not ours");
        assert!(other.contains("no database of results"), "{other}");
        std::fs::remove_file(&path).expect("it is there");
    }
}
