//! What the JSON of the cat APIs has in common: an array of rows, every value text or null.

use crate::interop::Report;
use crate::interop::json::{self, Node};

/// Reads every row of a listing. Columns that aren't read may be anything.
pub(super) fn rows(
    document: &'static str,
    text: &str,
    report: &mut Report,
    mut read: impl FnMut(&Node<'_, '_>, &mut Report),
) {
    let Some(value) = json::whole(document, text, report) else {
        return;
    };
    let root = Node::root(document, &value);
    for row in root.items(report) {
        read(&row, report);
    }
}

/// Bytes of a column, where it has any.
pub(super) fn bytes(row: &Node<'_, '_>, column: &str, report: &mut Report) -> Option<i64> {
    let bytes = row.optional(column)?;
    let before = report.findings.len();
    let number = bytes.digits(i64::MAX, report);
    if number.is_none() {
        report.findings.truncate(before);
        bytes.find(
            report,
            "bytes in digits are expected here: ask with `bytes=b`",
        );
    }
    number
}
