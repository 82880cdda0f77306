//! Every error: its place, what it quotes, its rule.

use shardflow::interop::kafka::{Import, ImportError, Imported, import};

use super::samples::*;
use crate::support::*;

const ONE: &str = "Topic: a Partition: 0 Leader: 1 Replicas: 1";

fn whole(text: &str) -> Result<Imported, ImportError> {
    import(Import::new(text))
}

#[test]
fn describe_names_the_line() {
    let header = "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n";
    let sound = "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n";
    let with = |line: &str| whole(&format!("{header}{line}"));
    let line = |replaced: &str, by: &str| with(&sound.replace(replaced, by));
    assert!(with(sound).is_ok());
    let cases = [
        (
            "Leader: 1",
            "Leader: one",
            "one",
            "`Leader:` names brokers by number",
        ),
        (
            "Leader: 1",
            "Leader: 2",
            "2",
            "the leader is one of the replicas",
        ),
        (
            "Leader: 1\t",
            "",
            "Topic: a Partition: 0 Replicas: 1 Isr: 1",
            "`Leader:`",
        ),
        (
            "Replicas: 1\t",
            "",
            "Topic: a Partition: 0 Leader: 1 Isr: 1",
            "`Replicas:`",
        ),
        ("Replicas: 1", "Replicas: 1,1", "1", "distinct brokers"),
        (
            "Replicas: 1",
            "Replicas: 1,,2",
            "",
            "`Replicas:` names brokers",
        ),
        (
            "Partition: 0",
            "Partition: x",
            "x",
            "`Partition:` is a whole number",
        ),
        (
            "Partition: 0",
            "Partition: -3",
            "-3",
            "`Partition:` is a whole number",
        ),
        (
            "Isr: 1",
            "Isr: 1 torn",
            "1 torn",
            "`Isr:` names brokers by number",
        ),
        (
            "Isr: 1",
            "Isr: 1\tIsr: 1",
            "Topic: a Partition: 0 Leader: 1 Replicas: 1 Isr: 1 Isr: 1",
            "one `Isr:` only",
        ),
        (
            "Isr: 1",
            "Adding Replicas: 5",
            "5",
            "being added is one of the replicas",
        ),
        (
            "Isr: 1",
            "Removing Replicas: 1",
            "",
            "keeps at least one replica",
        ),
    ];
    for (replaced, by, found, rule) in cases {
        assert_finding(line(replaced, by), "layout, line 2", found, rule);
    }
}

#[test]
fn describe_is_whole() {
    let header = "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n";
    let sound = "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n";
    let cases = [
        (
            format!("{header}{sound}{sound}"),
            "layout, line 3",
            "a-0",
            "see also layout, line 2",
        ),
        (
            format!("{header}{sound}and more\n"),
            "layout, line 3",
            "and more",
            "begins with `Topic:`",
        ),
        (
            format!("{header}{sound}{header}"),
            "layout, line 3",
            "a",
            "see also line 1",
        ),
        (
            header.to_owned(),
            "layout, line 1",
            "PartitionCount: 1",
            "of a there are 0",
        ),
        (
            format!("{header}{sound}Topic: b ReplicationFactor: 1\n"),
            "layout, line 3",
            "Topic: b ReplicationFactor: 1",
            "`PartitionCount:`",
        ),
        (
            sound.replace(": a\t", ": a/b\t"),
            "layout, line 1",
            "a/b",
            "topic names",
        ),
    ];
    for (text, place, found, rule) in cases {
        assert_finding(whole(&text), place, found, rule);
    }
}

#[test]
fn all_come_at_once() {
    let text = "Topic: a Partition: 0 Leader: 9 Replicas: 1,2\n\
                Error while executing topic command\n\
                Topic: a Partition: 1 Leader: 1 Replicas: x,2,y\n";
    let mut described = with_brokers(text, r#"[{"id":1,"rak":"a"}]"#);
    described.log_dirs = Some("no JSON here");
    let error = import(described).unwrap_err();
    let places: Vec<&str> = error.findings.iter().map(|f| f.place.as_str()).collect();
    assert_eq!(
        places,
        [
            "layout, line 1",
            "layout, line 2",
            "layout, line 3",
            "layout, line 3",
            "brokers, $[0].rak",
            "log-dirs"
        ]
    );
    let printed = error.to_string();
    assert_eq!(printed.lines().count(), 6);
    assert!(printed.starts_with("layout, line 1: the leader is one of the replicas; found `9`\n"));
}

#[test]
fn json_layouts_name_the_path() {
    let cases = [
        (
            r#"{"topic":"a","partition":0,"replica":[1],"replicas":[1]}"#,
            "[0].replica",
            "[1]",
            "known here: topic, partition, replicas, log_dirs",
        ),
        (
            r#"{"topic":"a","partition":0,"replicas":["1"]}"#,
            "[0].replicas[0]",
            "\"1\"",
            "a whole number from 0",
        ),
        (
            r#"{"topic":"a","partition":0,"replicas":[]}"#,
            "[0]",
            "",
            "at least one replica",
        ),
        (
            r#"{"topic":"a b","partition":0,"replicas":[1]}"#,
            "[0]",
            "a b",
            "topic names",
        ),
        (
            r#"{"topic":7,"partition":0,"replicas":[1]}"#,
            "[0].topic",
            "7",
            "text that isn't empty",
        ),
        (
            r#"{"topic":"a","partition":0,"replicas":[1]},{"topic":"a","partition":0,"replicas":[2]}"#,
            "[1]",
            "a-0",
            "see also layout, $.partitions[0]",
        ),
        (
            r#"{"topic":"a","replicas":[1]}"#,
            "[0]",
            r#"{"replicas":[1],"topic":"a"}"#,
            "`partition`",
        ),
    ];
    for (entries, place, found, rule) in cases {
        let text = format!("{{\"version\":1,\"partitions\":[{entries}]}}");
        assert_finding(
            whole(&text),
            &format!("layout, $.partitions{place}"),
            found,
            rule,
        );
    }
}

#[test]
fn json_layouts_are_one_object() {
    let two = "{\"partitions\":[{\"topic\":\"a\",\"partition\":0,\"replicas\":[1]}]}\n{\"partitions\":[]}";
    let negative = KCAT.replace("\"leader\":3", "\"leader\":-2");
    let cases = [
        (
            "{\n\"partitions\":\n[{]}",
            "layout, line 3",
            "[{]}",
            "broken JSON",
        ),
        (
            "{\"version\":2,\"partitions\":[]}",
            "layout, $.version",
            "2",
            "the version is 1",
        ),
        (
            "{\"partitions\":[]}",
            "layout",
            "",
            "at least one partition",
        ),
        (
            "{\"topics\":[]}",
            "layout, $",
            "{\"topics\":[]}",
            "a layout in JSON",
        ),
        (two, "layout, line 2", "{\"partitions\":[]}", "nothing else"),
        (
            &negative,
            "layout, $.topics[0].partitions[1].leader",
            "-2",
            "a whole number",
        ),
    ];
    for (text, place, found, rule) in cases {
        assert_finding(whole(text), place, found, rule);
    }
}

#[test]
fn other_texts() {
    let proposal = GENERATE.split_once("\n\n").unwrap().1;
    let cases = [
        ("", "layout", "", "at least one partition"),
        (
            "Topic: a Partition: 0 Leader: 1 Replicas: 1 MarkedForDeletion: true",
            "layout",
            "",
            "at least one partition",
        ),
        (
            "\n\nhello\nworld\n",
            "layout, line 3",
            "hello",
            "a layout is the output of",
        ),
        (
            proposal,
            "layout",
            "Proposed partition reassignment configuration",
            "a proposal isn't a layout",
        ),
        (
            &GENERATE.replace("Current", "oops\nCurrent"),
            "layout, line 2",
            "oops",
            "nothing is expected above",
        ),
        (
            &EXECUTE[..EXECUTE.find("Successfully").unwrap()].replace("Save this", "Saved"),
            "layout, line 5",
            "Saved to use as the --reassignment-json-file option during rollback",
            "below a heading",
        ),
    ];
    for (text, place, found, rule) in cases {
        assert_finding(whole(text), place, found, rule);
    }
}

#[test]
fn the_broker_file() {
    let with = |text: &str| import(with_brokers(ONE, text));
    let cases = [
        (
            r#"[{"id":1,"zones":"a"}]"#,
            "[0].zones",
            "\"a\"",
            "known here: id, name, zone, rack",
        ),
        (
            r#"[{"id":1,"zone":"a","rack":"b"}]"#,
            "[0]",
            r#"{"id":1,"rack":"b","zone":"a"}"#,
            "give one",
        ),
        (
            r#"[{"id":1,"disk_bytes":-1}]"#,
            "[0].disk_bytes",
            "-1",
            "whole number",
        ),
        (
            r#"{"brokers":[{"id":1}],"racks":3}"#,
            ".racks",
            "3",
            "unknown field",
        ),
        (
            r#"[{"id":"b1"}]"#,
            "[0].id",
            "\"b1\"",
            "whole number from 0",
        ),
        (r#"[{"id":-1}]"#, "[0].id", "-1", "whole number from 0"),
        (r#"[{"rack":"a"}]"#, "[0]", r#"{"rack":"a"}"#, "`id`"),
        (
            r#"[{"id":1},{"id":"1"}]"#,
            "[1]",
            r#"{"id":"1"}"#,
            "broker 1 is listed once",
        ),
        (
            r#"[{"id":1,"state":"gone"}]"#,
            "[0].state",
            "\"gone\"",
            "active, draining or down",
        ),
        (
            r#"[{"id":1,"share":1.5}]"#,
            "[0].share",
            "1.5",
            "whole number",
        ),
        (
            r#"[{"id":1,"max_leaders":4294967296}]"#,
            "[0].max_leaders",
            "4294967296",
            "whole number",
        ),
        (
            r#"[{"id":1,"tags":{"a":1}}]"#,
            "[0].tags.a",
            "1",
            "the value of a tag is text",
        ),
        (
            r#"[{"id":1,"tags":[]}]"#,
            "[0].tags",
            "[]",
            "an object is expected here",
        ),
        (
            r#"[{"id":1,"rack":"a"},{"id":2}]"#,
            "",
            "2",
            "these have none",
        ),
        ("[]", "", "[]", "at least one broker"),
        ("[{}]", "[0]", "{}", "`id`"),
    ];
    for (text, place, found, rule) in cases {
        assert_finding(with(text), &format!("brokers, ${place}"), found, rule);
    }
    assert!(with(r#"[{"id":1,"rack":"a"},{"id":2,"state":"down"}]"#).is_ok());
    assert_finding(
        with("[\n{\"id\":1}\n]\nracks"),
        "brokers, line 4",
        "racks",
        "nothing else",
    );
}

#[test]
fn log_dirs() {
    let with = |text: &str| {
        let mut described = Import::new(ONE);
        described.log_dirs = Some(text);
        import(described)
    };
    let at = "log-dirs, $.brokers[0].logDirs[0].partitions[0]";
    let cases = [
        (
            r#"{"partition":"a","size":1}"#,
            ".partition",
            "\"a\"",
            "topic-number",
        ),
        (
            r#"{"partition":"a-x","size":1}"#,
            ".partition",
            "\"a-x\"",
            "topic-number",
        ),
        (
            r#"{"partition":"a-0","size":-1}"#,
            ".size",
            "-1",
            "whole number",
        ),
        (
            r#"{"partition":"a-0"}"#,
            "",
            r#"{"partition":"a-0"}"#,
            "`size`",
        ),
    ];
    for (entry, place, found, rule) in cases {
        let text = format!(
            "Querying brokers for log directories information\n\
             {{\"brokers\":[{{\"broker\":1,\"logDirs\":[{{\"partitions\":[{entry}]}}]}}]}}"
        );
        assert_finding(with(&text), &format!("{at}{place}"), found, rule);
    }
    assert_finding(
        with("\n{\"brokers\":"),
        "log-dirs, line 2",
        "{\"brokers\":",
        "broken JSON",
    );
    assert_finding(with("{}"), "log-dirs, $", "{}", "`brokers`");
}
