# Every target does its own set-up. `make help` lists them.
SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help up down status restart clean logs test faults bench fuzz lint build

# Node 24 comes as a devDependency, so a machine with Node 20 and npm will do.
export PATH := $(CURDIR)/node_modules/node/bin:$(PATH)
CARREL := node cmd/carrel/main.ts
INSTALLED := node_modules/.carrel-installed

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: $(INSTALLED) ## bring the platform up on this machine (CARREL_PORT, CARREL_HOME); again is harmless
	@node hack/web.ts && $(CARREL) up

down: $(INSTALLED) ## end the platform; its data stay
	@$(CARREL) down

status: $(INSTALLED) ## what runs, and where tenants answer
	@$(CARREL) status

restart: $(INSTALLED) ## run the sources as they are now: operator, worker, tenants
	@node hack/web.ts && $(CARREL) restart

logs: $(INSTALLED) ## follow the log of a program: make logs PROGRAM=operator
	@$(CARREL) logs $(or $(PROGRAM),operator) --follow

clean: $(INSTALLED) ## end the platform and forget its data
	@$(CARREL) clean

test: $(INSTALLED) ## all checks and tests; the last line counts them (ONLY=content: those whose path holds it)
	@exec node hack/test.ts $(if $(ONLY),--testPathPatterns $(ONLY))

faults: $(INSTALLED) ## the long form of test/faults: 5,000 changes while everything breaks, fairness (CHANGES, SEED, WAITING)
	@CHANGES=$(or $(CHANGES),5000) WAITING=$(or $(WAITING),10000) node hack/test.ts --selectProjects integration --testPathPatterns test/faults --runInBand

bench: $(INSTALLED) ## rates and times beside a control in the same run (LINES="launches deliveries fairness metadata recovery transfers")
	@node cmd/carrel/main.ts parts && node test/bench/main.ts $(LINES)

fuzz: $(INSTALLED) ## send 20,000 generated requests, valid and not, by the OpenAPI document, and find nothing (REQUESTS, SEED)
	@$(CARREL) parts && REQUESTS=$(or $(REQUESTS),20000) SEED=$(or $(SEED),1) node test/fuzz/main.ts

lint: $(INSTALLED) ## format, types, lint, arrows between rooms, generated files
	@npm run --silent lint

build: $(INSTALLED) ## compile to dist/, as it goes into the image
	@rm -rf dist && npm run --silent build

$(INSTALLED): package.json package-lock.json
	@command -v npm >/dev/null || { echo 'npm is missing. Install Node.js 20 or newer (https://nodejs.org).' >&2; exit 1; }
	@echo 'installing the npm packages'
	@npm install --no-audit --no-fund --loglevel=error
	@touch $@
