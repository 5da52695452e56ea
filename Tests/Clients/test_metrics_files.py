"""The monitoring files of docs/operate/monitoring name only metrics that a server has."""

import json
import re

import pytest

from hearth_server import ROOT, Hearth

FOLDER = ROOT / "docs" / "operate" / "monitoring"
ENDINGS = ("_bucket", "_sum", "_count")
# Only a server with TLS, an --accounts-webhook or a checkpoint of its own has these; the page of metrics says so.
ELSEWHERE = {"hearth_tls_certificate_expiry_timestamp_seconds", "hearth_webhook_messages_total"}


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    """The type of each metric of a server with a data folder, by its name."""
    with Hearth(data=tmp_path_factory.mktemp("metrics") / "data") as server:
        server.put("/a.json", 1)
        text = server.get("/.metrics").text
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M)), text


def expressions(name):
    text = (FOLDER / name).read_text()
    if name.endswith(".json"):
        return [target["expr"] for panel in json.loads(text)["panels"] for target in panel["targets"]]
    return re.findall(r"^ *expr: (.+)$", text, re.M)


@pytest.mark.parametrize("name", ["dashboard.json", "alerts.yml"])
def test_every_metric_that_they_name_exists(families, name):
    types, _ = families
    found = [word for line in expressions(name) for word in re.findall(r"\b(?:hearth|process)_\w+", line)]
    assert len(found) >= 10
    for word in found:
        family = next((word.removesuffix(end) for end in ENDINGS if word.endswith(end) and word not in types), word)
        assert family in types or family in ELSEWHERE, word
        if family != word:
            assert types[family] == "histogram", word


@pytest.mark.parametrize("name", ["dashboard.json", "alerts.yml"])
def test_only_what_grows_is_asked_for_its_rate(families, name):
    types, _ = families
    for line in expressions(name):
        for word in re.findall(r"(?:rate|increase)\((\w+)", line):
            assert word.endswith(("_total", *ENDINGS)), line
        for word in re.findall(r"predict_linear\((\w+)", line):
            assert types[word] == "gauge", line


def test_names_and_types_are_those_of_prometheus(families):
    types, text = families
    for name, kind in types.items():
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
        assert (kind == "counter") == name.endswith("_total"), (name, kind)
        if kind == "histogram":
            assert name.endswith("_seconds"), name
    assert types["process_resident_memory_bytes"] == "gauge"
    values = dict(re.findall(r"^(\w+) ([\d.e+-]+)$", text, re.M))
    assert float(values["process_resident_memory_bytes"]) > 1_000_000
    assert 0 < float(values["process_open_fds"]) < float(values["process_max_fds"])
    assert float(values["hearth_disk_free_bytes"]) > 0 and "hearth_log_segments" in values
    assert re.search(r'^hearth_build_info\{version="[^"]+"\} 1$', text, re.M)


def test_each_histogram_adds_up(families):
    types, text = families
    for name in [name for name, kind in types.items() if kind == "histogram"]:
        series = {}
        for labels, bound, count in re.findall(rf'^{name}_bucket\{{(?:(.*),)?le="(.*)"\}} (\d+)$', text, re.M):
            series.setdefault(labels, []).append((float(bound.replace("+Inf", "inf")), int(count)))
        counts = dict(re.findall(rf"^{name}_count(?:\{{(.*)\}})? (\d+)$", text, re.M))
        assert series and set(series) == set(counts)
        for labels, buckets in series.items():
            assert buckets == sorted(buckets) and buckets[-1][0] == float("inf")
            assert buckets[-1][1] == int(counts[labels])
    # The write of the fixture is in both.
    assert int(re.search(r"^hearth_put_acknowledged_seconds_count (\d+)$", text, re.M)[1]) >= 1
    assert 'hearth_http_request_duration_seconds_count{route="/{path}.json"} 1' in text
