import pytest

from hearth_server import Hearth

# Build in one folder, one after the other, and longest of all: these files stay together and begin first.
BUILDING = ("test_swift_client.py", "test_tutorial.py")


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.name not in BUILDING)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Each file is one process's, with the servers of its fixtures."""
    from xdist.scheduler import LoadScopeScheduling

    class FileScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.split("::", 1)[0]
            return "building" if file.endswith(BUILDING) else file

    return FileScheduling(config, log)


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
