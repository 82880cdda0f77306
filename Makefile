# The only command names; CI speaks the same words.
.PHONY: build demo test lint bench bootstrap

# Finds, or installs, what the build needs besides Rust.
bootstrap:
	@sh scripts/bootstrap.sh

# An optimised binary in target/release.
build: bootstrap
	cargo build --release --locked

# The main job: a server on loopback, two clusters sent over gRPC, before and after.
demo: bootstrap
	cargo build --workspace --locked --bin shardflow
	@sh scripts/demo.sh

test: bootstrap
	cargo test --workspace --locked

lint: bootstrap
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Leaders against peers, S1 and S2; `make bench FAMILIES=S3` for others. The solver's assertions and overflow checks
# are off as in a release, but the profile is that of `make test`, so that HiGHS isn't compiled again.
bench: bootstrap
	cargo bench --workspace --locked --bench leaders --profile dev \
		--config profile.dev.package.shardflow-solver.debug-assertions=false \
		--config profile.dev.package.shardflow-solver.overflow-checks=false -- $(FAMILIES)
