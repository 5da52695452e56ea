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

# What the gate builds (scripts/gate), for tests that are run by themselves.
GATE := .build/gate/release
CLIENTS := HEARTH_PROGRAMS=$(GATE) .venv/bin/python -m pytest --quiet

# Tests that are many clients of a server: each target by itself, or they keep one another waiting for longer than
# a client waits for its connection.
CROWDS := SocialTests ChatTests TimelineTests PartyTests PushWorkerTests

SERVE_FLAGS ?= --dev
PREFIX ?= /usr/local
ROUNDS ?= 1000
SECONDS ?= 60
LOAD ?= write
PROFILE_SECONDS ?= 10
HISTORY := docs/internals/bench

PROGRAMS := hearth-chat hearth-timeline hearth-party

.DEFAULT_GOAL := help
.PHONY: help graph cluster setup setup-test build programs serve demo check lint unit-test test client-test package coverage fmt precommit \
	bench bench-console bench-cluster bench-isolation bench-compare profile fuzz soak soak-kill sanitize faults faults-at-every-call manual routes social-rules install clean

help: ## Show this list
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-22s%s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

##@ Build and run

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

cluster: build setup-test ## Run three brokers and three nodes on this machine, and see a take-over: make cluster ARGS=--once
	.venv/bin/python scripts/cluster $(ARGS)

##@ Test

check: setup lint unit-test ## The fast gate: format, warnings, imports, unit tests; compiles what changed, for debugging

lint:
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)

unit-test: setup
	$(SWIFT) build --build-tests $(STRICT)
	for crowd in $(CROWDS); do $(SWIFT) test --skip-build $(STRICT) --filter "^$$crowd\." 2>&1 | $(QUIET) || exit 1; done
	$(SWIFT) test --skip-build $(STRICT) $(CROWDS:%=--skip "^%\.") 2>&1 | $(QUIET)

test: ## Everything: unit tests, the demo and real clients, optimised (SEED=7 repeats a run, BUDGET=off on a busy machine)
	@since=$$(date +%s.%N); scripts/setup test-packages && python3 scripts/gate --since $$since $(if $(SEED),--seed $(SEED)) $(if $(filter off,$(BUDGET)),--no-budget)

client-test: ## Real clients against what `make test` has built: make client-test ONLY=test_rest.py
	$(CLIENTS) --numprocesses 4 --no-loadscope-reorder Tests/Clients/$(ONLY)

package: ## Build a package that depends on this one from nothing, as `swift build` does there, after `make test`
	HEARTH_PACKAGE=1 $(CLIENTS) Tests/Clients/test_swift_client.py Tests/Clients/test_tutorial.py

coverage: setup-test ## Count the lines of Sources that unit tests and real clients reach
	scripts/coverage

##@ Before a commit

graph: ## Write docs/internals/MODULES.md from Package.swift
	scripts/module-graph

fmt: ## Format the sources
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

precommit: ## Format the sources, check that, and check the files that are written from others
	@$(MAKE) --no-print-directory fmt lint
	@scripts/social-rules --check
	@scripts/module-graph --check
	@grep -q "$$(sha256sum <Package.swift | cut -c -64)" Package.resolved \
		|| { echo "Package.swift has changed: build, and commit Package.resolved with it" >&2; exit 1; }

manual: build ## Write docs/hearth.1 anew from what the binary says of itself
	scripts/manual-page .build/release/hearth > docs/hearth.1

routes: setup ## Write the list of addresses in docs/reference/REST.md anew from the table of routes
	UPDATE_SPECS=1 $(SWIFT) test $(STRICT) --filter '^DatabaseServerTests\.RouteTableTests/page'

social-rules: ## Write rules/social.json anew from chat.json and timeline.json
	scripts/social-rules

##@ Measure

# ROUNDS belongs to soak too; only one that was asked for counts here.
bench: build ## Measure against redis and bare C, and the console: make bench ROUNDS=3 (QUICK=1: under two minutes, no console)
	@scripts/setup bench
	$(SWIFT) build $(RELEASE) --product bench
	$(if $(filter-out file,$(origin ROUNDS)),ROUNDS=$(ROUNDS),env --unset=ROUNDS) scripts/bench --swift .build/release/bench \
		$(if $(filter-out 0,$(QUICK)),,--history $(HISTORY))
	$(if $(filter-out 0,$(QUICK)),,$(MAKE) --no-print-directory bench-console)

bench-isolation: build ## Measure an honest client beside abusive ones: make bench-isolation KIND=flood (QUICK=1: under two minutes)
	@scripts/setup bench
	$(if $(filter-out file,$(origin ROUNDS)),ROUNDS=$(ROUNDS),env --unset=ROUNDS) scripts/bench --isolation $(KIND)

bench-console: build setup-test ## Measure the console over a million children, in Chromium: make bench-console ROUNDS=5
	HEARTH_BINARY=.build/release/hearth $(if $(filter-out file,$(origin ROUNDS)),ROUNDS=$(ROUNDS),env --unset=ROUNDS) scripts/bench-console

bench-cluster: build setup-test ## Measure clients of a server alone, of the owner of a group, and of a follower: make bench-cluster ROUNDS=3
	HEARTH_BINARY=.build/release/hearth $(if $(filter-out file,$(origin ROUNDS)),ROUNDS=$(ROUNDS),env --unset=ROUNDS) scripts/bench-cluster

bench-compare: ## Hold the newest figures of `make bench` against those before: make bench-compare OLD=a.json NEW=b.json
	@scripts/bench-compare $(OLD) $(NEW)

profile: build ## Draw where the server spends its time: make profile LOAD=rest-read PROFILE_SECONDS=10, or PID=1234
	@scripts/setup profile
	scripts/profile $(if $(PID),--pid $(PID),--load $(LOAD)) --seconds $(PROFILE_SECONDS)

##@ Long tests

fuzz: setup-test ## Fuzz a target of Tests/Fuzz, or each: make fuzz TARGET=json SECONDS=60 (KEEP=1 keeps new inputs)
	scripts/fuzz $(if $(KEEP),--keep) --seconds $(SECONDS) $(TARGET)

soak: setup-test ## Simulate crashes, cuts and clients, damage logs and disks, compare rules with an oracle, fuzz: make soak SEED=7 ROUNDS=1000
	HEARTH_SEED=$(or $(SEED),1) HEARTH_ROUNDS=$(ROUNDS) $(SWIFT) test $$(python3 scripts/gate --flags) --filter 'SimulationTests|OracleTests|EveryCallTests|DamageSweepTests|PartyTests'
	scripts/fuzz --seconds $(SECONDS)

soak-kill: setup-test build ## Kill the release binary again and again, on full disks too, against ledgers of its clients (an hour): make soak-kill ROUNDS=1000
	HEARTH_SEED=$(or $(SEED),1) HEARTH_BINARY=.build/release/hearth HEARTH_KILLS=$(ROUNDS) .venv/bin/python -m pytest --quiet --capture=no Tests/Clients/test_kills.py Tests/Clients/test_files_kills.py

sanitize: setup-test ## Watch memory and threads in unit tests and with real clients (an hour): make sanitize ONLY=thread, CONTINUE=1 for what has not passed
	SEED=$(or $(SEED),1) scripts/sanitize $(if $(CONTINUE),--continue) $(ONLY)

faults-at-every-call: setup-test ## Let each call on a file fail once, with what make test built, and check the table of DISK_FAULTS.md (half an hour)
	HEARTH_EVERY_CALL=1000 HEARTH_BINARY=$(GATE)/hearth $(CLIENTS) --capture=no Tests/Clients/test_faults_at_every_call.py

faults: setup ## Put faults into the storage, one at a time, and list the tests that catch them (hours): make faults
	scripts/faults

##@ Install

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
