"""What the servers check that the tests of Swift use as stores: moto, a stand-in, and OpenStack Swift, a real one."""

import datetime
import urllib.error
import urllib.request

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from s3_server import BUCKET, REGION, S3Server
from s3_store import S3Store


@pytest.fixture(scope="module", params=[S3Server, S3Store], ids=["moto", "swift"])
def server(request):
    running = request.param()
    yield running
    running.stop()


def put(server, body, signed_body=None):
    """Puts a body whose signature is of another one, if that is given."""
    request = AWSRequest("PUT", f"{server.url}/{BUCKET}/signed", data=body if signed_body is None else signed_body)
    S3SigV4Auth(Credentials(server.access_key, server.secret), "s3", REGION).add_auth(request)
    sent = urllib.request.Request(request.url, data=body, headers=dict(request.headers), method="PUT")
    with urllib.request.urlopen(sent) as answer:
        return answer.status


def test_it_takes_requests_that_are_signed(server):
    server.s3().put_object(Bucket=BUCKET, Key="a", Body=b"hello")
    assert server.s3().get_object(Bucket=BUCKET, Key="a")["Body"].read() == b"hello"
    assert put(server, b"hello") == 200


@pytest.mark.parametrize("secret, key", [("wrong", None), ("wrong", "AKIANONE")])
def test_it_refuses_other_signatures_and_keys(server, secret, key):
    with pytest.raises(ClientError) as error:
        server.s3(key or server.access_key, secret).put_object(Bucket=BUCKET, Key="b", Body=b"hello")
    assert error.value.response["Error"]["Code"] in ["SignatureDoesNotMatch", "InvalidAccessKeyId"]


def test_it_refuses_requests_without_a_signature(server):
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(f"{server.url}/{BUCKET}/a")
    assert error.value.code in [400, 403]


def test_only_the_real_store_checks_that_a_body_has_the_signed_hash(server):
    if isinstance(server, S3Server):
        assert put(server, b"other bytes", signed_body=b"hello") == 200
    else:
        with pytest.raises(urllib.error.HTTPError) as error:
            put(server, b"other bytes", signed_body=b"hello")
        assert error.value.code == 400
        assert b"XAmzContentSHA256Mismatch" in error.value.read()


def test_only_the_real_store_checks_when_a_request_was_signed(server, monkeypatch):
    yesterday = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda *_, **__: yesterday)
    if isinstance(server, S3Server):
        assert put(server, b"hello") == 200
    else:
        with pytest.raises(urllib.error.HTTPError) as error:
            put(server, b"hello")
        assert error.value.code == 403
        assert b"RequestTimeTooSkewed" in error.value.read()
