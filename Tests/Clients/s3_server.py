"""An S3-compatible server for tests, in memory: moto's, which checks signatures with botocore's code.

As a program it prints one line of JSON and runs until its input ends:

    .venv/bin/python Tests/Clients/s3_server.py
    {"url": "http://127.0.0.1:40123", "bucket": "files", "region": "us-east-1", "accessKey": "...", "secret": "..."}

moto stands in for real stores. It does not check that a body has the hash that was signed, nor dates, nor regions;
`s3_store.py` starts a store that does.
"""

import json
import logging
import os
import sys

# Calls that are free, which make the first user: her policy and her key, and the bucket.
FREE = 4
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = str(FREE)

import boto3
from botocore.config import Config
from moto.server import ThreadedMotoServer

BUCKET = "files"
REGION = "us-east-1"


class S3Server:
    def __init__(self):
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        self.url = "http://127.0.0.1:{}".format(self.server.get_host_and_port()[1])
        iam = self.client("iam", "none", "none")
        policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
        iam.create_user(UserName="hearth")
        iam.put_user_policy(UserName="hearth", PolicyName="all", PolicyDocument=json.dumps(policy))
        key = iam.create_access_key(UserName="hearth")["AccessKey"]
        self.access_key, self.secret = key["AccessKeyId"], key["SecretAccessKey"]
        self.client("s3", "none", "none").create_bucket(Bucket=BUCKET)

    def client(self, service, access_key, secret):
        return boto3.client(
            service, endpoint_url=self.url, region_name=REGION, aws_access_key_id=access_key,
            aws_secret_access_key=secret,
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
        )

    def s3(self, access_key=None, secret=None):
        return self.client("s3", access_key or self.access_key, secret or self.secret)

    def stop(self):
        self.server.stop()


def main():
    server = S3Server()
    facts = {"url": server.url, "bucket": BUCKET, "region": REGION, "accessKey": server.access_key, "secret": server.secret}
    print(json.dumps(facts), flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
