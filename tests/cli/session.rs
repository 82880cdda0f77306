//! What the sessions share: runs of the binary, files that go again, goldens.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

/// A directory that goes when the test ends.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "shardflow-cli-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn json(&self, name: &str, value: &Value) -> String {
        self.file(name, &value.to_string())
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn shardflow(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shardflow"));
    command
        .args(arguments)
        .env("COLUMNS", "100")
        .env_remove("RUST_LOG");
    command
}

pub(crate) fn run(arguments: &[&str]) -> Session {
    run_with(arguments, "")
}

pub(crate) fn run_with(arguments: &[&str], stdin: &str) -> Session {
    let mut child = shardflow(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A run that fails early need not read its input.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    Session {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn case(id: &str) -> Value {
    let path = root().join("testdata/placement").join(format!("{id}.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

pub(crate) fn request(id: &str) -> Value {
    case(id)["request"].take()
}

pub(crate) fn read_json(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Compares with a golden, or writes it.
pub(crate) fn assert_golden(name: &str, text: &str) {
    let path = root().join("tests/goldens").join(name);
    if std::env::var_os("SHARDFLOW_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(golden, text, "{name}");
}

/// The text with numbers and letters that depend on machine or version masked.
pub(crate) fn masked(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = if line.starts_with("fingerprint ") {
            "fingerprint …".to_owned()
        } else if let Some((before, _)) = line.split_once(", work ") {
            format!("{before}, work …, … ms")
        } else if line.starts_with("work ") || line.starts_with("time ") {
            format!("{} …", &line[..4])
        } else {
            line.to_owned()
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// A server of this binary on a port of its own; it ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut child = shardflow(&["serve", "--listen", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = log.find_map(|line| {
            let line = line.unwrap();
            let (_, address) = line.split_once("serving address=")?;
            Some(address.to_owned())
        });
        // The log goes on: it must have a reader.
        std::thread::spawn(move || log.for_each(drop));
        let address = address.expect("the log names the address");
        Server { child, address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// 1,000 shards of 20 streams, most of them led by a few of 10 brokers on 3 zones, each with traffic from one zone.
pub(crate) fn crowded() -> Value {
    let mut state = 7_u64;
    let mut below = move |bound: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % bound
    };
    let brokers: Vec<Value> = (0..10)
        .map(|b| json!({"id": format!("b{b}"), "zone": format!("z{}", b % 3)}))
        .collect();
    let streams: Vec<Value> = (0..20).map(|s| json!({"id": format!("s{s}")})).collect();
    let shards: Vec<Value> = (0..1_000)
        .map(|i| {
            let leader = below(4) * below(4);
            json!({
                "id": format!("s{}/{i}", i % 20), "stream": format!("s{}", i % 20), "leader": format!("b{leader}"),
                "sources": [{"zones": [format!("z{}", below(3))], "weight": 1 + below(50)}],
            })
        })
        .collect();
    json!({"snapshot": {"brokers": brokers, "streams": streams, "shards": shards}})
}
