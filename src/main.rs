//! The `shardflow` command; see [`shardflow::cli`].

/// A large snapshot is millions of small strings. With the allocator of glibc a large allocation now and then stopped to
/// tidy up what they had left, and a solve ended 260 ms after its budget.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    shardflow::cli::run(std::env::args_os())
}
