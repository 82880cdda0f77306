//! x
/// x
pub fn check(_seed: u64, _edits: usize) -> Result<u8, String> {
    Ok(0)
}
