import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from browser import Browser
from hearth_server import Hearth

FOLDER = Path(__file__).parent

# What takes longest begins first, so that no process is left with it at the end.
LONGEST = [
    f"test_{name}.py"
    for name in (
        "cluster_followers", "cluster", "hearth_chat", "bodies", "rest_table", "shown_commands", "samples_chat", "console", "console_running", "console_access", "console_hostile", "samples_party", "samples_timeline",
        "swift_client", "server_sent_events", "import_export", "hearth_timeline", "kills", "tls", "attacker", "long_poll",
        "one_time_codes", "service_accounts", "data_commands", "backup", "throttle", "proxies", "push_worker",
    )
]


def rank(item):
    name = item.path.name
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def pytest_configure(config):
    if getattr(config.option, "numprocesses", None):
        compile_tests()


def compile_tests():
    """Compiles the tests once, two shares at a time: each process of a run would do so by itself, and take 6 seconds."""
    files = [file for file in sorted(FOLDER.glob("test_*.py")) if not is_compiled(file)]
    shares = [share for share in (files[::2], files[1::2]) if share]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "-p", "no:cacheprovider", *map(str, share)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=variables,
        )
        for share in shares
    ]
    # What is wrong with a file shows when it is collected.
    for process in processes:
        process.wait()


def is_compiled(file):
    made = FOLDER.glob(f"__pycache__/{file.stem}.*-pytest-{pytest.__version__}.pyc")
    return any(one.stat().st_mtime >= file.stat().st_mtime for one in made)


def pytest_collection_modifyitems(items):
    items.sort(key=rank)


def pytest_collection_finish():
    # What is there from the start stays to the end: no need to look through it again and again.
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Each file is one process's, with the servers of its fixtures."""
    from xdist.scheduler import LoadScopeScheduling

    class FileScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return nodeid.split("::", 1)[0]

    return FileScheduling(config, log)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """One browser for all that a process tries in it; servers of tests are at ports, and so origins, of their own."""
    with Browser(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def dev():
    """A development server that keeps nothing."""
    with Hearth() as server:
        yield server


@pytest.fixture
def durable(tmp_path):
    """A development server with a data folder of its own."""
    with Hearth(data=tmp_path / "data", log=tmp_path / "log") as server:
        yield server
