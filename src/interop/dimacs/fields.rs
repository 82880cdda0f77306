//! The fields of one line.

/// What is wrong with a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// The line ends before it.
    Missing(&'static str),
    /// Not a whole number.
    NotWhole(&'static str),
    /// A whole number that doesn't fit 64 bits with sign.
    TooLarge(&'static str),
    /// Something follows the last one.
    Trailing,
}

/// Reads a line from left to right.
#[derive(Clone)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        Fields { rest: line }
    }

    /// The next field as it is; empty at the end of the line.
    #[inline]
    pub(super) fn word(&mut self) -> &'a [u8] {
        let is_blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r');
        let rest = self.rest;
        let mut begin = 0;
        while begin < rest.len() && is_blank(rest[begin]) {
            begin += 1;
        }
        let mut end = begin;
        while end < rest.len() && !is_blank(rest[end]) {
            end += 1;
        }
        self.rest = &rest[end..];
        &rest[begin..end]
    }

    /// The next field as a number.
    #[inline]
    pub(super) fn number(&mut self, name: &'static str) -> Result<i64, Fault> {
        let word = self.word();
        let (is_negative, digits) = match word {
            [] => return Err(Fault::Missing(name)),
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] => (false, digits),
            digits => (false, digits),
        };
        if digits.is_empty() {
            return Err(Fault::NotWhole(name));
        }
        let mut magnitude = 0u64;
        let mut is_too_large = false;
        for &byte in digits {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return Err(Fault::NotWhole(name));
            }
            // Below this, ten times the magnitude and a digit fit.
            is_too_large |= magnitude >= u64::MAX / 10;
            magnitude = magnitude.wrapping_mul(10).wrapping_add(u64::from(digit));
        }
        let value = if is_negative {
            0i64.checked_sub_unsigned(magnitude)
        } else {
            i64::try_from(magnitude).ok()
        };
        value.filter(|_| !is_too_large).ok_or(Fault::TooLarge(name))
    }

    /// Nothing may follow.
    #[inline]
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        if self.word().is_empty() {
            Ok(())
        } else {
            Err(Fault::Trailing)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Result<i64, Fault> {
        Fields::new(text.as_bytes()).number("it")
    }

    #[test]
    fn numbers_are_whole_and_of_64_bits() {
        for value in [0, 7, -7, i64::MAX, i64::MIN, 1_000_000_000_000_000_000] {
            assert_eq!(number(&format!(" \t{value}\r")), Ok(value));
            assert_eq!(number(&format!("{value} x")), Ok(value));
        }
        assert_eq!(number("+12"), Ok(12));
        assert_eq!(number("-0"), Ok(0));
        assert_eq!(number("000000000000000000000000000000012"), Ok(12));
        for wrong in ["1.5", "-", "+", "+-1", "1e3", "x", "1\0", "0x1", "１"] {
            assert_eq!(number(wrong), Err(Fault::NotWhole("it")), "{wrong}");
        }
        let large = [
            "9223372036854775808",
            "-9223372036854775809",
            "18446744073709551616",
            "18446744073709551617",
            "99999999999999999999999999999999999999999999",
        ];
        for text in large {
            assert_eq!(number(text), Err(Fault::TooLarge("it")), "{text}");
        }
        assert_eq!(number("  "), Err(Fault::Missing("it")));
    }

    #[test]
    fn nothing_follows_the_end() {
        let mut fields = Fields::new(b"a  1 \r");
        assert_eq!(fields.word(), b"a");
        assert_eq!(fields.clone().end(), Err(Fault::Trailing));
        assert_eq!(fields.number("it"), Ok(1));
        assert_eq!(fields.end(), Ok(()));
    }
}
