# make demo   sets up everything, builds, draws the README's incast and a handful of ADS (PAPER=irn: all of IRN, quick)
# make test   sets up everything, then: format, lints, Rust tests; Python tests, golden digests, documentation, a handful of claims
#
# Needs Rust (cargo) and Python >= 3.11; the rest comes into ./.venv. Nothing is built twice: stamps in ./.venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PAPER  ?= ads
OUT    ?= out

# Real connections need more than Rust and Python: QUIC a C compiler, the kernel's TCP clang and the headers of libelf
# and zlib. They are tested where these are, and built into the engine that is tested; that of `make build` is without.
KERNEL := $(shell command -v clang >/dev/null 2>&1 && pkg-config --exists libelf zlib 2>/dev/null && echo kernel)
CONNECT := quic$(if $(KERNEL), $(KERNEL))
FEATURES ?=
BUILT := $(VENV)/built$(if $(FEATURES),-with-$(subst $() ,-,$(FEATURES)))

RUST_SOURCES := $(shell find crates benches -name '*.rs' -o -name '*.oq' -o -name 'Cargo.toml') Cargo.toml Cargo.lock

.DELETE_ON_ERROR:
.PHONY: all help demo test rust-side python-side build wheel setup engine tools lint wasm web-tools view playground rust-test python-test handfuls kernel-qdisc claims golden format bench docs clean

all: help
help:
	@sed -n '1,4s/^# \{0,1\}//p' Makefile
	@echo "also: build, wheel, lint, wasm, view, playground, rust-test, python-test, handfuls, kernel-qdisc, claims, golden, format, bench, docs, clean"

tools:
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust from https://rustup.rs" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "$(PYTHON) is missing or older than 3.11: make PYTHON=/path/to/python3.11" >&2; exit 1; }

$(VENV)/made: | tools
	@echo "== local environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# The packages that pyproject.toml names, without building thalweg itself: what running and building need,
$(VENV)/installed: pyproject.toml $(VENV)/made
	@echo "== Python packages"
	@$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb")); \
	  print("\n".join(p["project"]["dependencies"] + p["build-system"]["requires"]))' > $(VENV)/requirements.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -r $(VENV)/requirements.txt
	@touch $@

# and what tests need.
$(VENV)/dev-installed: pyproject.toml $(VENV)/installed
	@echo "== Python packages for tests"
	@$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	  print("\n".join(p["optional-dependencies"]["dev"]))' > $(VENV)/requirements-dev.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -r $(VENV)/requirements-dev.txt
	@touch $@

setup: $(VENV)/dev-installed

# The engine compiles while packages arrive. (All of it: with fewer crates some would be made twice, with other features.)
engine: $(VENV)/made
	@PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo build --profile quick --quiet -p thalweg-python --lib

$(BUILT): $(VENV)/installed $(RUST_SOURCES)
	@echo "== engine$(if $(FEATURES), with $(FEATURES)) (two minutes the first time)"
	@rm -f $(VENV)/built*
	@. $(BIN)/activate && PIP_DISABLE_PIP_VERSION_CHECK=1 maturin develop --profile quick --quiet \
	  $(if $(FEATURES),--features "$(FEATURES)") > $(VENV)/build.log 2>&1 || { cat $(VENV)/build.log >&2; exit 1; }
	@touch $@

build: $(BUILT)

# With PAPER on the command line: that study at quick scale, minutes.
demo:
	@$(MAKE) --no-print-directory -j2 $(VENV)/installed engine
	@$(MAKE) --no-print-directory build
ifneq ($(filter command% environment%,$(origin PAPER)),)
	@echo "== study $(PAPER), quick scale"
	@$(BIN)/thalweg reproduce $(PAPER) --scale quick --out $(OUT)/$(PAPER)-quick
else
	@echo "== demo"
	@$(BIN)/thalweg demo --out $(OUT)/demo
	@echo "  first: . $(BIN)/activate"
endif

# Two chains side by side: what Rust checks, and what needs the engine in Python. Each is one thing after another, because its
# steps share a build directory or both cores.
test: setup
	@$(if $(KERNEL),,echo "== the kernel's TCP: skipped, clang or the headers of libelf and zlib are missing")
	@$(MAKE) --no-print-directory -j2 --output-sync=line FEATURES="$(CONNECT)" rust-side python-side
	@echo "== all passed"

rust-side:
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory wasm
	@$(MAKE) --no-print-directory rust-test

python-side:
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory python-test
	@$(MAKE) --no-print-directory wheel
	@$(MAKE) --no-print-directory docs
	@$(MAKE) --no-print-directory handfuls

lint: setup
	@echo "== format and lints"
	@cargo fmt --all --check
	@cargo clippy --quiet --workspace --all-targets -- -D warnings
	@cargo clippy --quiet -p thalweg-connect --features "$(CONNECT)" --all-targets -- -D warnings
	@$(BIN)/ruff format --quiet --check python tests docs $(wildcard papers)
	@$(BIN)/ruff check --quiet python tests docs $(wildcard papers)
	@$(BIN)/mypy --no-error-summary --cache-dir $(VENV)/mypy

# What simulates builds for a browser, too, with no thread or clock, and no file but those that a scenario names. Where the target is not installed that is said.
WASM := wasm32-unknown-unknown
wasm: | tools
	@if [ -d "$$(rustc --print target-libdir --target $(WASM) 2>/dev/null)" ]; then echo "== $(WASM)"; \
	  cargo check --quiet --target $(WASM) -p thalweg-units -p thalweg-wire -p thalweg-policy -p thalweg-machines -p thalweg-net \
	    -p thalweg-scenario -p thalweg-sim -p thalweg-lab -p thalweg-playground; \
	else echo "== $(WASM): skipped, not installed (rustup target add $(WASM))"; fi

# The playground: one page with the engine in it (web/dist/index.html), which `make docs` puts next to its own. Another
# cargo that can build for the target: WASM_CARGO, for example one with `-Zbuild-std=std,panic_abort` in WASM_FLAGS.
WASM_CARGO ?= cargo
WASM_FLAGS ?=
WASM_ENGINE := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/$(WASM)/web/thalweg_playground.wasm

web-tools:
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20.19 or later" >&2; exit 1; }

web/node_modules/.package-lock.json: web/package.json web/package-lock.json | web-tools
	@cd web && npm ci --silent --no-audit --no-fund

playground: web/node_modules/.package-lock.json | tools
	@if [ "$(WASM_CARGO)" = cargo ] && [ ! -d "$$(rustc --print target-libdir --target $(WASM) 2>/dev/null)" ]; then \
	  echo "$(WASM) is not installed: rustup target add $(WASM), or name another cargo: make playground WASM_CARGO=.." >&2; exit 1; fi
	@echo "== playground"
	@$(WASM_CARGO) build --quiet --profile web --target $(WASM) -p thalweg-playground $(WASM_FLAGS)
	@cd web && npm run --silent check && THALWEG_ENGINE="$(WASM_ENGINE)" npm run --silent playground -- --logLevel warn
	@echo "web/dist/index.html"

# What the wheel carries of it, for notebooks and reports; committed, so that no wheel needs Node.js. A test compares it with its sources.
view: web/node_modules/.package-lock.json
	@cd web && npm run --silent check && npm run --silent view -- --logLevel error

# Properties draw the same cases on every machine; another number draws others.
export PROPTEST_RNG_SEED ?= 1

# Without make's flags: rustdoc would look for a job server that it cannot reach, and warn.
rust-test: | tools
	@echo "== Rust tests"
	@env -u MAKEFLAGS -u MFLAGS cargo test --quiet
	@env -u MAKEFLAGS -u MFLAGS cargo test --quiet -p thalweg-playground
	@env -u MAKEFLAGS -u MFLAGS cargo test --quiet -p thalweg-connect --features "$(CONNECT)"

# What a user installs, but for the time it takes: the wheel in an environment with nothing else in it. Nothing is compiled twice: `maturin
# build` finds what `make build` has made.
wheel: build
	@echo "== wheel, in an empty environment"
	@rm -rf $(OUT)/wheel && mkdir -p $(OUT)/wheel
	@. $(BIN)/activate && maturin build --profile quick --quiet --interpreter $(CURDIR)/$(BIN)/python --out $(OUT)/wheel > $(VENV)/wheel.log 2>&1 || { cat $(VENV)/wheel.log >&2; exit 1; }
	@PYTHON=$(PYTHON) .ci/wheel $(OUT)/wheel

python-test: build
	@echo "== Python tests"
	@$(BIN)/pytest

# Studies, or only PAPER's if it is given on the command line. A failing claim is shown and is no failure of the build; a claim that
# cannot be evaluated is.
STUDIES = $(if $(filter command% environment%,$(origin PAPER)),$(PAPER),$(notdir $(patsubst %/claims.toml,%,$(wildcard papers/*/claims.toml))))

# Boots a kernel with queueing disciplines in BPF under qemu, a minute; what it needs and is not there, it names.
kernel-qdisc: build
	@echo "== policies in the kernel"
	@$(BIN)/python tests/kernel/check.py || [ $$? = 77 ]

# A chosen few per figure, `handful` in claims.toml: at most a minute for each study.
handfuls: build
	@for name in $(STUDIES); do echo "== claims of $$name: a handful"; \
	  $(BIN)/thalweg reproduce $$name --scale quick --handful --no-figures --out $(OUT)/$$name-handful || exit 1; \
	done

# All of them: after a change of a study, or of what it stands on.
claims: build
	@for name in $(STUDIES); do echo "== claims of $$name, quick scale"; \
	  $(BIN)/thalweg reproduce $$name --scale quick --out $(OUT)/$$name-quick || exit 1; \
	done

golden: build
	@$(BIN)/python tests/golden/golden.py

format: setup
	@cargo fmt --all
	@$(BIN)/ruff format python tests docs $(wildcard papers)
	@$(BIN)/ruff check --fix python tests docs $(wildcard papers)

# As releases are built: everything in one piece.
bench: setup
	@. $(BIN)/activate && maturin develop --release --quiet
	@rm -f $(VENV)/built*
	@$(BIN)/thalweg bench

$(VENV)/docs-installed: pyproject.toml $(VENV)/dev-installed
	@$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	  print("\n".join(p["optional-dependencies"]["docs"]))' > $(VENV)/requirements-docs.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -r $(VENV)/requirements-docs.txt
	@touch $@

docs: build $(VENV)/docs-installed
	@echo "== documentation"
	@$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean:
	rm -rf target $(VENV) $(OUT) docs/_build web/node_modules web/dist python/thalweg/_core*.so
