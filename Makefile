# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin
# constraints.txt pins torch to a CPU build's version; without it pip would fetch gigabytes of GPU libraries.
INSTALL := $(RUN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

.PHONY: demo test lint docs format clean
.DEFAULT_GOAL := demo

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[demo,search,serve]'
	touch $@

$(VENV)/tools: $(VENV)/installed
	$(INSTALL) '.[demo,search,serve,milvus,hub,ctranslate2,onnx,words,use,cjk,raw,docs,dev]'
	touch $@

demo: $(VENV)/installed  ## train a model in fifteen languages on emoji and write its report
	$(RUN)/groundling demo

test: $(VENV)/tools  ## all tests
	$(RUN)/python -m pytest --numprocesses 2

lint: $(VENV)/tools  ## style, types, and the direction of imports
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/lint-imports

docs: $(VENV)/tools  ## the documentation as a site in build/site; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --strict

format: $(VENV)/tools
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

clean:
	rm -rf $(VENV) build runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
