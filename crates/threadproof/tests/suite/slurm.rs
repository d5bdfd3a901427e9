//! Batches on a cluster: a real Slurm with two nodes on this machine, of which one is killed in the middle.

use crate::batch::{Folder, LOCKED, RACE, gate, processes};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines};
use std::net::TcpListener;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// The daemons of a cluster with the nodes `n1` and `n2`, each for one job at a time.
struct Cluster {
    daemons: Vec<Child>,
    configuration: PathBuf,
}

impl Cluster {
    fn start(folder: &Folder) -> Self {
        let place = folder.path("cluster");
        for name in ["state", "n1", "n2"] {
            std::fs::create_dir_all(place.join(name)).expect("folders can be made");
        }
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        let key = place.join("munge.key");
        std::fs::write(&key, [42; 128]).expect("a file can be written");
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
        let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("there is a free port"));
        let [controller, one, two] =
            listeners.map(|listener| listener.local_addr().expect("it has a port").port());
        let user = Command::new("id").arg("-un").output().expect("there is id").stdout;
        let user = String::from_utf8_lossy(&user).trim().to_owned();
        let shown = place.display();
        let node = |name: &str, port: u16| {
            format!(
                "NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=100000\n"
            )
        };
        let configuration = place.join("slurm.conf");
        let text = format!(
            "ClusterName=test\nSlurmctldHost=localhost\nSlurmUser={user}\nSlurmdUser={user}\n\
            AuthType=auth/munge\nAuthInfo=socket={shown}/munge.socket\nCredType=cred/munge\n\
            StateSaveLocation={shown}/state\nSlurmdSpoolDir={shown}/%n\n\
            SlurmctldPidFile={shown}/slurmctld.pid\nSlurmdPidFile={shown}/%n.pid\n\
            SlurmctldPort={controller}\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
            MpiDefault=none\nSwitchType=switch/none\nSelectType=select/cons_tres\n\
            SelectTypeParameters=CR_CPU\nSlurmdParameters=config_overrides\nReturnToService=2\n\
            SlurmdTimeout=10\nKillWait=2\nMinJobAge=3000\n\
            SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0\n\
            {}{}PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP\n",
            node("n1", one),
            node("n2", two)
        );
        std::fs::write(&configuration, text).expect("a file can be written");
        let mut cluster = Self { daemons: Vec::new(), configuration };
        let munge = ["socket", "key-file", "log-file", "pid-file", "seed-file"];
        let names = ["munge.socket", "munge.key", "munge.log", "munge.pid", "munge.seed"];
        let options = munge.iter().zip(names).map(|(option, name)| format!("--{option}={shown}/{name}"));
        cluster.daemon(
            "munged",
            &[&["--foreground".to_owned(), "--force".to_owned()][..], &options.collect::<Vec<_>>()].concat(),
        );
        cluster.wait_until("munged listens", |_| place.join("munge.socket").exists());
        cluster.daemon("slurmctld", &["-D".to_owned()]);
        for name in ["n1", "n2"] {
            cluster.daemon("slurmd", &["-D".to_owned(), "-N".to_owned(), name.to_owned()]);
        }
        cluster.wait_until("both nodes are idle", |cluster| {
            let states = cluster.ask("sinfo", &["--noheader", "--Node", "--format=%T"]);
            states.lines().filter(|line| *line == "idle").count() == 2
        });
        cluster
    }

    /// Starts a daemon, whose messages are in a file of its name.
    fn daemon(&mut self, name: &str, words: &[String]) {
        let log = self.configuration.with_file_name(format!("{name}-{}.out", self.daemons.len()));
        let log = std::fs::File::create(log).expect("a file can be written");
        let mut command = self.command(&format!("/usr/sbin/{name}"));
        command.args(words).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("it is open")).stderr(log);
        self.daemons.push(command.spawn().expect("Slurm is installed: cargo xtask setup"));
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", &self.configuration);
        command
    }

    /// What a command of Slurm prints.
    fn ask(&self, program: &str, words: &[&str]) -> String {
        let output = self.command(program).args(words).output().expect("Slurm is installed");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits for a condition; a generous limit ends a test that would never end.
    fn wait_until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        for _ in 0..6000 {
            if holds(self) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let state =
            self.ask("scontrol", &["show", "nodes"]) + &self.ask("squeue", &["--states=all", "--array"]);
        panic!("{what}: it never came\n{state}");
    }

    /// The states of all elements that were ever submitted, and how many have each.
    fn states(&self) -> BTreeMap<String, usize> {
        let mut states = BTreeMap::new();
        let said = self.ask("squeue", &["--noheader", "--array", "--states=all", "--format=%T"]);
        said.lines().for_each(|state| *states.entry(state.to_owned()).or_default() += 1);
        states
    }

    /// Whether nothing waits or runs.
    fn is_idle(&self) -> bool {
        self.ask("squeue", &["--noheader"]).trim().is_empty()
    }

    /// Kills a node: its daemon, those that watch its jobs, and then its jobs.
    fn kill_node(&mut self, number: usize) {
        let daemon = &mut self.daemons[1 + number];
        daemon.kill().expect("it runs");
        daemon.wait().expect("it ended");
        assert!(self.kill_jobs(&format!("SLURMD_NODENAME=n{number}")) > 0, "something runs there");
    }

    /// Kills the jobs with this word in their environment, and first those that watch them. How many there
    /// are.
    fn kill_jobs(&self, mark: &str) -> usize {
        let ours = format!("SLURM_CONF={}", self.configuration.display());
        let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
        let all = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let jobs: Vec<i32> = all
            .filter(|id| {
                let bytes = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
                let text = String::from_utf8_lossy(&bytes).into_owned();
                [mark, &ours].iter().all(|word| text.split('\0').any(|known| known == *word))
            })
            .collect();
        let parent = |id: &i32| -> Option<i32> {
            let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            text.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
        };
        let is_watcher = |id: &i32| {
            let name = std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
            name.starts_with("slurmstepd")
        };
        let watchers: Vec<i32> = jobs.iter().filter_map(parent).filter(is_watcher).collect();
        for id in watchers.iter().chain(&jobs) {
            // Some end with those before them.
            let _ = kill(Pid::from_raw(*id), Signal::SIGKILL);
        }
        watchers.len().min(jobs.len())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ = kill(Pid::from_raw(daemon.id() as i32), Signal::SIGTERM);
            let _ = daemon.wait();
        }
        for number in [1, 2] {
            self.kill_jobs(&format!("SLURMD_NODENAME=n{number}"));
        }
    }
}

/// Six programs, of which the third and the fifth wait at gates.
fn gated(folder: &Folder) {
    for number in 1..=6 {
        let text = if number % 2 == 0 { RACE } else { LOCKED };
        let before = match number {
            3 | 5 => format!("#include \"gate{number}.h\"\n"),
            _ => format!("int n = {number};\n"),
        };
        folder.write(&format!("src/{number}.c"), &(before + text));
    }
    close_gates(folder);
}

fn close_gates(folder: &Folder) {
    for number in [3, 5] {
        let path = folder.path(&format!("src/gate{number}.h"));
        let _ = std::fs::remove_file(&path);
        gate(&path);
    }
}

/// Opens the gates for those who wait and for those who come.
fn open_gates(folder: &Folder) {
    for number in [3, 5] {
        let [path, old] = ["", ".old"].map(|end| folder.path(&format!("src/gate{number}.h{end}")));
        std::fs::hard_link(&path, &old).expect("it is there");
        folder.write("empty", "");
        std::fs::rename(folder.path("empty"), &path).expect("it is there");
        // It fails where nobody waits; whoever waits reads that there is nothing.
        let _ = std::fs::OpenOptions::new().write(true).custom_flags(nix::libc::O_NONBLOCK).open(&old);
        std::fs::remove_file(&old).expect("it is there");
    }
}

const ON_SLURM: [&str; 10] = [
    "batch",
    "src",
    "--check",
    "races",
    "--no-cache",
    "--on",
    "slurm",
    "--sbatch=--cpus-per-task=1",
    "--timeout",
    "1000",
];

/// Starts a batch; its lines.
fn start(folder: &Folder, cluster: &Cluster, output: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let words = [&ON_SLURM[..], &["--output", output]].concat();
    let mut command = folder.command(&words);
    command.env("SLURM_CONF", &cluster.configuration).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    let lines = BufReader::new(child.stdout.take().expect("it is a pipe")).lines();
    (child, lines)
}

/// Reads lines until one contains this text.
fn until(lines: &mut Lines<BufReader<ChildStdout>>, text: &str) -> Vec<String> {
    let mut seen = Vec::new();
    for line in lines {
        seen.push(line.expect("it is text"));
        if seen.last().is_some_and(|line| line.contains(text)) {
            return seen;
        }
    }
    panic!("`{text}` was not said\n{}", seen.join("\n"));
}

/// Reads all lines until the end; the status.
fn rest(mut child: Child, lines: Lines<BufReader<ChildStdout>>) -> (Option<i32>, Vec<String>) {
    let lines = lines.map(|line| line.expect("it is text")).collect();
    (child.wait().expect("it ended").code(), lines)
}

/// How many jobs nodes have begun with and not finished, in the arrays of a batch.
fn under_way(folder: &Folder, output: &str) -> usize {
    let waves = std::fs::read_dir(folder.path(output).join("slurm")).into_iter().flatten().flatten();
    let results = waves.flat_map(|wave| std::fs::read_dir(wave.path().join("results")).into_iter().flatten());
    let names: Vec<PathBuf> = results.flatten().map(|entry| entry.path()).collect();
    let count =
        |ending| names.iter().filter(|name| name.extension().is_some_and(|end| end == ending)).count();
    count("begun") - count("json")
}

/// The names of the checks in these lines, in order.
fn checks(lines: &[String]) -> Vec<String> {
    let lines = lines.iter().filter(|line| line.starts_with('['));
    let mut names: Vec<String> =
        lines.map(|line| line.split("  ").last().unwrap_or_default().to_owned()).collect();
    names.sort();
    names
}

/// What is counted of the states of elements.
fn counted(states: &[(&str, usize)]) -> BTreeMap<String, usize> {
    states.iter().map(|(state, count)| ((*state).to_owned(), *count)).collect()
}

#[test]
fn batches_on_slurm_lose_nothing_and_repeat_nothing() {
    let folder = Folder::new("slurm");
    gated(&folder);
    let mut cluster = Cluster::start(&folder);
    let all: Vec<String> = (1..=6).map(|number| format!("{number}.c: races")).collect();

    // The batch is killed while two checks wait at gates, and one in the queue.
    let (mut child, mut lines) = start(&folder, &cluster, "out");
    let mut seen = until(&mut lines, "[3/6]");
    assert_eq!(seen[0], "6 checks are submitted to Slurm, in 6 jobs");
    child.kill().expect("it runs");
    child.wait().expect("it ended");
    cluster.wait_until("two checks are at gates", |_| under_way(&folder, "out") == 2);
    // It is no matter for this machine alone.
    let (status, _, error) =
        folder.run(&["batch", "src", "--check", "races", "--no-cache", "--output", "out"]);
    assert!(status == 3 && error.contains("continue with --on slurm"), "{error}");
    // Another run continues. One of its nodes dies.
    let (child, mut lines) = start(&folder, &cluster, "out");
    let said = until(&mut lines, "in the hands of Slurm already");
    assert_eq!(
        said,
        [
            "3 of 6 checks are finished already (--fresh runs them again)",
            "3 checks are in the hands of Slurm already"
        ]
    );
    cluster.kill_node(2);
    let said = until(&mut lines, "submitted to Slurm");
    assert_eq!(said, ["1 checks were lost on the cluster", "1 checks are submitted to Slurm, in 1 jobs"]);
    open_gates(&folder);
    let (status, last) = rest(child, lines);
    assert_eq!(status, Some(1), "{last:?}");
    seen.extend(last);
    assert_eq!(checks(&seen), all);
    // What was lost ran twice, and nothing else did.
    assert_eq!(cluster.states(), counted(&[("COMPLETED", 6), ("NODE_FAIL", 1)]));
    assert!(!folder.path("out/slurm").exists());
    folder.run(&["batch", "src", "--check", "races", "--no-cache", "--output", "local"]);
    assert_eq!(folder.verdicts("out"), folder.verdicts("local"));

    // Ctrl-C cancels what is submitted; what is cancelled is submitted again later.
    close_gates(&folder);
    let (child, mut lines) = start(&folder, &cluster, "other");
    until(&mut lines, "submitted to Slurm");
    cluster.wait_until("a check is at a gate", |_| {
        under_way(&folder, "other") > 0 && folder.path("other/slurm").exists()
    });
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).expect("it runs");
    let (status, last) = rest(child, lines);
    assert_eq!(status, Some(130), "{last:?}");
    assert!(last.last().is_some_and(|line| line.starts_with("interrupted; ")), "{last:?}");
    assert!(cluster.is_idle());
    cluster.wait_until("its processes end", |_| processes(&folder.path("other")) == 0);
    let mut seen = last;

    // A batch that is killed at once: the cluster works without it, and the next run only collects.
    let (mut child, mut lines) = start(&folder, &cluster, "other");
    until(&mut lines, "submitted to Slurm");
    child.kill().expect("it runs");
    child.wait().expect("it ended");
    open_gates(&folder);
    cluster.wait_until("the cluster is done", Cluster::is_idle);
    let before = cluster.states();
    let (child, lines) = start(&folder, &cluster, "other");
    let (status, last) = rest(child, lines);
    assert_eq!((status, cluster.states()), (Some(1), before), "{last:?}");
    seen.extend(last);
    assert_eq!(checks(&seen), all);
    assert_eq!(folder.verdicts("other"), folder.verdicts("local"));
}

/// A folder with commands of Slurm that are scripts.
fn fakes(folder: &Folder, scripts: &[(&str, &str)]) -> String {
    for (name, script) in scripts {
        let name = format!("fakes/{name}");
        folder.write(
            &name,
            &format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n{script}\n", folder.path("log").display()),
        );
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(&name), executable).expect("it is ours");
    }
    format!("{}:/usr/bin:/bin", folder.path("fakes").display())
}

#[test]
fn what_is_lost_again_and_again_is_an_error() {
    let folder = Folder::new("lost");
    folder.write("src/a.c", LOCKED).write("src/b.c", RACE);
    // All that is submitted ends at once, in all jobs that are asked for by their arrays' names.
    let squeue = r#"for word; do case $word in --name=*) names=${word#--name=};; esac; done
        for name in $(echo "$names" | tr , ' '); do echo "$name|0|NODE_FAIL"; echo "$name|1|CANCELLED"; done"#;
    let path = fakes(&folder, &[("sbatch", "echo '7;here'"), ("squeue", squeue), ("scancel", "")]);
    let run = |path: &str| {
        let words = [&ON_SLURM[..], &["--output", "out", "--jobs", "5", "--sbatch=--account=me"]].concat();
        let output = folder.command(&words).env("PATH", path).output().expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (status, out, error) = run(&path);
    assert_eq!((status, error.as_str()), (Some(3), ""), "{out}");
    for name in ["a.c: races", "b.c: races"] {
        let line = format!("{name}: its jobs on the cluster were lost 3 times");
        assert!(out.contains(&line), "{line}\n{out}");
    }
    assert_eq!(out.matches("2 checks were lost on the cluster").count(), 2, "{out}");
    let log = std::fs::read_to_string(folder.path("log")).expect("they were called");
    assert_eq!(log.matches("/sbatch ").count(), 3, "{log}");
    let submitted = log.lines().find(|line| line.contains("/sbatch ")).unwrap_or_default();
    for word in ["--array=0-1%5 ", "--time=18 ", "--mem=4512M ", "--no-requeue ", "--account=me "] {
        assert!(submitted.contains(word), "{word}: {submitted}");
    }
    // Nothing is submitted where Slurm refuses, and nothing is left of it.
    let refuses = "echo 'sbatch: error: no such account' >&2; exit 1";
    let path = fakes(&folder, &[("sbatch", refuses), ("squeue", "")]);
    let (status, _, error) = run(&path);
    assert_eq!(status, Some(3));
    assert!(error.contains("sbatch: sbatch: error: no such account"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path("out/slurm")).map_or(0, Iterator::count), 0);
    let (status, _, error) = run("/nowhere");
    assert!(status == Some(3) && error.contains("sbatch: there is no such command"), "{error}");
}
