"""The page of the modules is what Package.swift says, and no arrow of the product points up."""

import subprocess

from hearth_server import ROOT


def test_the_page_of_modules_is_current_and_no_arrow_points_up():
    ended = subprocess.run([ROOT / "scripts" / "module-graph", "--check"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
