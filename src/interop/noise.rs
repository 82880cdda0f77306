//! Lines around a paste that say nothing about the cluster.

/// How lines start that the Java tools, consoles, or people who paste leave behind.
const STARTS: [&str; 16] = [
    "GET _cat/",
    "GET /_cat/",
    "SLF4J",
    "log4j:",
    "WARN",
    "INFO",
    "Picked up ",
    "OpenJDK ",
    "Java HotSpot",
    "Note:",
    "Option --",
    "```",
    "$ ",
    "% ",
    "# ",
    "--",
];

/// Commands whose invocation may be pasted along with their output.
const COMMANDS: [&str; 6] = [
    "curl",
    "kafka-topics",
    "kafka-reassign-partitions",
    "kafka-log-dirs",
    "kafkacat",
    "kcat",
];

/// Whether a line is blank, a shell prompt, an invoked command or a log line below ERROR.
///
/// Only for lines that aren't data: whatever begins a JSON value or a topic's line is read instead.
pub(super) fn is_noise(line: &str) -> bool {
    let line = line.trim();
    line.is_empty()
        || STARTS.iter().any(|start| line.starts_with(start))
        || line.ends_with(['$', '#'])
        || is_log(line)
        || is_command(line)
}

/// Whether the line is a log line with a time in front: `[2024-05-01 10:00:00,123] WARN …`.
fn is_log(line: &str) -> bool {
    let is_timed = line
        .trim_start_matches('[')
        .starts_with(|c: char| c.is_ascii_digit());
    is_timed
        && [" WARN ", " INFO ", " DEBUG "]
            .iter()
            .any(|level| line.contains(level))
}

/// Whether the line calls one of [`COMMANDS`] with an option.
fn is_command(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let calls = words.any(|word| COMMANDS.iter().any(|command| word.contains(command)));
    calls && words.next().is_some_and(|word| word.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::is_noise;

    #[test]
    fn prompts_and_log_lines_are_noise() {
        for line in [
            "",
            "  \t",
            "$ kafka-topics.sh --describe",
            "[root@node1 bin]# ./kafka-topics.sh --bootstrap-server localhost:9092 --describe",
            "[kafka@node1 ~]$",
            "kafka_2.13-4.1.1 % bin/kafka-log-dirs.sh --describe",
            "user@host:~> kcat -b localhost -L -J",
            "curl -s 'localhost:9200/_cat/shards?format=json&bytes=b'",
            "GET _cat/shards?format=json&bytes=b",
            "SLF4J: Class path contains multiple SLF4J bindings.",
            "log4j:WARN No appenders could be found",
            "[2024-05-01 10:00:00,123] WARN [AdminClient clientId=adminclient-1] slow (org.apache.kafka)",
            "OpenJDK 64-Bit Server VM warning: sharing is only supported for boot loader classes",
        ] {
            assert!(is_noise(line), "{line}");
        }
    }

    #[test]
    fn errors_and_prose_are_not_noise() {
        for line in [
            "[2024-05-01 10:00:00,123] ERROR timed out (org.apache.kafka)",
            "Error while executing topic command : Topic 'a' does not exist",
            "[{\"id\": 1}]",
            "see the kafka-topics page",
        ] {
            assert!(!is_noise(line), "{line}");
        }
    }
}
