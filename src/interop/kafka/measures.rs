//! Numbers as Cruise Control writes them: in MB and KB/s, with a fraction, as numbers or as text.

use serde_json::Value;

use crate::interop::Report;
use crate::interop::json::Node;

/// Bytes in the MB of Cruise Control.
pub(super) const MB: i64 = 1 << 20;
/// Bytes in its KB.
pub(super) const KB: i64 = 1 << 10;

/// A number from 0 in units of `unit` bytes, to the nearest byte.
pub(super) fn measure(node: &Node<'_, '_>, unit: i64, report: &mut Report) -> Option<i64> {
    let number = match node.value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_f64(),
    };
    let bytes = number.and_then(|number| to_bytes(number, unit));
    if bytes.is_none() {
        let most = i64::MAX / unit;
        node.find(
            report,
            format!("a number from 0 to {most} is expected here"),
        );
    }
    bytes
}

fn to_bytes(number: f64, unit: i64) -> Option<i64> {
    let bytes = (number * unit as f64).round();
    // The bound is 2^63 itself as a float; what is below it fits. NaN is in no range.
    (0.0..i64::MAX as f64)
        .contains(&bytes)
        .then_some(bytes as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_the_nearest_byte_and_never_beyond_64_bits() {
        assert_eq!(to_bytes(1.5, MB), Some(1_572_864));
        assert_eq!(to_bytes(0.0004, KB), Some(0));
        assert_eq!(to_bytes(-0.0, KB), Some(0));
        assert_eq!(
            to_bytes(9_007_199_254_740_991.0, KB),
            Some(9_223_372_036_854_774_784)
        );
        for odd in [
            f64::NAN,
            f64::INFINITY,
            f64::MAX,
            -1.0,
            9_007_199_254_740_992.0,
        ] {
            assert_eq!(to_bytes(odd, KB), None, "{odd}");
        }
    }
}
