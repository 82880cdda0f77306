# The only command names; CI speaks the same words.
.PHONY: build demo test lint bench bench-inner soak sets calm disk hot stuck deadlines fuzz bootstrap

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

# Random networks, snapshots and sequences of edits against a second algorithm, on one core, with the solver's
# assertions on: `make soak N=1000000 SEED=2`. Ends at the first mismatch, with its seed and input.
N ?= 10000
SEED ?= 1
soak: bootstrap
	cargo build --workspace --locked --bin soak
	@sh scripts/soak.sh run --count $(N) --seed $(SEED)

# Whole replica sets: random cases against an integer program (`make sets SETS=3000`), large calm clusters after one event
# (`make calm ARGS="--shards 5000 --event drain"`), disks nearly full, streams with one hot shard, and deadlines on a
# problem that HiGHS doesn't finish.
SETS ?= 300
sets calm disk hot stuck: bootstrap
	cargo build --workspace --locked --bin soak
	@sh scripts/soak.sh $@ $(if $(filter sets,$@),--count $(SETS)) $(if $(filter-out stuck,$@),--seed $(SEED)) $(ARGS)

# Whole replica sets: random cases against an integer program (`make sets SETS=3000`), large calm clusters after one event
# (`make calm ARGS="--shards 5000 --event drain"`), disks nearly full, streams with one hot shard, and deadlines on a
# problem that HiGHS doesn't finish.
SETS ?= 300
sets calm disk hot stuck: bootstrap
	cargo build --workspace --locked --bin soak
	@sh scripts/soak.sh $@ $(if $(filter sets,$@),--count $(SETS)) $(if $(filter-out stuck,$@),--seed $(SEED)) $(ARGS)

# How late 1,000 solves of up to a million shards stop: `make deadlines SOLVES=100`. For a machine that does nothing else.
SOLVES ?= 1000
deadlines: bootstrap
	cargo build --workspace --locked --bin soak
	@sh scripts/soak.sh deadlines --count $(SOLVES) --seed $(SEED)

# Every fuzz target for SECONDS_EACH seconds, from the seeds and the corpus that earlier runs left (fuzz/corpus/NAME and
# NAME.tar.gz); needs a nightly toolchain and cargo-fuzz. What is found on the way stays in fuzz/target.
SECONDS_EACH ?= 60
fuzz:
	@for target in $$(cargo +nightly fuzz list); do \
		corpus=fuzz/target/corpus/$$target; \
		mkdir -p $$corpus; \
		if [ -f fuzz/corpus/$$target.tar.gz ]; then tar -xzf fuzz/corpus/$$target.tar.gz -C $$corpus; fi; \
		cargo +nightly fuzz run $$target $$corpus fuzz/corpus/$$target -- \
			-max_total_time=$(SECONDS_EACH) -max_len=4096 -timeout=10 -rss_limit_mb=4096 || exit 1; \
	done
