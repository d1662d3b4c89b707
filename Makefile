# make demo   sets up everything, builds, runs the first study at quick scale, names the report and the pictures
# make test   sets up everything, then: format, lints, Rust tests, Python tests, documentation, quick claims
#
# Needs Rust (cargo) and Python >= 3.11; the rest comes into ./.venv. Nothing is built twice: stamps in ./.venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PAPER  ?= ads
OUT    ?= out

RUST_SOURCES := $(shell find crates benches -name '*.rs' -o -name 'Cargo.toml') Cargo.toml Cargo.lock

.DELETE_ON_ERROR:
.PHONY: all help demo test build setup tools lint rust-test python-test claims format bench docs clean

all: help
help:
	@sed -n '1,4s/^# \{0,1\}//p' Makefile
	@echo "also: build, lint, rust-test, python-test, claims, format, bench, docs, clean"

tools:
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust from https://rustup.rs" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "$(PYTHON) is missing or older than 3.11: make PYTHON=/path/to/python3.11" >&2; exit 1; }

$(VENV)/made: | tools
	@echo "== local environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# The packages that pyproject.toml names, without building thalweg itself.
$(VENV)/installed: pyproject.toml $(VENV)/made
	@echo "== Python packages"
	@$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	  print("\n".join(p["dependencies"] + p["optional-dependencies"]["dev"]))' > $(VENV)/requirements.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -r $(VENV)/requirements.txt
	@touch $@

setup: $(VENV)/installed

$(VENV)/built: $(VENV)/installed $(RUST_SOURCES)
	@echo "== engine, release build (a few minutes the first time)"
	@. $(BIN)/activate && PIP_DISABLE_PIP_VERSION_CHECK=1 maturin develop --release --quiet > $(VENV)/build.log 2>&1 || \
	  { cat $(VENV)/build.log >&2; exit 1; }
	@touch $@

build: $(VENV)/built

demo: build
	@echo "== study $(PAPER), quick scale"
	@$(BIN)/thalweg reproduce $(PAPER) --scale quick --out $(OUT)/$(PAPER)-quick

test: lint rust-test python-test docs claims
	@echo "== all passed"

lint: setup
	@echo "== format and lints"
	@cargo fmt --all --check
	@cargo clippy --quiet --workspace --all-targets -- -D warnings
	@$(BIN)/ruff format --quiet --check python tests docs $(wildcard papers)
	@$(BIN)/ruff check --quiet python tests docs $(wildcard papers)

rust-test: | tools
	@echo "== Rust tests"
	@cargo test --quiet

python-test: build
	@echo "== Python tests"
	@$(BIN)/pytest

# A failing claim is shown and is no failure of the build; a claim that cannot be evaluated is.
# Of IRN's study the tests run the figures, the default row and the exact claims; `thalweg reproduce irn` runs all of it in 5 minutes.
IRN_CLAIMS = IRN-P0a IRN-P0b IRN-P0c IRN-F1a IRN-F2a IRN-F2b IRN-F3a IRN-F4a IRN-F5a IRN-F5b IRN-F6a IRN-F6b IRN-F7a IRN-F7b IRN-F8a \
  IRN-F10a IRN-F11a IRN-F12a IRN-X2c IRN-S1e IRN-V2b IRN-V2c IRN-V2d IRN-V2e IRN-V2f IRN-V2g IRN-V2h \
  IRN-T2-70-n IRN-T2-70-t IRN-T2-70-d

claims: build
	@for claims in papers/*/claims.toml; do \
	  test -e "$$claims" || { echo "== no papers yet"; continue; }; \
	  name=$$(basename $$(dirname $$claims)); echo "== claims of $$name, quick scale"; \
	  only=; test $$name != irn || only="--no-figures $(IRN_CLAIMS:%=--claim %)"; \
	  $(BIN)/thalweg reproduce $$name --scale quick $$only --out $(OUT)/$$name-quick || exit 1; \
	done

format: setup
	@cargo fmt --all
	@$(BIN)/ruff format python tests docs $(wildcard papers)
	@$(BIN)/ruff check --fix python tests docs $(wildcard papers)

bench: build
	@$(BIN)/thalweg bench

$(VENV)/docs-installed: pyproject.toml $(VENV)/installed
	@$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	  print("\n".join(p["optional-dependencies"]["docs"]))' > $(VENV)/requirements-docs.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -r $(VENV)/requirements-docs.txt
	@touch $@

docs: build $(VENV)/docs-installed
	@echo "== documentation"
	@$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean:
	rm -rf target $(VENV) $(OUT) docs/_build python/thalweg/_core*.so
