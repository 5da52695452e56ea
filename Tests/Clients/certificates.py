"""Certificates as an authority would give them: a root, one in between, and a server's."""

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Holder:
    """A certificate and its key."""

    def __init__(self, name, issuer=None, hosts=None, days=(-1, 30), kind="ec"):
        self.key = (
            ec.generate_private_key(ec.SECP256R1())
            if kind == "ec"
            else rsa.generate_private_key(public_exponent=65537, key_size=2048)
        )
        self.name = _name(name)
        now = datetime.datetime.now(datetime.timezone.utc)
        signer = issuer or self
        builder = (
            x509.CertificateBuilder()
            .subject_name(self.name)
            .issuer_name(signer.name)
            .public_key(self.key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + datetime.timedelta(days=days[0]))
            .not_valid_after(now + datetime.timedelta(days=days[1]))
            .add_extension(x509.BasicConstraints(ca=hosts is None, path_length=None), critical=True)
        )
        if hosts is not None:
            names = [self._alternative(host) for host in hosts]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        else:
            usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
            builder = builder.add_extension(usage, critical=True)
        # Newer verifiers want to know which keys belong together.
        builder = builder.add_extension(
            x509.SubjectKeyIdentifier.from_public_key(self.key.public_key()), critical=False
        ).add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.key.public_key()),
            critical=False,
        )
        self.certificate = builder.sign(signer.key, hashes.SHA256())

    @staticmethod
    def _alternative(host):
        try:
            return x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            return x509.DNSName(host)

    @property
    def pem(self):
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def key_pem(self, passphrase=None):
        encryption = (
            serialization.BestAvailableEncryption(passphrase)
            if passphrase
            else serialization.NoEncryption()
        )
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
        )


class Identity:
    """The files of a TLS server: `chain` has its certificate and the one in between, `root` is what clients trust."""

    def __init__(self, folder, hosts=("localhost", "127.0.0.1"), days=(-1, 30), kind="ec"):
        self.chain = folder / "chain.pem"
        self.key = folder / "key.pem"
        self.root = folder / "root.pem"
        self.authority = Holder("Root")
        self.between = Holder("Between", self.authority)
        self.root.write_bytes(self.authority.pem)
        self.renew(hosts, days, kind)

    def renew(self, hosts=("localhost", "127.0.0.1"), days=(-1, 30), kind="ec"):
        """Writes another certificate of the same authority."""
        self.holder = Holder("Server", self.between, hosts, days, kind)
        self.chain.write_bytes(self.holder.pem + self.between.pem)
        self.key.write_bytes(self.holder.key_pem())
        self.key.chmod(0o600)

    @property
    def flags(self):
        return ["--tls-cert", str(self.chain), "--tls-key", str(self.key)]
