//! What is read, what is found, and that what is written is read back.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use shardflow_solver::budget::never;
use shardflow_solver::network::{ArcId, Convex, MAGNITUDE_MAX, Network, NodeId};

use super::*;

const GOOD: &str =
    "c two nodes\np min 2 3\nn 1 3\nn 2 -3\na 1 2 0 0 1\na 1 2 1 2 -5\na 2 2 -1 -1 7\n";

fn of(bytes: &[u8]) -> Result<Instance, ReadError> {
    let length = Some(bytes.len() as u64);
    let budget = &mut Budget::new(None, &never);
    read(bytes, length, &Limits::default(), budget)
}

fn built(bytes: &[u8]) -> (Network, Vec<i64>) {
    let instance = of(bytes).unwrap();
    assert_eq!(instance.surplus, 0);
    (instance.builder.build().unwrap(), instance.cost.unit)
}

fn wrong(bytes: &[u8]) -> Findings {
    match of(bytes) {
        Err(ReadError::Wrong(findings)) => findings,
        other => panic!("{other:?}"),
    }
}

/// The only finding, as it is printed.
fn only(bytes: &[u8]) -> String {
    let findings = wrong(bytes);
    assert_eq!(
        (findings.first.len(), findings.count),
        (1, 1),
        "{findings:?}"
    );
    findings.first[0].to_string()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn nodes_arcs_and_costs_are_those_of_the_file() {
    let (network, costs) = built(GOOD.as_bytes());
    let supplies: Vec<i64> = network.nodes().map(|node| network.supply(node)).collect();
    assert_eq!(supplies, [3, -3]);
    assert_eq!(costs, [1, -5, 7]);
    let arcs: Vec<_> = (network.arcs())
        .map(|arc| {
            (
                network.tail(arc).0,
                network.head(arc).0,
                network.lower(arc),
                network.upper(arc),
            )
        })
        .collect();
    let free = Network::UNCAPACITATED;
    assert_eq!(arcs, [(0, 1, 0, 0), (0, 1, 1, 2), (1, 1, -1, free)]);
    assert_eq!(of(GOOD.as_bytes()).unwrap().costliest, Some((7, 7)));
}

#[test]
fn ends_of_lines_blanks_comments_and_a_missing_last_end_change_nothing() {
    let expected = built(GOOD.as_bytes());
    for text in [
        GOOD.replace('\n', "\r\n"),
        GOOD.replace(' ', "\t  "),
        GOOD.replace('\n', " \n\n  c a comment\ncomment\n"),
        GOOD.trim_end().to_owned(),
        GOOD.replace("n 1 3", "n 1 +3"),
        format!("c{}\n{GOOD}", "x".repeat(3 * BLOCK)),
    ] {
        assert_eq!(built(text.as_bytes()), expected, "{text}");
    }
    let (empty, _) = built(b"p min 0 0");
    assert_eq!((empty.node_count(), empty.arc_count()), (0, 0));
    let unmentioned = of(b"p min 3 0\nn 2 4\n").unwrap();
    assert_eq!(unmentioned.surplus, 4);
}

#[test]
fn every_fault_has_its_line_and_its_rule() {
    let head = "p min 2 1\n";
    let arc = "a 1 2 0 1 1\n";
    for (text, expected) in [
        ("", "the file: has no `p min NODES ARCS` line"),
        (
            "p max 2 1\n",
            "line 1: the problem is not `min` (minimum-cost flow); found `p max 2 1`",
        ),
        ("p min 2\n", "line 1: ARCS is missing; found `p min 2`"),
        (
            "p min -2 1\n",
            "line 1: NODES is negative; found `p min -2 1`",
        ),
        (
            "p min 2 1 1\n",
            "line 1: more fields than the line should have; found `p min 2 1 1`",
        ),
        (
            "p min 2 0\np min 2 0\n",
            "line 2: a second p line; found `p min 2 0`",
        ),
        (
            "n 1 1\np min 2 0\n",
            "line 1: comes before the p line; found `n 1 1`",
        ),
        (
            "p min 2 0\nn 1 1\nn 1 0\n",
            "line 3: a second n line of the node; found `n 1 0`",
        ),
        (
            "p min 2 0\nn 3 1\n",
            "line 2: NODE is not one of 1 to 2; found `n 3 1`",
        ),
        (
            "p min 2 0\nn 0 1\n",
            "line 2: NODE is not one of 1 to 2; found `n 0 1`",
        ),
        ("p min 2 0\nn 1\n", "line 2: SUPPLY is missing; found `n 1`"),
        (
            "p min 2 0\nx 1\n",
            "line 2: a line begins with c, p, n or a; found `x 1`",
        ),
        (
            "p min 2 0\nna 1 1\n",
            "line 2: a line begins with c, p, n or a; found `na 1 1`",
        ),
        (
            "p min 2 0\nn 1 0.5\n",
            "line 2: SUPPLY is not a whole number; found `n 1 0.5`",
        ),
        (
            "p min 2 0\nn 1 1\0\n",
            "line 2: SUPPLY is not a whole number; found `n 1 1 `",
        ),
        (head, "line 1: promises 1 arcs, but the file has 0"),
    ] {
        assert_eq!(only(text.as_bytes()), expected);
        assert!(!wrong(text.as_bytes()).is_range_only, "{text}");
    }
    for (line, expected) in [
        ("a 0 2 0 1 1", "TAIL is not one of 1 to 2"),
        ("a 1 -2 0 1 1", "HEAD is not one of 1 to 2"),
        ("a 1 2 0 1", "COST is missing"),
        ("a 1 2 0 1 1 1", "more fields than the line should have"),
        ("a 1 2 3 2 1", "LOWER is above CAPACITY"),
        ("a 1 2 - 2 1", "LOWER is not a whole number"),
    ] {
        let text = format!("{head}{line}\n");
        assert_eq!(
            only(text.as_bytes()),
            format!("line 2: {expected}; found `{line}`")
        );
    }
    let many = format!("{head}{arc}{arc}{arc}");
    assert_eq!(
        only(many.as_bytes()),
        "line 1: promises 1 arcs, but the file has 3"
    );
    let bytes = b"p min 1 0\n\xff\xfe\0\n";
    assert!(only(bytes).starts_with("line 2: a line begins with c, p, n or a"));
}

#[test]
fn a_line_that_is_too_long_is_passed_over_whole() {
    let long = "1".repeat(2 * BLOCK);
    let text = format!("p min 2 1\na 1 2 0 1 {long} a\na 1 2 0 1 9\nz\n");
    let findings = wrong(text.as_bytes());
    let told: Vec<String> = findings.first.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    let rule = format!("line 2: a line of more than {BLOCK} bytes; found `a 1 2 0 1 111");
    assert!(told[0].starts_with(&rule), "{}", told[0]);
    assert!(told[1].starts_with("line 4: "), "{}", told[1]);
}

#[test]
fn the_first_findings_are_told_and_all_are_counted() {
    let text = format!("p min 1 0\n{}", "x\n".repeat(1000));
    let findings = wrong(text.as_bytes());
    assert_eq!(findings.count, 1000);
    assert_eq!(findings.first.len(), FINDINGS_MAX);
    assert_eq!(findings.first[FINDINGS_MAX - 1].place, "line 21");
}

#[test]
fn what_is_too_large_is_told_apart_from_what_is_malformed() {
    for (text, expected) in [
        (
            "p min 2 4294967296\n",
            "line 1: promises more than 536870912 arcs; found `p min 2 4294967296`",
        ),
        (
            "p min 4294967296 0\n",
            "line 1: promises more than 134217728 nodes; found `p min 4294967296 0`",
        ),
        (
            "p min 99999999999999999999 0\n",
            "line 1: NODES does not fit 64 bits; found `p min 99999999999999999999 0`",
        ),
        (
            "p min 1 0\nn 1 9223372036854775808\n",
            "line 2: SUPPLY does not fit 64 bits; found `n 1 9223372036854775808`",
        ),
        (
            "p min 1 3\na 1 1 0 144115188075855872 0\na 1 1 0 144115188075855873 0\na 1 1 0 9 0\n",
            "line 3: with this line the absolute finite bounds sum to more than 288230376151711744; found `a 1 1 0 \
             144115188075855873 0`",
        ),
    ] {
        assert_eq!(only(text.as_bytes()), expected);
        assert!(wrong(text.as_bytes()).is_range_only, "{text}");
    }
    let mixed = "p min 1 0\nn 1 9223372036854775808\nx\n";
    assert!(!wrong(mixed.as_bytes()).is_range_only);
    // A capacity that stands for none in the solver is refused as the number that it is.
    let sentinel = format!("p min 1 1\na 1 1 0 {} -1\n", i64::MAX);
    assert!(wrong(sentinel.as_bytes()).is_range_only);
    let most = format!("p min 1 1\na 1 1 0 {MAGNITUDE_MAX} {}\n", i64::MIN);
    assert_eq!(built(most.as_bytes()).1, [i64::MIN]);
}

#[test]
fn nothing_is_reserved_that_the_input_cannot_fill() {
    // 2^29 arcs would be 20 GB; the promise is kept by nothing in the file.
    let text = format!("p min 2 {}\na 1 2 0 1 1\n", 1 << 29);
    assert_eq!(
        only(text.as_bytes()),
        format!("line 1: promises {} arcs, but the file has 1", 1 << 29)
    );
    let unknown = read(
        text.as_bytes(),
        None,
        &Limits::default(),
        &mut Budget::new(None, &never),
    );
    assert!(matches!(unknown, Err(ReadError::Wrong(_))));
}

#[test]
fn gzip_is_read_like_the_text_in_it() {
    let expected = built(GOOD.as_bytes());
    assert_eq!(built(&gzip(GOOD)), expected);
    let (begin, end) = GOOD.split_at(20);
    assert_eq!(
        built(&[gzip(begin), gzip(end)].concat()),
        expected,
        "two members"
    );
}

#[test]
fn gzip_that_is_cut_off_or_damaged_is_a_finding() {
    let whole = gzip(GOOD);
    for length in 2..whole.len() {
        let text = only(&whole[..length]);
        assert!(
            text.contains("the gzip data is damaged or cut off"),
            "{length}: {text}"
        );
    }
    let mut damaged = whole.clone();
    let checksum = damaged.len() - 6;
    damaged[checksum] ^= 1;
    assert!(only(&damaged).contains("damaged"));
}

#[test]
fn the_interrupt_stops_the_reading() {
    use std::cell::Cell;
    let text = format!("p min 1 0\n{}", "c\n".repeat(BLOCK));
    let polls = Cell::new(0);
    let interrupt = || {
        polls.set(polls.get() + 1);
        (polls.get() > 2).then_some(Stop::TimeBudget)
    };
    let mut budget = Budget::new(None, &interrupt);
    let stopped = read(text.as_bytes(), None, &Limits::default(), &mut budget);
    assert!(matches!(stopped, Err(ReadError::Stopped(Stop::TimeBudget))));
    assert_eq!(polls.get(), 3);
}

/// An input that gives one byte at a time, and is interrupted in between.
struct Dripping<'a>(&'a [u8], bool);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        let count = self.0.len().min(1).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

#[test]
fn pieces_of_any_size_are_read_alike() {
    for bytes in [GOOD.as_bytes().to_vec(), gzip(GOOD)] {
        let dripping = Dripping(&bytes, false);
        let instance = read(
            dripping,
            None,
            &Limits::default(),
            &mut Budget::new(None, &never),
        );
        let instance = instance.unwrap();
        assert_eq!(
            (instance.builder.build().unwrap(), instance.cost.unit),
            built(GOOD.as_bytes())
        );
    }
}

#[test]
fn an_input_that_fails_is_no_finding() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::UnexpectedEof))
        }
    }
    let failed = read(
        Broken,
        None,
        &Limits::default(),
        &mut Budget::new(None, &never),
    );
    assert!(matches!(failed, Err(ReadError::Io(_))));
    let later = read(
        GOOD.as_bytes().chain(Broken),
        None,
        &Limits::default(),
        &mut Budget::new(None, &never),
    );
    assert!(matches!(later, Err(ReadError::Io(_))));
}

#[test]
fn what_the_format_cannot_say_is_not_written() {
    let mut builder = NetworkBuilder::default();
    let node = builder.add_node(0);
    let arc = builder.add_arc(node, node, -3, -2);
    let network = builder.build().unwrap();
    let negative = write(&network, &RankCost::default(), &mut Vec::new());
    assert!(matches!(
        negative,
        Err(WriteError::NegativeUpper { upper: -2, .. })
    ));
    let bent = RankCost::convex(vec![(arc, Convex::Excess(0))]);
    let convex = write(&network, &bent, &mut Vec::new());
    assert!(matches!(convex, Err(WriteError::Convex(ArcId(0)))));
}

fn networks() -> impl Strategy<Value = (Network, RankCost)> {
    let arcs = |nodes: usize| {
        let upper = prop_oneof![Just(Network::UNCAPACITATED), 0..9i64, Just(1 << 40)];
        let arc = (0..nodes, 0..nodes, -5..9i64, upper, any::<i64>());
        prop::collection::vec(arc, 0..40)
    };
    (1..9usize)
        .prop_flat_map(move |nodes| (prop::collection::vec(-9..9i64, nodes), arcs(nodes)))
        .prop_map(|(supplies, arcs)| {
            let mut builder = NetworkBuilder::default();
            for &supply in &supplies {
                builder.add_node(supply);
            }
            builder.add_supply(NodeId(0), -supplies.iter().sum::<i64>());
            for &(tail, head, lower, upper, _) in &arcs {
                builder.add_arc(NodeId::at(tail), NodeId::at(head), lower.min(upper), upper);
            }
            let unit = arcs.iter().map(|arc| arc.4).collect();
            (builder.build().unwrap(), RankCost::linear(unit))
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back((network, cost) in networks()) {
        let mut text = Vec::new();
        write(&network, &cost, &mut text).unwrap();
        prop_assert_eq!(built(&text), (network, cost.unit));
    }

    #[test]
    fn no_bytes_make_it_panic(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b' '), Just(b'1'), Just(b'a')], 0..400),
    ) {
        let limits = Limits { nodes: 100, arcs: 100 };
        let with_promise = [b"p min 3 9\n", &bytes[..]].concat();
        for bytes in [&bytes, &with_promise] {
            match read(&bytes[..], None, &limits, &mut Budget::new(None, &never)) {
                Ok(_) | Err(ReadError::Wrong(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}
