"""The table of signed requests that the Swift client of S3 stores is held to, and botocore's signatures of them.

A row has a request as it is before escaping, and the signature that its source gives it. Rows of the source `botocore`
are written by it: UPDATE_SPECS=1 makes them anew.
"""

import json
from pathlib import Path
from urllib.parse import quote

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

TABLE = Path(__file__).parent.parent / "Network/ObjectStorageTests/Specs/signatures.json"


class EscapedOnce(SigV4Auth):
    """For services other than S3, whose paths botocore would escape again; those of the suite are as they are sent."""

    def _normalize_url_path(self, path):
        return path


def rows():
    return json.loads(TABLE.read_text())


def write(table):
    lines = ",\n".join("  " + json.dumps(row) for row in table)
    TABLE.write_text(f"[\n{lines}\n]\n")


def escaped(text, safe=""):
    return quote(text, safe=safe + "~")


def signature(row):
    """What botocore signs a row with."""
    credentials = Credentials(row["accessKey"], row["secret"], row.get("token"))
    kind = S3SigV4Auth if row["service"] == "s3" else EscapedOnce
    auth = kind(credentials, row["service"], row["region"])
    query = "&".join(f"{escaped(name)}={escaped(value)}" for name, value in row["query"])
    path = escaped(row["path"], "/")
    request = AWSRequest(row["method"], f"https://{row['host']}{path}" + (f"?{query}" if query else ""))
    for name, value in row["headers"]:
        request.headers[name] = value
    request.headers["Host"] = row["host"]
    request.headers["X-Amz-Date"] = row["date"]
    if row.get("token"):
        request.headers["X-Amz-Security-Token"] = row["token"]
    if row["sendsPayload"]:
        request.headers["X-Amz-Content-SHA256"] = row["payload"]
    request.context["timestamp"] = row["date"]
    auth.payload = lambda request: row["payload"]
    canonical = auth.canonical_request(request)
    return auth.signature(auth.string_to_sign(request, canonical), request)
