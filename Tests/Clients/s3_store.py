"""OpenStack Swift with its S3 interface: a real store, on one folder and four ports, for tests.

It checks signatures by its own code, that a body has the hash that was signed, and dates. As a program it prints what
`s3_server.py` prints, and runs until its input ends.
"""

import getpass
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from nats_brokers import free_ports

BUCKET = "files"
REGION = "us-east-1"
ACCESS_KEY, SECRET = "admin:admin", "store-secret"

# The servers behind the one that clients speak to, and their modules.
KINDS = {"object": "obj", "container": "container", "account": "account"}

FILTERS = "catch_errors gatekeeper healthcheck listing_formats bulk s3api tempauth copy slo dlo versioned_writes symlink"

SETTINGS = {
    "s3api": f"location = {REGION}\nstorage_domain = localhost",
    "tempauth": f"user_admin_admin = {SECRET} .admin .reseller_admin",
    "versioned_writes": "allow_object_versioning = true",
}

# Writes where a kind of server of the store is.
RING = """
import sys
from swift.common.ring import RingBuilder
builder = RingBuilder(4, 1, 1)
builder.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": int(sys.argv[2]), "device": "d1", "weight": 1})
builder.rebalance()
builder.get_ring().save(sys.argv[1])
"""

# A server of the store, which ends with the process that started it.
SERVER = """
import ctypes, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
from swift.common.utils import set_swift_dir
set_swift_dir(sys.argv[1])
from importlib import import_module
module = import_module(sys.argv[2])
sys.argv = ["server", sys.argv[3]]
module.main()
"""


class S3Store:
    access_key, secret = ACCESS_KEY, SECRET

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hearth-s3-"))
        (self.folder / "devices/d1").mkdir(parents=True)
        (self.folder / "swift.conf").write_text(
            "[swift-hash]\nswift_hash_path_suffix = a\nswift_hash_path_prefix = b\n[storage-policy:0]\nname = one\ndefault = yes\n"
        )
        *ports, self.port = free_ports(4)
        self.url = f"http://127.0.0.1:{self.port}"
        for kind, port in zip(KINDS, ports):
            self.make_ring(kind, port)
            self.write(kind, port, f"[pipeline:main]\npipeline = {kind}-server\n[app:{kind}-server]\nuse = egg:swift#{kind}\n")
        filters = "".join(
            f"[filter:{name}]\nuse = egg:swift#{name}\n{SETTINGS.get(name, '')}\n" for name in FILTERS.split()
        )
        self.write(
            "proxy", self.port,
            f"[pipeline:main]\npipeline = {FILTERS} proxy-server\n[app:proxy-server]\nuse = egg:swift#proxy\n"
            f"account_autocreate = true\nallow_account_management = true\n{filters}",
        )
        self.processes = [self.start(kind) for kind in [*KINDS, "proxy"]]
        self.wait()

    def make_ring(self, kind, port):
        # In a process of its own: the store's modules replace locks of logging by those of another kind of thread.
        subprocess.run([sys.executable, "-c", RING, self.folder / f"{kind}.ring.gz", str(port)], check=True)

    def write(self, kind, port, text):
        (self.folder / f"{kind}.conf").write_text(
            f"[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = {port}\nuser = {getpass.getuser()}\nworkers = 0\nmount_check = false\n"
            f"devices = {self.folder}/devices\nswift_dir = {self.folder}\nrecon_cache_path = {self.folder}\n"
            f"fallocate_reserve = 0\n{text}"
        )

    def start(self, kind):
        arguments = [sys.executable, "-c", SERVER, self.folder, f"swift.{KINDS.get(kind, kind)}.server", self.folder / f"{kind}.conf"]
        with (self.folder / f"{kind}.log").open("w") as log:
            return subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait(self):
        for _ in range(600):
            ended = [one for one in self.processes if one.poll() is not None]
            if ended:
                break
            try:
                urllib.request.urlopen(f"{self.url}/healthcheck").close()
                self.s3().create_bucket(Bucket=BUCKET)
                return
            except Exception:
                time.sleep(0.1)
        logs = "\n".join(path.read_text() for path in self.folder.glob("*.log"))
        self.stop()
        raise RuntimeError(f"the store does not start: {logs}")

    def s3(self, access_key=ACCESS_KEY, secret=SECRET):
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3", endpoint_url=self.url, region_name=REGION, aws_access_key_id=access_key, aws_secret_access_key=secret,
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
        )

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    store = S3Store()
    facts = {"url": store.url, "bucket": BUCKET, "region": REGION, "accessKey": ACCESS_KEY, "secret": SECRET}
    print(json.dumps(facts), flush=True)
    sys.stdin.read()
    store.stop()


if __name__ == "__main__":
    main()
