//! Ids in little room: cut in the middle, since names of one kind tend to differ at their ends, and told apart.

use std::collections::{BTreeSet, HashMap};

use super::table::{shown, width};

/// At most `most` columns of a text, its head and tail kept and the cut marked.
pub(super) fn clipped(text: &str, most: usize) -> String {
    cut(&shown(text), most)
}

fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(1);
    let tail_room = room / 2;
    let head_end: usize = within(text.chars(), room - tail_room);
    let tail_len: usize = within(text.chars().rev(), tail_room);
    format!("{}…{}", &text[..head_end], &text[text.len() - tail_len..])
}

/// Bytes of the first characters that fit into so many columns.
fn within(chars: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut taken = 0;
    let fits = chars.take_while(|c| {
        taken += width(c.encode_utf8(&mut [0; 4]));
        taken <= columns
    });
    fits.map(char::len_utf8).sum()
}

/// Texts of one column or list, cut so that different ones stay different.
#[derive(Debug)]
pub(super) struct Ids<'a>(HashMap<&'a str, String>);

impl<'a> Ids<'a> {
    /// Cuts to `most` columns where that tells a text from all others, and else to as many more as it takes, growing
    /// by half.
    ///
    /// Complexity: O(length of all texts · log of the longest).
    pub(super) fn new(texts: impl IntoIterator<Item = &'a str>, most: usize) -> Self {
        let texts: BTreeSet<&str> = texts.into_iter().collect();
        let whole: Vec<(&str, String)> =
            texts.into_iter().map(|text| (text, shown(text))).collect();
        let longest = whole.iter().map(|(_, text)| width(text)).max().unwrap_or(0);
        let mut ids = HashMap::with_capacity(whole.len());
        let mut room = most.max(2);
        let mut rest: Vec<&(&str, String)> = whole.iter().collect();
        while !rest.is_empty() {
            let mut alike: HashMap<String, Vec<&(&str, String)>> = HashMap::new();
            for one in rest.drain(..) {
                alike.entry(cut(&one.1, room)).or_default().push(one);
            }
            for (short, of_short) in alike {
                if of_short.len() == 1 || room >= longest {
                    ids.extend(of_short.iter().map(|one| (one.0, short.clone())));
                } else {
                    rest.extend(of_short);
                }
            }
            room += room / 2;
        }
        Ids(ids)
    }

    /// What a text is cut to; empty for one that was not among them.
    pub(super) fn of(&self, text: &str) -> String {
        self.0.get(text).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_stay() {
        assert_eq!(clipped("名前名前", 5), "名…前");
        assert_eq!(clipped("abcde", 5), "abcde");
        assert_eq!(clipped("abcdef", 5), "ab…ef");
        assert_eq!(clipped("abcdefg", 6), "abc…fg");
        assert_eq!(clipped("a\u{1b}bcdefgh", 6), "a\\u…gh");
    }

    #[test]
    fn texts_that_differ_only_in_the_cut_are_given_more_room() {
        let names = [
            "east-0001-of-rack-a",
            "east-0002-of-rack-a",
            "west-0001-in-rack-b",
            "x",
        ];
        let ids = Ids::new(names, 8);
        let short = names.map(|name| ids.of(name));
        assert_eq!(
            short,
            ["east-0001…f-rack-a", "east-0002…f-rack-a", "west…k-b", "x"]
        );
    }
}
