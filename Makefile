# The one entry point. `make port` and `make test` set up everything they need; see README.md.
PYTHON ?= python3
REPO ?= examples/splat-trainer
GPU ?= mi300x
SECONDS ?= 600
# Bare mirrors of public repositories, OWNER+NAME/repo each, for nvidia-check.
MIRRORS ?= ../mirrors
# The torch that tests of payloads run in, apart from ours; TORCH_INDEX names an index for it, empty: the default one.
TORCH ?= torch==2.13.0
TORCH_INDEX ?=
# The Triton that kernels run in on the CPU and are compiled for AMD by, and the oldest one that the gate tries too.
TRITON ?= triton==3.9.0
TRITON_OLDEST ?= 3.6.0
# The Blender that one long test runs, apart from ours: it needs an older numpy, and has wheels for one Python only.
BPY ?= bpy==5.0.1
PORTED = build/port/$(notdir $(abspath $(REPO)))
# Build scripts of our own examples may run without a sandbox; those of other repositories only in one.
TRUSTED = $(if $(filter $(abspath examples)/%,$(abspath $(REPO))),--compile)
BIN = .venv/bin

.PHONY: help port test test-engines test-gpu gate test-full ecosystem nvidia-check fuzz attack undo-check skill-evals check docs system generate clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

# The toolchain goes to the cache of the user, which all checkouts share: `rocm3d cache path` prints it.
port: .venv/installed ## port a copy of REPO (default: examples/splat-trainer) for GPU (default: mi300x), and compile it
	@$(BIN)/rocm3d toolchain prepare >/dev/null || echo "without a toolchain the port is not compiled" >&2
	@rm -rf "$(PORTED)"
	@mkdir -p "$(dir $(PORTED))"
	@$(BIN)/rocm3d port "$(REPO)" --gpu "$(GPU)" --into "$(PORTED)" $(TRUSTED)

test: .venv/developed .venv-torch/kernels system ## everything needed, then the test suite
	$(BIN)/pytest
	cd kernels && ../.venv-torch/bin/python -m pytest -n 2
	cd kernels && ../.venv-torch/bin/python -m gate quick

test-engines: .venv/developed .venv-torch/installed system ## a real Ray, Slurm and browser, real installs, and long compiles
	$(BIN)/pytest -m 'engines and not full' --dist loadgroup

# With the torch and triton of PYTHON, which stay as they are; it needs pytest and hypothesis beside them.
test-gpu: ## the kernels' tests on the GPU of this machine, AMD or NVIDIA; the last line is to be sent back
	cd kernels && $(PYTHON) -m pytest --device gpu

gate: .venv-torch/kernels build/gate/triton-$(TRITON_OLDEST) ## every kernel for every AMD target, by the oldest and the newest Triton
	cd kernels && ../.venv-torch/bin/python -m gate full ../build/gate/triton-$(TRITON_OLDEST)

test-full: .venv/developed .venv-blender/installed ## the long tests: large and hostile trees, requirement sets, Blender
	$(BIN)/pytest -m full -n 1

ecosystem: .venv/developed ## scan 18 packages of PyPI (100 MB) and compare with the snapshot; UPDATE=1 takes changes over
	$(BIN)/python benchmarks/ecosystem.py $(if $(UPDATE),--update)

nvidia-check: .venv/developed ## units of eight repositories by nvcc, before and after the port; MIRRORS holds them
	$(BIN)/rocm3d toolchain prepare
	$(BIN)/python benchmarks/nvidia.py --mirrors "$(MIRRORS)"

fuzz: .venv/fuzzing ## fuzz every reader, SECONDS (default: 600) for all together; crashes lie in build/fuzz
	$(BIN)/python scripts/fuzz.py --seconds $(SECONDS)

# Full size: about 40 minutes on two cores. ATTACK='--only kills,pairs --count 20' runs less; see scripts/attack.py.
attack: .venv/developed .venv-torch/installed system ## attack the command line: kills, pairs, full disks, hostile trees, isolation, secrets
	$(BIN)/python scripts/attack.py $(ATTACK)

undo-check: .venv/developed ## undo and apply twice on 228 packages of PyPI (162 MB), with kills in between
	$(BIN)/python benchmarks/undo.py

skill-evals: .venv/developed ## the agent skill: structure, links, every command it names, and which prompts call for it
	$(BIN)/python scripts/skill_evals.py

check: .venv/developed ## ruff, mypy, generated files current, knowledge valid
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python scripts/generate.py --check
	$(BIN)/rocm3d kb check
	cd kernels && ../$(BIN)/python -m gate check
	@$(MAKE) --no-print-directory docs

docs: .venv/developed ## the documentation site, strictly, into build/site
	$(BIN)/python scripts/reference.py
	@NO_MKDOCS_2_WARNING=true $(BIN)/mkdocs build --strict --quiet

generate: .venv/developed ## write schemas and reference pages anew
	$(BIN)/python scripts/generate.py
	$(BIN)/python scripts/transcript.py

# Debian packages that tests use; elsewhere those tests say not run and why.
SYSTEM = bubblewrap chromium munge parallel slurm-wlm unifdef
system:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  for package in $(SYSTEM); do dpkg -s $$package >/dev/null 2>&1 || missing="$$missing $$package"; done; \
	  if [ -n "$$missing" ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends $$missing >/dev/null; fi; \
	else echo "not root or no apt: tests that need $(SYSTEM) are not run unless these are installed"; fi

clean: ## remove what make made, except the toolchain in the cache of the user
	@test ! -x $(BIN)/rocm3d || echo "the toolchain of make port stays: rm -r \"$$($(BIN)/rocm3d cache path)\" removes it"
	rm -rf .venv .venv-torch .venv-blender build dist

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[compile]'
	@touch $@

.venv/developed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch .venv/installed $@

.venv/fuzzing: .venv/developed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[fuzz]'
	@touch $@

.venv-torch/installed:
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/python -m pip install --quiet --disable-pip-version-check \
	  $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) '$(TORCH)'
	@touch $@

.venv-torch/kernels: .venv-torch/installed constraints.txt
	.venv-torch/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	  '$(TRITON)' hypothesis msgpack numpy pyelftools pytest pytest-timeout pytest-xdist
	@touch $@

build/gate/triton-$(TRITON_OLDEST): .venv-torch/installed
	.venv-torch/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target $@ triton==$(TRITON_OLDEST)

.venv-blender/installed:
	$(PYTHON) -m venv .venv-blender
	.venv-blender/bin/python -m pip install --quiet --disable-pip-version-check '$(BPY)' \
	  || echo "$(BPY) cannot be had for this Python: tests that need Blender are not run"
	@touch $@
