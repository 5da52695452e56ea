"""The faults that scripts/faults puts in still find the code that they change."""

import importlib.machinery
import importlib.util

import pytest

from hearth_server import ROOT


def faults():
    loader = importlib.machinery.SourceFileLoader("faults", str(ROOT / "scripts" / "faults"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("faults", loader))
    loader.exec_module(module)
    return module.FAULTS


@pytest.mark.parametrize("name, path, text, fault", faults(), ids=[fault[0] for fault in faults()])
def test_the_text_that_a_fault_replaces_stands_once(name, path, text, fault):
    assert (ROOT / path).read_text().count(text) == 1, name
    assert "FAULT" in fault, name
