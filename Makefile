# Every target does its own set-up. `make help` lists them.
SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help up down status restart clean logs test test-node faults bench pictures fuzz lint build sbom kind-up e2e-kind

# Node 24 comes as a devDependency, so a machine with Node 20 and npm will do.
export PATH := $(CURDIR)/node_modules/node/bin:$(PATH)
CARREL := node cmd/carrel/main.ts
INSTALLED := node_modules/.carrel-installed

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: $(INSTALLED) ## start the platform on this machine (CARREL_PORT, CARREL_HOME); a second run is harmless
	@node hack/web.ts && node hack/helper-programs.ts && $(CARREL) up

down: $(INSTALLED) ## stop the platform; keep its data
	@$(CARREL) down

status: $(INSTALLED) ## show programs, tenants and their addresses
	@$(CARREL) status

restart: $(INSTALLED) ## restart operator, worker and tenants with the current sources
	@node hack/web.ts && $(CARREL) restart

logs: $(INSTALLED) ## follow a program's log: make logs PROGRAM=operator
	@$(CARREL) logs $(or $(PROGRAM),operator) --follow

clean: $(INSTALLED) ## stop the platform and delete its data
	@$(CARREL) clean

test: $(INSTALLED) ## run all checks and tests; the last line counts them (ONLY=content: the files whose path matches it)
	@exec node hack/test.ts $(if $(ONLY),--testPathPatterns '$(ONLY)')

test-node: $(INSTALLED) ## run image and chart on a cluster of one node with a real kubelet (root on Linux with cgroup v1; builds its programs once)
	@exec node test/node/main.ts

LONG_FORMS := test/faults|operator/scale|operator/faults|operator/moves|kube/reflector|e2e/folder|e2e/browser/uploads-resume|e2e/browser/uploads-many|content/model|schedules/cron|worker/schedules-midnight
faults: $(INSTALLED) ## run the long forms: 5,000 changes during faults, fairness, 200 tenants that become ready while operator, API server and etcd are killed, 5,000 objects, a file of 2 GiB, one of 1 GiB by a browser whose server is killed, 4,000 files dropped at once, 20,000 steps beside the model of the file service, 40 cron expressions in all zones and years, 1,000 tenants with a schedule at midnight, 200 batches that are cancelled, imports of 50,000 entries and of 4 GiB, exports of 50,000 entries, of 100,000 folders and of 2 GiB, a roster of 100,000 members, a soak of 20,000 changes and 2,000 jobs (CHANGES, CANCELS, EXPORT_ENTRIES, EXPORT_FOLDERS, EXPORT_MIB, IMPORT_ENTRIES, IMPORT_MIB, ROSTER_MEMBERS, JOBS, SOAK_CHANGES, SEED, WAITING, TENANTS, DUE, REST_MS, OBJECTS, BIG_MIB, UPLOAD_MIB, PHOTOS, STEPS)
	@CRON_DAYS=all DUE=$(or $(DUE),1000) CHANGES=$(or $(CHANGES),5000) WAITING=$(or $(WAITING),10000) CANCELS=$(or $(CANCELS),200) EXPORT_ENTRIES=$(or $(EXPORT_ENTRIES),50000) EXPORT_FOLDERS=$(or $(EXPORT_FOLDERS),100000) EXPORT_MIB=$(or $(EXPORT_MIB),2048) IMPORT_ENTRIES=$(or $(IMPORT_ENTRIES),50000) IMPORT_MIB=$(or $(IMPORT_MIB),4096) ROSTER_MEMBERS=$(or $(ROSTER_MEMBERS),100000) JOBS=$(or $(JOBS),2000) SOAK_CHANGES=$(or $(SOAK_CHANGES),20000) KILLS=all TENANTS=$(or $(TENANTS),200) REST_MS=$(or $(REST_MS),60000) OBJECTS=$(or $(OBJECTS),5000) BIG_MIB=$(or $(BIG_MIB),2048) UPLOAD_MIB=$(or $(UPLOAD_MIB),1024) PHOTOS=$(or $(PHOTOS),200) STEPS=$(or $(STEPS),20000) \
		node hack/test.ts --selectProjects integration e2e --testPathPatterns '$(LONG_FORMS)' --runInBand

bench: $(INSTALLED) ## measure rates and times, each with a control in the same run (LINES="launches deliveries", BASE=<git ref>, DOC=1, ROUNDS=1)
	@node hack/web.ts && $(CARREL) binaries && node test/bench/main.ts $(if $(BASE),--base $(BASE)) $(if $(DOC),--write) $(if $(ROUNDS),--rounds $(ROUNDS)) $(LINES)

pictures: $(INSTALLED) ## take the pictures of docs/pictures from the sample data (ONLY="files photos"; CARREL_HOME of a running platform)
	@node hack/web.ts && node hack/helper-programs.ts && node hack/pictures/main.ts $(ONLY)

fuzz: $(INSTALLED) ## send 50,000 generated requests, valid and invalid, by the OpenAPI document, as administrator, instructor and viewer; fail on any finding (REQUESTS, SEED)
	@$(CARREL) binaries && REQUESTS=$(or $(REQUESTS),50000) SEED=$(or $(SEED),1) node test/fuzz/main.ts

lint: $(INSTALLED) ## check format, types, lint, import rules, retired words, generated files
	@npm run --silent lint

build: $(INSTALLED) ## compile to dist/, as in the image
	@rm -rf dist && npm run --silent build

sbom: $(INSTALLED) ## write the image's bill of materials (CycloneDX) to dist/sbom.cdx.json
	@mkdir -p dist && node hack/sbom.ts > dist/sbom.cdx.json && echo dist/sbom.cdx.json

kind-up: ## start a cluster in Docker with the image and the chart (needs docker, kubectl, helm, and kind or Go)
	@hack/kind-up.sh

e2e-kind: $(INSTALLED) kind-up ## the same, and then a Tenant, a file both ways and the end of both in it
	@KUBECONFIG=.carrel-kind.kubeconfig node test/cluster/main.ts

$(INSTALLED): package.json package-lock.json
	@command -v npm >/dev/null || { echo 'npm is missing. Install Node.js 20 or newer (https://nodejs.org).' >&2; exit 1; }
	@echo 'installing the npm packages'
	@npm install --no-audit --no-fund --loglevel=error
	@touch $@
