"""The simulation of groups and machines says what docs/internals/GROWTH.md shows, and keeps its promises at other sizes."""

import importlib.machinery
import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "growth"
SEED = int(os.environ.get("HEARTH_SEED", "1"))


@pytest.fixture(scope="module")
def growth():
    loader = importlib.machinery.SourceFileLoader("growth", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("growth", loader))
    loader.exec_module(module)
    return module


def test_the_page_shows_what_the_script_prints():
    printed = subprocess.run([SCRIPT], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert printed in (ROOT / "docs" / "internals" / "GROWTH.md").read_text()


@pytest.mark.parametrize("machines, databases, writes", [(3, 10, 100), (4, 200, 9_000), (12, 2_000, 30_000)])
def test_no_group_is_planned_beyond_its_owner_and_no_machine_beyond_its_share(growth, machines, databases, writes):
    drawn = growth.drawn(growth.random.Random(SEED), databases, writes, 0.7)
    groups = growth.grouped(drawn)
    assert sum(group.databases for group in groups) == databases
    assert abs(sum(group.writes for group in groups) - writes) < 1
    # One that is busier than the plan has a group of its own.
    assert all(group.databases == 1 or group.writes <= growth.GROUP_WRITES * growth.PLANNED for group in groups)
    row = growth.play(SEED, machines, databases, writes, 0.7)
    largest = max(growth.cost(group, 0) for group in groups) / growth.CORES
    assert row["busiest machine"] <= row["mean"] + largest
    # What the dead one did is with the others: no more than all of it, and no less than its part.
    assert row["mean"] <= row["busiest after a loss"] <= 2 * row["busiest machine"] + largest


def test_a_database_that_one_owner_cannot_take_is_said(growth):
    assert growth.play(SEED, 3, 2, 2 * growth.GROUP_WRITES, 1.5) is None
