# Hearth: build, serve and test. `make help` lists the targets.
#
# Warnings are errors, and so is an import of a target that Package.swift does not name.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
SWIFT := swift
STRICT := -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error
RELEASE := --configuration release --static-swift-stdlib
SOURCES := Package.swift Sources Tests

# Leaves failures, suites and the summary of what the runner says about some thousand cases.
QUIET := grep --line-buffered -vE '^(◇|✔ Test (case|"))'

# Tests that are many clients of a server: each target by itself, or they keep one another waiting for longer than
# a client waits for its connection.
CROWDS := SocialGraphTests ChatTests TimelineTests PartyTests PushWorkerTests

SERVE_FLAGS ?= --dev
PREFIX ?= /usr/local
SEED ?= 1
ROUNDS ?= 1000
MINUTES ?= 30
KILLS ?= 200

PROGRAMS := hearth-chat hearth-timeline hearth-party

.DEFAULT_GOAL := help
.PHONY: help setup setup-test build programs serve demo check lint unit-test test client-test fmt bench soak soak-server faults manual install clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: ## Install what building needs (Debian 12)
	@scripts/setup build

setup-test:
	@scripts/setup test

build: setup ## Build .build/release/hearth
	$(SWIFT) build $(RELEASE) --product hearth

programs: setup ## Build .build/release/hearth-chat, hearth-timeline and hearth-party, clients to run and read
	for program in $(PROGRAMS); do $(SWIFT) build $(RELEASE) --product $$program || exit 1; done

serve: build ## Serve on 127.0.0.1:9000 in development mode, with data in ./hearth-data
	.build/release/hearth serve $(SERVE_FLAGS)

demo: build ## Play chat, timeline and party with several people on a server of its own
	$(SWIFT) build $(STRICT) --product demo
	scripts/demo

check: setup lint unit-test ## The fast gate: format, warnings, imports, unit tests

lint:
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)

unit-test: setup
	$(SWIFT) build --build-tests $(STRICT)
	for crowd in $(CROWDS); do $(SWIFT) test --skip-build $(STRICT) --filter "^$$crowd\." 2>&1 | $(QUIET) || exit 1; done
	$(SWIFT) test --skip-build $(STRICT) $(CROWDS:%=--skip "^%\.") 2>&1 | $(QUIET)

test: setup-test check demo client-test ## Everything: the gate, the demo, then real clients against the release binary

# Two processes, each with whole files; those that build come first (Tests/Clients/conftest.py).
client-test:
	.venv/bin/python -m pytest --quiet --numprocesses 2 --no-loadscope-reorder Tests/Clients

fmt: ## Format the sources
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

# ROUNDS belongs to soak too; only one that was asked for counts here.
bench: build ## Measure against redis and bare C: make bench ROUNDS=3 (QUICK=1: under two minutes)
	@scripts/setup bench
	$(SWIFT) build $(RELEASE) --product bench
	$(if $(filter-out file,$(origin ROUNDS)),ROUNDS=$(ROUNDS),env --unset=ROUNDS) scripts/bench --swift .build/release/bench

soak: setup ## Simulate crashes and clients, compare rules with an oracle: make soak SEED=7 ROUNDS=1000
	HEARTH_SOAK_SEED=$(SEED) HEARTH_SOAK_ROUNDS=$(ROUNDS) $(SWIFT) test --filter 'SimulationTests|OracleTests' $(STRICT)

soak-server: setup-test build ## Kill the release binary, end it each minute, back it up: make soak-server MINUTES=30 KILLS=200
	HEARTH_KILLS=$(KILLS) .venv/bin/python -m pytest --quiet --capture=no Tests/Clients/test_kills.py
	HEARTH_SOAK_MINUTES=$(MINUTES) .venv/bin/python -m pytest --quiet --capture=no Tests/Clients/test_soak.py

faults: setup ## Put faults into the storage, one at a time, and list the tests that catch them (hours): make faults
	scripts/faults

manual: build ## Write docs/hearth.1 anew from what the binary says of itself
	scripts/manual-page .build/release/hearth > docs/hearth.1

# Does not build: `sudo make install` compiles nothing as root.
install: ## Put the binary, its manual page, completions and a unit of systemd, and the programs if built, under PREFIX (/usr/local)
	@test -x .build/release/hearth || { echo "run 'make build' first" >&2; exit 1; }
	install -D --mode 0755 --strip .build/release/hearth "$(DESTDIR)$(PREFIX)/bin/hearth"
	install -D --mode 0644 docs/hearth.1 "$(DESTDIR)$(PREFIX)/share/man/man1/hearth.1"
	sed 's|/usr/local/bin|$(PREFIX)/bin|' docs/hearth.service | install -D --mode 0644 /dev/stdin "$(DESTDIR)$(PREFIX)/lib/systemd/system/hearth.service"
	for program in $(PROGRAMS); do test ! -x .build/release/$$program || install -D --mode 0755 --strip .build/release/$$program "$(DESTDIR)$(PREFIX)/bin/$$program"; done
	.build/release/hearth completions bash | install -D --mode 0644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/hearth"
	.build/release/hearth completions zsh | install -D --mode 0644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_hearth"
	.build/release/hearth completions fish | install -D --mode 0644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/hearth.fish"

clean: ## Remove what was built
	rm -rf .build .venv
