import pytest

from hearth_server import Hearth


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
