"""Every command of docs/guides/ACCOUNTS.md, pasted into a shell; and every code that clients can receive is in it."""

import os
import re
import subprocess
from pathlib import Path

from hearth_server import ROOT

PAGE = (Path(ROOT) / "docs" / "guides" / "ACCOUNTS.md").read_text()
# Commands are indented by four spaces; a block of them may set variables for the lines after it.
BLOCKS = [block for block in re.findall(r"(?:^    .*\n)+", PAGE, re.M) if "curl" in block or re.match(r" {4}\w+=", block)]


def test_what_the_page_says_to_paste_works(dev, tmp_path):
    script = "".join(block.replace("localhost:9000", f"localhost:{dev.port}") for block in BLOCKS)
    script = "\n".join(line.strip() for line in script.splitlines())
    (tmp_path / ".curlrc").write_text("silent\nshow-error\n")
    done = subprocess.run(
        ["/bin/sh", "-eu", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "CURL_HOME": str(tmp_path)},
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert done.stdout.count('"email":"ann@example.com"') >= 2, done.stdout
    assert done.stdout.count('"error"') == 1 and "INVALID_PASSWORD" in done.stdout, done.stdout
    assert '"email":"guest@example.com"' in done.stdout, done.stdout
    assert dev.get("/greeting.json").json == "hello from Ann"


def test_the_page_has_each_code_that_a_client_can_receive():
    sources = Path(ROOT) / "Sources" / "Identity" / "IdentityToolkit"
    texts = (sources / "IdentityError.swift").read_text()
    names = dict(re.findall(r'case (\w+) = "([A-Z_]+)"', texts))
    assert len(names) > 40
    files = [*(sources / "Client").glob("*.swift"), *(sources / "Admin").glob("*.swift")]
    for path in [*files, sources / "PasswordRules+Check.swift"]:
        for name in re.findall(r"\.code\(\s*\.(\w+)", path.read_text()):
            assert names[name] in PAGE, f"{names[name]} is not in docs/guides/ACCOUNTS.md"
