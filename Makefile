# Linesman: development tasks. Each sets up what it needs; caches are outside the tree.
.PHONY: help demo demo-fleet test test-fast bench soak lint fmt docs build setup setup-cluster check-fresh

help: ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## what the lab needs: Debian packages and the nodes' root file systems (cached)
	cargo xtask setup

setup-cluster: ## the same, Kubernetes' control plane and Ignition's validator, built from source with Go (cached)
	cargo xtask setup --cluster

build: ## the linesman binary (debug)
	cargo build --workspace

demo: ## one host: changes, rollbacks, and an agent; no cluster
	cargo xtask demo

demo-fleet: ## a fleet: three nodes, a real API server, a rollout that succeeds and one that fails
	cargo xtask demo-fleet

test: ## all tests, and the ten slowest of them
	cargo xtask test

test-fast: ## unit tests and golden cases; no lab
	cargo test --workspace --lib --bins
	cargo test -p linesman-core -p linesman-day1 -p linesman-fleet -p linesman-tools

bench: setup-cluster ## the benchmarks, with their goals; also target/bench/results.json
	cargo build --profile bench-bin -p linesman -p linesman-bench
	./target/bench-bin/linesman-bench

# Among them ten thousand faults, for a day; target/faults/progress.tsv has what is done, and where to go on.
soak: setup-cluster ## long campaigns; a seeded sample of each runs in `make test`
	LINESMAN_SOAK=1 cargo test --no-fail-fast -p linesman-tests -- --nocapture --include-ignored
	LINESMAN_SOAK=1 cargo test -p linesman-tools --test robustness
	LINESMAN_SOAK=1 cargo test -p linesman-fleet --test rollout_properties

lint: ## rustfmt, clippy, cargo deny
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	@command -v cargo-deny >/dev/null || cargo install --locked --profile dev cargo-deny
	cargo deny check bans licenses sources

# As on a machine that has never built anything: no downloaded crate, no compiled one, no root file system for nodes. What
# fails here and not in `make test` needs something that only developers have. Some minutes, so not a part of `make test`.
FRESH := $(CURDIR)/target/fresh
FRESH_ENVIRONMENT := CARGO_HOME=$(FRESH)/cargo CARGO_TARGET_DIR=$(FRESH)/target LINESMAN_CACHE=$(FRESH)/cache

check-fresh: ## set the lab up and build from nothing, in folders of their own
	rm -rf $(FRESH)
	$(FRESH_ENVIRONMENT) cargo xtask setup
	$(FRESH_ENVIRONMENT) cargo test -p linesman-core --test purity
	rm -rf $(FRESH)

fmt: ## format the tree
	cargo fmt --all

docs: ## the reference pages that are generated from code
	cargo build -p linesman
	cargo run -p xtask-docs
