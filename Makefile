# pipedeck: `make` alone lists what there is to make.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

BIN := bin
CACHE := .cache
# Version control stamps would need the whole history in every container that builds. The rest is as in tools/build.sh,
# so that packages are compiled once; only the race detector needs C.
export GOFLAGS := -buildvcs=false -trimpath -gcflags=all=-dwarf=false
export CGO_ENABLED := 0
RACE := env CGO_ENABLED=1 go test -race
# The modules of the workspace.
PACKAGES := ./... ./api/... ./plugins/sdk/...
FUZZTIME := 3s
PLUGINS := kubernetes kubernetes_multicluster wait waitapproval scriptrun analysis terraform

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: up
up: ## Bring up hello-world and open the terminal UI (ARGS="…" adds flags)
	@# The UI comes first, and shows how the other programs are compiled.
	@tools/build.sh --first $(BIN)
	@$(BIN)/pipedeck up --sample hello-world --compile "$(CURDIR)" $(ARGS)

.PHONY: build
build: ## Build pipedeck, piped and the plugins into bin/
	@tools/build.sh $(BIN) $(PLUGINS)

# pipedeck plugin new gives the sources of the SDK away; go build alone leaves them out.
.PHONY: sdkarchive
sdkarchive:
	@cd tools && GOWORK=off go run ./sdkarchive -root .. -output ../cmd/pipedeck/scaffold/archive/files/sdk.tar.gz

.PHONY: test
test: sdkarchive ## Unit tests with the race detector
	@# Several tests build and run programs, which Go's cache of test results does not see.
	$(RACE) -count=1 -timeout 10m $(PACKAGES)
	cd tools && GOWORK=off go test -count=1 ./...

.PHONY: powershell
powershell: ## Fetch the parser of PowerShell for the test of its completion script (needs npm)
	@mkdir -p $(CACHE)/powershell
	cp tools/powershell/package.json tools/powershell/package-lock.json $(CACHE)/powershell/
	cd $(CACHE)/powershell && npm ci --ignore-scripts --omit=peer --no-audit --no-fund

.PHONY: e2e
e2e: build embeddedk8s ## Drive the built programs against the embedded cluster
	tools/embeddedk8s.sh test -count=1 -timeout 10m ./...
	@# The tests wait for the cluster most of the time, so that more of them than cores run at once.
	go run ./e2e/withkubernetes $(RACE) -count=1 -timeout 15m -parallel 6 -tags e2e ./plugins/kubernetes/... ./plugins/kubernetes_multicluster ./devenv/cluster/existing
	$(RACE) -count=1 -timeout 10m -tags e2e ./devenv/cluster/embedded/...
	cd e2e/bench/kubectl && GOWORK=off go build -o $(CURDIR)/$(CACHE)/kubectl .
	cd e2e/delve && GOWORK=off go build -o $(CURDIR)/$(CACHE)/dlv github.com/go-delve/delve/cmd/dlv
	PIPEDECK_BIN=$(CURDIR)/$(BIN) PIPEDECK_KUBECTL=$(CURDIR)/$(CACHE)/kubectl PIPEDECK_DLV=$(CURDIR)/$(CACHE)/dlv $(RACE) -count=1 -timeout 20m -tags e2e ./e2e/...

.PHONY: e2e-demo
e2e-demo: build embeddedk8s ## Play every story of pipedeck demo on the embedded cluster and check its screens
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 5m -tags e2e,demos -run 'Tour|Story|Stories|AFailureIsPlayed' ./e2e

.PHONY: e2e-analysis
e2e-analysis: ## Drive the plugin analysis with a real Prometheus, where Debian's package can be had
	@programs=$$(tools/prometheus.sh $(CACHE)/prometheus); if [ -z "$$programs" ]; then echo "there is no Prometheus here"; else \
	PIPEDECK_PROMETHEUS=$$programs go test -count=1 -timeout 5m -tags e2e -run RealPrometheus ./plugins/analysis; fi

# The program is compiled once for each content of its module: it takes minutes.
TOFU = $(CACHE)/tofu-$(shell cat e2e/tofu/go.mod e2e/tofu/go.sum | git hash-object --stdin)

$(TOFU):
	@echo "compiling OpenTofu (first time only, minutes)"
	@# A version that calls itself a pre-release matches no constraint.
	cd e2e/tofu && GOWORK=off go build -ldflags "-s -w -X github.com/opentofu/opentofu/version.dev=no" \
	  -o $(CURDIR)/$(TOFU) github.com/opentofu/opentofu/cmd/tofu

# A real provider that needs no network: the one of OpenTofu's own tests. Most of it is compiled with OpenTofu.
PROVIDER = $(TOFU:$(CACHE)/tofu-%=$(CACHE)/tofuprovider-%)

$(PROVIDER):
	cd e2e/tofu && GOWORK=off go build -ldflags "-s -w" -o $(CURDIR)/$(PROVIDER) \
	  github.com/opentofu/opentofu/internal/provider-simple-v6/main

.PHONY: e2e-terraform
e2e-terraform: build $(TOFU) $(PROVIDER) ## Drive the plugin terraform with a real OpenTofu, which is compiled for it (minutes, once)
	PIPEDECK_TOFU=$(CURDIR)/$(TOFU) PIPEDECK_TOFU_PROVIDER=$(CURDIR)/$(PROVIDER) \
	  go test -count=1 -timeout 10m -tags e2e ./plugins/terraform/...
	PIPEDECK_TOFU=$(CURDIR)/$(TOFU) PIPEDECK_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 10m -tags e2e,platforms -run Terraform ./e2e

.PHONY: e2e-analysis-sample
e2e-analysis-sample: build embeddedk8s ## Deploy and play the sample analysis, good and bad, with a real Prometheus on the search path
	@programs=$$(tools/prometheus.sh $(CACHE)/prometheus); if [ -z "$$programs" ]; then echo "there is no Prometheus here"; else \
	PATH=$$programs:$$PATH PIPEDECK_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 5m -tags e2e,demos -run TheSampleAnalysis ./e2e; fi

.PHONY: e2e-vendors
e2e-vendors: ## Compare requests of the plugin analysis with those of the clients of Datadog and Google, which are compiled for it
	cd e2e/vendors && GOWORK=off go test -count=1 ./...

.PHONY: e2e-web
e2e-web: ## Drive the page to watch in a real Chromium (Debian's package chromium)
	@# The module is one of its own, because only these tests need the protocol of the browser.
	cd e2e/web && GOWORK=off go test -count=1 -timeout 5m ./...

.PHONY: bench-web
bench-web: build embeddedk8s ## Measure the page: 50 watchers at rest, the way of an event, and in Chromium 1,000 applications, 100 stages, an update, 100,000 lines
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go run ./e2e/bench -only web $(ARGS)
	go test -run '^$$' -bench EventToWatcher -benchtime 100x ./tui/page
	cd e2e/web && GOWORK=off go test -run '^$$' -bench . -benchtime 20x ./...

.PHONY: e2e-platforms
e2e-platforms: e2e-terraform e2e-analysis e2e-analysis-sample e2e-vendors ## Drive the plugins of other platforms with the real programs

.PHONY: e2e-kind
e2e-kind: build ## Drive the built programs against real kind clusters (NODE_IMAGE=… chooses the node's image)
	@tools/e2e-kind.sh $(CURDIR)/$(BIN) "$(NODE_IMAGE)"

.PHONY: e2e-python
e2e-python: sdkarchive ## Plugins in Python and for Node (needs Debian's python3-grpcio, python3-protobuf and python3-yaml, and npm)
	$(RACE) -count=1 -timeout 10m -tags python -run 'Python|Node' ./e2e/guide

.PHONY: embeddedk8s
embeddedk8s: build ## Compile the embedded Kubernetes into the user's cache
	@$(BIN)/pipedeck compile-embedded >/dev/null

.PHONY: bench
bench: build embeddedk8s ## Measure: start-up, commit to first stage, cost of a stage, 1,000 applications, 100 pipeds, plugins
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go run ./e2e/bench -node-image "$(NODE_IMAGE)"

.PHONY: bench-apps
bench-apps: build ## Measure the agent with 1,000 applications; no cluster (ARGS="…" adds flags)
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go run ./e2e/bench -only applications $(ARGS)

.PHONY: bench-plugins
bench-plugins: build ## Measure plugin processes: start, end, new code, long logs, 50 idle ones (ARGS="…" adds flags)
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go run ./e2e/bench -only plugins $(ARGS)

.PHONY: bench-author
bench-author: build ## Measure an author's way from an empty folder to the first stage, in Go, Python and for Node; as root, without network
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go run ./e2e/bench -only author

.PHONY: bench-calls
bench-calls: build ## Measure what it costs piped to remember the calls of plugins (ARGS="…" adds flags)
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go run ./e2e/bench -only calls $(ARGS)

.PHONY: bench-ui
bench-ui: build ## Measure the terminal UI: at rest, logs that grow, a flood, a large screen, searches (ARGS="…" adds flags)
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go run ./e2e/bench -only ui $(ARGS)
	go test -run '^$$' -bench 'UpdateAndView|SearchInAMillion' ./tui/app ./tui/logbuf

.PHONY: bench-sessions
bench-sessions: build ## Measure recorded sessions: what a recording costs, moving to any time of a long one (ARGS="…" adds flags)
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go run ./e2e/bench -only sessions $(ARGS)
	go test -run '^$$' -bench 'Seek|Open' -benchtime 5x ./devenv/player

.PHONY: bench-live
bench-live: build embeddedk8s ## Measure watching 2,000 objects: at rest, and until an edit by hand shows (ARGS="…" adds flags)
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go run ./e2e/bench -only live $(ARGS)

.PHONY: bench-pods
bench-pods: build embeddedk8s ## Measure pods that run as processes of this machine: the first answer, 200 pods, at rest (ARGS="…" adds flags)
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go run ./e2e/bench -only pods $(ARGS)

# bench-platforms has all of them.
.PHONY: bench-terraform bench-platforms
bench-platforms: bench-terraform
bench-terraform: $(TOFU) ## Measure the plugin terraform against OpenTofu alone, and what looks for drift cost
	PIPEDECK_TOFU=$(CURDIR)/$(TOFU) go test -count=1 -timeout 10m -tags e2e -run '^$$' -bench Overhead -benchtime 5x ./plugins/terraform
	PIPEDECK_TOFU=$(CURDIR)/$(TOFU) go test -count=1 -timeout 10m -tags e2e -run '^$$' -bench Drift -benchtime 50x ./plugins/terraform

.PHONY: bench-kubernetes
bench-kubernetes: build embeddedk8s ## Measure applying manifests against kubectl, which is compiled for it (ARGS="…" adds flags)
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go run ./e2e/bench -only kubernetes $(ARGS)

.PHONY: bench-platforms
bench-platforms: build ## Measure the plugins of other platforms: 100 metrics of an analysis
	PIPEDECK_BIN=$(CURDIR)/$(BIN) go test -count=1 -v -tags bench -run TheCostOf ./plugins/analysis

.PHONY: bench-cold
bench-cold: ## Measure a first start with empty caches in CPU seconds, next to a build of kubectl; takes minutes
	go run ./e2e/bench -only cold

.PHONY: release
release: ## Build a release into dist/ (VERSION=0.1.0 KEY=FILE; TARGETS=linux/amd64 builds for some targets only)
	@mkdir -p $(CACHE)
	cd tools/release && GOWORK=off go build -o ../../$(CACHE)/release .
	$(CACHE)/release -root . -output dist -version "$(VERSION)" $(if $(KEY),-key "$(KEY)") $(if $(TARGETS),-targets "$(TARGETS)")

.PHONY: e2e-release
e2e-release: ## Build a release twice, compare, install it in an empty root and deploy there; needs root (FAST=1 builds once)
	cd tools/release && GOWORK=off go vet . && GOWORK=off go test -count=1 .
	FAST=$(FAST) tools/e2e-release.sh

.PHONY: chaos
chaos: build embeddedk8s ## Kill parts at bad moments, fill the disk, cut the power, damage the history (ARGS="-seed N -only kills")
	go build -o $(CACHE)/chaos ./e2e/chaos
	PIPEDECK_BIN=$(CURDIR)/$(BIN) $(CACHE)/chaos $(ARGS)

.PHONY: fuzz
fuzz: ## Feed every decoder with noise (FUZZTIME=… for each target)
	@tools/fuzz.sh $(FUZZTIME)

.PHONY: lint
lint: ## Formatting, vet for Linux and macOS, staticcheck, errcheck, errorlint, unparam, room rules, stale generated code
	@tools/lint.sh

.PHONY: generate
generate: ## Generate Go from the .proto files, schemas from the configuration types, the pages of keys, commands and changes
	cd tools && GOWORK=off go run ./protogen -root ..
	UPDATE_SCHEMA=1 go test -count=1 -run TestTheSchemaIsThatOfTheTypes $(foreach plugin,$(PLUGINS),./plugins/$(plugin))
	go run ./docs/schemas/generate
	go run ./tui/keymap/generate docs/keys.md
	go run ./cmd/pipedeck/reference/generate docs/cli.md
	go run ./plugins/sdk/conformance/generate docs/conformance.md plugins/sdk/conformance
	cd tools && GOWORK=off go run ./changelog -root ..

.PHONY: man
man: ## Write the manual pages of all commands to .cache/man
	go run ./cmd/pipedeck/reference/generate -man $(CACHE)/man

.PHONY: pictures
pictures: ## Draw the pictures in docs/pictures from fixed states and recorded stories; RECORD=1 records these again
	if [ -n "$(RECORD)" ]; then $(MAKE) build && tools/recordstories.sh; fi
	go test -count=1 -run '^TestScreensAsPictures$$' ./tui/app -update
	go test -count=1 -run '^TestPicturesOfRecordedStories$$' ./cmd/pipedeck/film -update

.PHONY: clean
clean: ## Remove what was built here (not the user's cache)
	rm -rf $(BIN) $(CACHE)
