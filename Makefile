# The only command names; CI speaks the same words.
.PHONY: build demo test lint bench bench-inner bootstrap

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

# Ours against the peers, as ratios; the table goes to benches/record/. `make bench FAMILIES="S1 GOTO-8"` for some
# families only, `PEERS=lemon-ns,ortools` for some peers, `ARGS=--all-sizes` for the large ones too; S4 has peers only
# where they are named. The solver's assertions and overflow checks are off as in a release, but the profile is that of
# `make test`, so that HiGHS isn't compiled again.
BENCH = cargo bench --workspace --locked --profile dev \
	--config profile.dev.package.shardflow-solver.debug-assertions=false \
	--config profile.dev.package.shardflow-solver.overflow-checks=false
bench: bootstrap
	@sh scripts/peers.sh
	$(BENCH) --bench ratios -- $(FAMILIES) $(if $(PEERS),--peers $(PEERS)) $(ARGS)

# The inner loops alone, against the run before; `make bench-inner ARGS=bound` for those whose names match.
bench-inner: bootstrap
	$(BENCH) --bench inner -- $(ARGS)
