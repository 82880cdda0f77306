//! A peer in a process of its own, which reads a file once and then solves it as often as it is asked.

use crate::contest::Run;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A running driver.
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// What the driver says of itself.
    pub(crate) version: String,
}

impl Process {
    /// Starts the driver and waits until it has read the file.
    pub(crate) fn start(command: &[&Path], file: &Path) -> Result<Self, String> {
        let (program, arguments) = command.split_first().ok_or("no command")?;
        let mut child = Command::new(program)
            .args(arguments)
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("no output")?;
        let mut process = Process {
            child,
            input,
            output: BufReader::new(output),
            version: String::new(),
        };
        let about = process.answer()?;
        let text = |key: &str| about[key].as_str().unwrap_or_default().to_owned();
        process.version = format!("{} {}", text("peer"), text("version"));
        Ok(process)
    }

    /// One run of an algorithm.
    pub(crate) fn run(&mut self, algorithm: &str) -> Result<Run, String> {
        let input = self.input.as_mut().ok_or("no input")?;
        writeln!(input, "{algorithm}").map_err(|error| error.to_string())?;
        let answer = self.answer()?;
        if let Some(failure) = answer["failure"].as_str() {
            return Err(failure.to_owned());
        }
        let seconds = answer["seconds"].as_f64().ok_or("no seconds")?;
        let cost = answer["cost"].as_i64().ok_or("no cost")?;
        Ok(Run {
            time: Duration::from_secs_f64(seconds),
            cost: Some(i128::from(cost)),
            peak_bytes: answer["peak_bytes"].as_u64(),
        })
    }

    fn answer(&mut self) -> Result<Value, String> {
        let mut line = String::new();
        let read = (self.output.read_line(&mut line)).map_err(|error| error.to_string())?;
        if read == 0 {
            return Err("the driver ended".to_owned());
        }
        serde_json::from_str(&line).map_err(|error| format!("{}: {error}", line.trim()))
    }
}

impl Drop for Process {
    /// A driver ends at the end of its input.
    fn drop(&mut self) {
        drop(self.input.take());
        if self.child.wait().is_err() {
            eprintln!("a driver could not be waited for");
        }
    }
}
