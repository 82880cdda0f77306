//! soak
fn main() {
    let mut counts = std::collections::BTreeMap::new();
    let at = std::time::Instant::now();
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    for seed in 0..n {
        match shardflow_soak::networks::check(seed, seed % 200 == 0) {
            Ok(seen) => *counts.entry((shardflow_soak::networks::kind(seed), seen)).or_insert(0) += 1,
            Err(fault) => {
                println!("seed {seed}: {fault}");
                std::process::exit(1);
            }
        }
    }
    println!("{counts:#?} {:?}", at.elapsed());
}
