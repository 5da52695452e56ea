"""The pages on rules: every example is run, and every command gives what the page shows.

A page holds, in fences,

- ``json rules`` followed by ``json cases``: rules, and what they must do;
- ``json file NAME`` and ``file NAME``: a file that commands use;
- ``console``: lines that begin with `$ ` are commands, those of a section run one after the other in one
  folder beside a server at localhost:9000; the lines after one are its output. `...` stands for any text, alone on a
  line for any lines.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from hearth_server import BINARY, ROOT, Hearth

PAGES = [
    ROOT / "docs" / f"{name}.md"
    for name in (
        "guides/RULES", "guides/RULES_FAULTS", "guides/RULES_RECIPES", "guides/RULES_TOOLS",
        "reference/RULES_LANGUAGE", "reference/RULES_DIFFERENCES",
    )
]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)


@dataclass
class Block:
    page: Path
    line: int
    section: str
    heading: str
    kind: str
    text: str

    def __str__(self):
        return f"{self.page.stem}:{self.line}:{self.heading}".replace(" ", "-")


def blocks(page):
    text = page.read_text()
    found = []
    for match in FENCE.finditer(text):
        before = FENCE.sub("", text[: match.start()])
        section = re.findall(r"^## (.*)$", before, re.M)[-1]
        heading = re.findall(r"^##+ (.*)$", before, re.M)[-1]
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(page, line, section, heading, match[1].strip(), match[2]))
    return found


def examples():
    pairs = []
    for page in PAGES:
        found = blocks(page)
        for block, after in zip(found, found[1:] + [None]):
            if block.kind == "json rules":
                assert after and after.kind == "json cases", f"{block} has no cases"
                pairs.append((block, after))
    return pairs


def run(arguments, folder, **options):
    return subprocess.run(
        arguments, cwd=folder, capture_output=True, text=True, timeout=120, **options
    )


@pytest.mark.parametrize("rules,cases", examples(), ids=lambda block: str(block))
def test_an_example(rules, cases, tmp_path):
    (tmp_path / "x.json").write_text(rules.text)
    (tmp_path / "x.cases.json").write_text(cases.text)
    # What is there to be copied has nothing to be warned of; what shows a mistake may.
    strict = ["--strict"] if rules.page.stem == "RULES_RECIPES" else []
    check = run([BINARY, "rules", "check", *strict, "x.json"], tmp_path)
    assert check.returncode == 0, check.stdout + check.stderr
    done = run([BINARY, "rules", "test", "x.cases.json"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    count = cases.text.count('"expect"')
    assert f"{count} passed, 0 failed" in done.stdout


def test_every_fence_is_one_that_is_run():
    for page in PAGES:
        for block in blocks(page):
            known = block.kind in ("json rules", "json cases", "console")
            assert known or re.fullmatch(r"(json )?file [\w.-]+", block.kind), str(block)
    assert len(examples()) >= 15


def commands(block):
    """The commands of a console block, each with the lines shown after it."""
    found = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> "):
            found[-1] = (found[-1][0] + "\n" + line[2:], found[-1][1])
        else:
            found[-1][1].append(line)
    return found


def pattern(lines):
    """The expected output as a regular expression."""
    pieces = []
    for line in lines:
        if line.strip() == "...":
            pieces.append(r"(?:.*\n)*?")
        else:
            pieces.append(re.escape(line).replace(r"\.\.\.", ".*") + r"\n")
    return "".join(pieces)


def sections():
    """The blocks of each section that shows commands."""
    found = {}
    for block in [block for page in PAGES for block in blocks(page)]:
        found.setdefault((block.page.name, block.section), []).append(block)
    return {key: own for key, own in found.items() if any(b.kind == "console" for b in own)}


@pytest.mark.parametrize("page,section", sections(), ids=str)
def test_the_commands_of_a_section_show_what_the_page_says(page, section, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "hearth").symlink_to(BINARY)
    folder = tmp_path / "here"
    folder.mkdir()
    with Hearth() as server:
        local = f"localhost:{server.port}"
        environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("HEARTH", "FIREBASE"))},
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "HEARTH_URL": f"http://{local}",
            "USER": "ann",
        }
        for block in sections()[page, section]:
            if block.kind.startswith(("json file ", "file ")):
                (folder / block.kind.split()[-1]).write_text(block.text)
            for command, expected in commands(block) if block.kind == "console" else []:
                script = command.replace("localhost:9000", local)
                done = run(["/bin/sh", "-c", script + " 2>&1"], folder, env=environment)
                shown = done.stdout.replace(str(server.port), "9000")
                shown = shown.rstrip("\n") + "\n" if shown else ""
                assert re.fullmatch(pattern(expected), shown), (
                    f"{block}: $ {command}\nshows\n{shown}\nand not\n" + "\n".join(expected)
                )


def test_there_are_commands():
    assert len(sections()) >= 3


# What stands for a name in a message of the page, and rules that give the message.
LOAD_FAULTS = [
    ("{}", "Expected 'rules' property."),
    ('{"rules":{".read":"x == 1"}}', "Unknown variable 'x'."),
    ('{"rules":{".read":"newData.exists()"}}', "newData is invalid in .read expressions."),
    ('{"rules":{".read":"data.x() == 1"}}', "No such method/property 'x'."),
    ('{"rules":{".read":"auth.token.x"}}', "Expression must evaluate to a boolean."),
    ('{"rules":{".read":"auth.uid && true"}}', "Left operand of && must be boolean."),
    (
        '{"rules":{".read":"data == 1"}}',
        "Invalid == expression: left operand is not a number, boolean, string, null.",
    ),
    ('{"rules":{".read":"auth.uid = 1"}}', "Rule expressions may not contain assignments."),
    ('{"rules":{"$x":{},"$y":{}}}', "Cannot have multiple default rules ('$x' and '$y')."),
    ('{"rules":{"x":{},"x":{}}}', "Duplicate key 'x'."),
    ('{"rules":{"$x":{"$x":{}}}}', "The wildcard '$x' is already used above."),
    (
        '{"rules":{".read":5}}',
        "Invalid rule expression.  Expected 'true', 'false', or an expression string.",
    ),
    (
        "{\"rules\":{\".read\":\"'a'.matches('b')\"}}",
        "matches() expects a regular expression literal argument.",
    ),
]


def test_the_faults_that_the_page_lists_are_those_that_are_reported(tmp_path):
    page = (ROOT / "docs" / "guides" / "RULES_FAULTS.md").read_text()
    table = page[page.index("### A file that does not load") : page.index("### An error while")]
    listed = re.findall(r"^\| `([^`]+)` \|", table, re.M)
    assert listed == [message for _, message in LOAD_FAULTS]
    for text, message in LOAD_FAULTS:
        (tmp_path / "x.json").write_text(text)
        check = run([BINARY, "rules", "check", "x.json"], tmp_path)
        assert check.returncode == 1
        assert f"error: {message}\n" in check.stdout + check.stderr


def test_the_limits_are_those_of_the_source():
    page = (ROOT / "docs" / "reference" / "RULES_LANGUAGE.md").read_text()
    section = page[page.index("## Limits") :]
    source = (ROOT / "Sources" / "Rules" / "SecurityRules" / "RulesLimits.swift").read_text()

    def limit(name):
        value = re.search(rf"static let {name} = ([\d_* ]+)", source)[1]
        product = 1
        for factor in value.replace("_", "").split("*"):
            product *= int(factor)
        return product

    for name, unit, suffix in [
        ("textByteCount", 1024, " KB"),
        ("expressionByteCount", 1024, " KB"),
        ("expressionNesting", 1, " levels"),
        ("patternScalarCount", 1, " characters"),
        ("patternStateCount", 1, " states"),
        ("patternNesting", 1, " open groups"),
        ("stepsPerRequest", 1, " steps"),
        ("builtStringByteCount", 1024 * 1024, " MiB"),
        ("textNesting", 1, " |"),
        ("faultCount", 1, " |"),
    ]:
        assert f"{limit(name) // unit:,}{suffix}" in section, name
