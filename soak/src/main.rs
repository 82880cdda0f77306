//! soak
fn main() {
    for size in std::env::args().skip(1) {
        shardflow_soak::deadlines::phases(&size);
    }
}
