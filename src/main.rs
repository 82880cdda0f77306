//! The `shardflow` command; see [`shardflow::cli`].

fn main() -> std::process::ExitCode {
    shardflow::cli::run(std::env::args_os())
}
