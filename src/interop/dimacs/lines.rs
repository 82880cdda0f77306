//! Input cut into blocks of whole lines, so that a line is read where it lies and nothing is copied but the rest of a
//! block that ends within a line.

use std::io::{self, Read};

/// Bytes read at once, and the longest line that is told from a fault.
pub const BLOCK: usize = 1 << 16;

/// A piece of the input.
pub(super) enum Block<'a> {
    /// Whole lines; the last of the input may lack its end.
    Lines(&'a [u8]),
    /// The first [`BLOCK`] bytes of a line that is longer. The rest of it is passed over.
    TooLong(&'a [u8]),
}

/// Blocks of an input.
pub(super) struct Blocks<R> {
    input: R,
    buffer: Box<[u8]>,
    /// What of the buffer is still to be told.
    begin: usize,
    end: usize,
    is_at_end: bool,
    /// Within a line that was too long.
    is_skipping: bool,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(input: R) -> Self {
        Blocks {
            input,
            buffer: vec![0; BLOCK].into_boxed_slice(),
            begin: 0,
            end: 0,
            is_at_end: false,
            is_skipping: false,
        }
    }

    /// The next block; none at the end.
    ///
    /// # Errors
    /// The input's own, but for interruptions.
    pub(super) fn next(&mut self) -> io::Result<Option<Block<'_>>> {
        loop {
            self.skip();
            let pending = &self.buffer[self.begin..self.end];
            if let Some(newline) = memchr::memrchr(b'\n', pending) {
                let lines = self.begin..self.begin + newline + 1;
                self.begin = lines.end;
                return Ok(Some(Block::Lines(&self.buffer[lines])));
            }
            if self.is_at_end {
                let lines = self.begin..self.end;
                self.begin = self.end;
                return Ok((!lines.is_empty()).then(|| Block::Lines(&self.buffer[lines])));
            }
            if pending.len() == BLOCK {
                self.begin = self.end;
                self.is_skipping = true;
                return Ok(Some(Block::TooLong(&self.buffer)));
            }
            self.fill()?;
        }
    }

    /// Passes over the rest of a line that was too long, as far as it is read.
    fn skip(&mut self) {
        if self.is_skipping {
            match memchr::memchr(b'\n', &self.buffer[self.begin..self.end]) {
                Some(newline) => {
                    self.begin += newline + 1;
                    self.is_skipping = false;
                }
                None => self.begin = self.end,
            }
        }
    }

    /// Reads behind what is pending, which there is room for.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.is_at_end = count == 0;
                    self.end += count;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
