"""botocore, Amazon's own client, is the second opinion on how requests to S3 stores are signed."""

import os

import pytest

import s3_signatures

ROWS = s3_signatures.rows()


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_botocore_signs_as_the_table_says(row):
    if row["source"] == "botocore" and os.environ.get("UPDATE_SPECS"):
        row["signature"] = s3_signatures.signature(row)
        s3_signatures.write(ROWS)
    assert s3_signatures.signature(row) == row["signature"]
