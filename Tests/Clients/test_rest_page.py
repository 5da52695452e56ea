"""Every command of docs/reference/REST.md, pasted into a shell."""

import os
import re
import subprocess
from pathlib import Path

from hearth_server import ROOT

PAGE = (Path(ROOT) / "docs" / "reference" / "REST.md").read_text()
# Commands are indented by four spaces; a block of them may set variables for the lines after it.
BLOCKS = [block for block in re.findall(r"(?:^    .*\n)+", PAGE, re.M) if "curl" in block]


def test_what_the_page_says_to_paste_works(dev, tmp_path):
    script = "".join(block.replace("localhost:9000", f"localhost:{dev.port}") for block in BLOCKS)
    script = "\n".join(line.strip() for line in script.splitlines())
    (tmp_path / ".curlrc").write_text("silent\nshow-error\nfail-early\n")
    done = subprocess.run(
        ["/bin/sh", "-eu", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "CURL_HOME": str(tmp_path)},
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert done.stdout.count("Ann") >= 3, done.stdout
    # The second of two writes with one tag.
    assert dev.get("/count.json").json == 1
    # The ruleset that is put in force at the end forbids writes.
    assert dev.put("/users/x.json", 1).status == 401
    assert "error" not in done.stdout, done.stdout


def test_the_page_names_each_parameter_that_is_read():
    source = (Path(ROOT) / "Sources" / "Server" / "DatabaseServer" / "Data" / "RESTParameters.swift").read_text()
    names = re.search(r"switch name \{(.*?)default:", source, re.S)[1]
    for name in re.findall(r'"(\w+)"', names):
        if name not in ("pretty", "silent"):
            assert name in PAGE, f"{name} is not in docs/reference/REST.md"
