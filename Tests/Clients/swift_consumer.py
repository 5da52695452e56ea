"""The programs of a package that depends on this one, as `swift build` in that package would make them.

SwiftPM plans the build, from both manifests, and says how each program is compiled and what is linked into it. The
libraries are not compiled again for that: where the plan has an object of a target of ours, the one that this
repository's own build left in `HEARTH_PROGRAMS` is taken. With `HEARTH_PACKAGE=1` all of it is built anew, by
`swift build` alone (minutes).

    python swift_consumer.py FOLDER SCRATCH     builds the package in FOLDER; its programs are in SCRATCH/programs
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hearth_server import PROGRAMS

BUILDS_WHOLE = os.environ.get("HEARTH_PACKAGE", "") not in ("", "0")

# What a compilation has for the sake of SwiftPM alone, by how many words follow.
SWIFTPM_S = {
    "-emit-dependencies": 0, "-emit-module": 0, "-emit-module-path": 1, "-output-file-map": 1, "-incremental": 0,
    "-c": 0, "-enable-batch-mode": 0, "-serialize-diagnostics": 0, "-index-store-path": 1, "-parseable-output": 0,
    "-module-cache-path": 1,
}


def swift_build(folder, scratch, *flags):
    done = subprocess.run(
        ["swift", "build", "--package-path", str(folder), "--scratch-path", str(scratch), *flags],
        capture_output=True, text=True, timeout=3600,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr


def without(words, unwanted):
    """Arguments without some options, each of which takes a number of words with it."""
    kept, left = [], 0
    for word in words:
        if left:
            left -= 1
        elif word in unwanted:
            left = unwanted[word]
        else:
            kept.append(word)
    return kept


class Plan:
    """What SwiftPM would do for a package: commands, each with what it needs, what it makes, and its words."""

    def __init__(self, folder, scratch):
        swift_build(folder, scratch, "--print-manifest-job-graph")
        # Below the name of the machine.
        [self.made] = [folder for folder in scratch.glob("*/debug") if not folder.is_symlink()]
        # The plan is written before its graph is printed; its lists are JSON.
        self.goals, self.commands, entry = {}, {}, None
        for line in (scratch / "debug.yaml").read_text().splitlines():
            if found := re.match(r'  "(.*)": (\[.*\])$', line):
                self.goals[found[1]] = json.loads(found[2])
            elif found := re.match(r'  "(.*)":$', line):
                entry = self.commands.setdefault(found[1], {})
            elif found := re.match(r"    (inputs|outputs|args): (\[.*\])$", line):
                entry[found[1]] = json.loads(found[2])
        self.makers = {made: entry for entry in self.commands.values() for made in entry.get("outputs", ())}

    def needed(self):
        """All files that are made for what `swift build` builds."""
        found, waiting = set(), [*self.goals["main"]]
        while waiting:
            name = waiting.pop()
            if name in self.makers and name not in found:
                found.add(name)
                waiting += self.makers[name].get("inputs", ())
        return found

    def targets(self):
        """The targets of which something is compiled."""
        return {target(name) for name in self.needed() if name.endswith(".o")}

    def command(self, target, kind):
        """The command that compiles (`module`) or links (`exe`) a target; None where there is none."""
        return self.commands.get(f"C.{target}-{self.made.parent.name}-debug.{kind}")

    def own(self):
        """The targets of the package itself."""
        ends = f"-{self.made.parent.name}-debug.module>"
        return [name[1:].removesuffix(ends) for name in self.goals["main"] if name.endswith(ends)]


def target(file):
    """Whose object a file is."""
    return [part for part in Path(file).parts if part.endswith(".build")][-1].removesuffix(".build")


class Consumer:
    """A package in a folder, planned; `build` compiles its targets, of which those that are programs can be run."""

    def __init__(self, folder, scratch):
        self.folder, self.scratch, self.plan = folder, scratch, Plan(folder, scratch)
        self.programs = scratch / "programs"

    def __truediv__(self, program):
        return self.programs / program

    def build(self):
        self.programs.unlink(missing_ok=True)
        self.programs.symlink_to(self.plan.made)
        if BUILDS_WHOLE:
            swift_build(self.folder, self.scratch)
            return self
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(self._compile, self.plan.own()))
        return self

    def _compile(self, name):
        """Compiles a target as planned, and links it if it is a program, in one go."""
        compiling, linking = self.plan.command(name, "module"), self.plan.command(name, "exe")
        words = without(compiling["args"], SWIFTPM_S)
        # Programs of one package have one `main` each; these are linked by themselves.
        words = [word for word in words if word not in ("-Xfrontend", "-entry-point-function-name", f"{name}_main")]
        words[words.index(str(self.plan.made / "Modules"))] = str(PROGRAMS / "Modules")
        words = [word for word in words if not word.startswith("@")]
        words += [file for file in compiling["inputs"] if file.endswith(".swift")]
        if linking:
            words += ["-o", str(self / name), *libraries(linking["args"])]
            words += objects({target(file) for file in linking["inputs"] if file.endswith(".o")} - {name})
        else:
            words += ["-typecheck"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=3600)
        assert done.returncode == 0, done.stdout + done.stderr


def libraries(words):
    return [word for word in words if word.startswith(("-l", "-L/"))]


def objects(targets):
    """What this repository's build has of targets."""
    found = []
    for name in sorted(targets):
        files = sorted(str(file) for file in (PROGRAMS / f"{name}.build").glob("*.o"))
        assert files, f"{PROGRAMS} has nothing of {name}; build all of the repository first"
        # A module's description for the debugger is no part of a release.
        found += [file for file in files if not file.endswith(".swiftmodule.o")]
    return found


if __name__ == "__main__":
    Consumer(*map(Path, sys.argv[1:])).build()
