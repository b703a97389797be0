# Linesman: the commands of the tree. Everything sets itself up; caches live outside the tree.
.PHONY: help demo demo-fleet test test-fast bench soak lint fmt docs build setup setup-cluster

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## what the lab needs: Debian packages and the nodes' root file systems (cached)
	@cargo xtask setup

setup-cluster: ## the same and Kubernetes' control plane, built from source with Go (cached)
	@cargo xtask setup --cluster

build: ## the linesman binary (debug)
	@cargo build --workspace

demo: setup ## the main job on a fresh machine, no cluster
	@cargo build --quiet -p linesman
	@cargo xtask demo

demo-fleet: setup-cluster ## a fleet: three nodes, a real API server, a rollout that goes well and one that does not
	@cargo build --quiet -p linesman
	@cargo xtask demo-fleet

test: setup-cluster ## all tests
	cargo test --workspace --no-run
	LINESMAN_BINARY=$(CURDIR)/target/debug/linesman cargo test --workspace --no-fail-fast

test-fast: ## unit tests and golden cases; no lab
	cargo test --workspace --lib --bins
	cargo test -p linesman-core -p linesman-fleet -p linesman-tools

bench: setup-cluster ## the benchmarks, with their goals; also target/bench/results.json
	@cargo build --profile bench-bin -p linesman -p linesman-bench
	@./target/bench-bin/linesman-bench

soak: setup-cluster ## long campaigns; a seeded sample of each runs in `make test`
	LINESMAN_SOAK=1 cargo test -p linesman-tests -- --nocapture
	LINESMAN_SOAK=1 cargo test -p linesman-tools --test robustness
	LINESMAN_SOAK=1 cargo test -p linesman-fleet --test rollout_properties

lint: ## rustfmt, clippy, cargo deny
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	@command -v cargo-deny >/dev/null || cargo install --locked --quiet cargo-deny
	cargo deny check bans licenses sources

fmt: ## format the tree
	cargo fmt --all

docs: ## the reference pages that are generated from code
	cargo build -p linesman
	cargo run -p xtask-docs
