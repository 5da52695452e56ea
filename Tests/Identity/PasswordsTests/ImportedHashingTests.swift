import JSONTree
import Testing

@testable import Passwords

/// A hash that another system has made of a password.
struct ImportCase: Sendable, CustomTestStringConvertible {
    let name: String
    let hashing: ImportedHashing
    var password = "password"
    var salt = "NaCl"
    /// In base64, or in hexadecimal.
    let hash: String

    var testDescription: String { name }

    var hashBytes: [UInt8] {
        let digits = Array(hash.utf8)
        guard digits.count % 2 == 0, digits.allSatisfy({ "0123456789abcdef".utf8.contains($0) })
        else { return Base64.decode(hash) ?? [] }
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }
}

private let firebaseKey =
    Base64.decode(
        "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
    ) ?? []

private let firebase = ImportedHashing(
    algorithm: .scrypt,
    signerKey: firebaseKey,
    saltSeparator: [7],
    rounds: 8,
    memoryCost: 14
)

private func scrypt(_ n: Int, _ r: Int, _ p: Int) -> ImportedHashing {
    ImportedHashing(
        algorithm: .standardScrypt,
        memoryCost: n,
        parallelization: p,
        blockSize: r,
        derivedKeyLength: 64
    )
}

private func keyed(
    _ algorithm: ImportedHashing.Algorithm,
    _ order: ImportedHashing.Order? = nil
) -> ImportedHashing {
    ImportedHashing(algorithm: algorithm, signerKey: Array("secret".utf8), order: order)
}

private func digest(
    _ algorithm: ImportedHashing.Algorithm,
    _ rounds: Int,
    _ order: ImportedHashing.Order? = nil,
    separator: [UInt8] = []
) -> ImportedHashing {
    ImportedHashing(
        algorithm: algorithm,
        saltSeparator: separator,
        rounds: rounds,
        order: order
    )
}

/// Source where none is named: what `hashlib` and `hmac` of Python 3.11 make, in the order in which the tests of
/// firebase-admin-node put password and salt.
private let cases: [ImportCase] = [
    ImportCase(
        name: "SCRYPT, github.com/firebase/scrypt README.md",
        hashing: firebase,
        password: "user1password",
        salt: "\u{0}",
        hash:
            "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="
    ),
    ImportCase(
        name: "SCRYPT, firebase-admin-node integration tests",
        hashing: firebase,
        hash:
            "V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw=="
    ),
    ImportCase(
        name: "STANDARD_SCRYPT, RFC 7914, the second",
        hashing: scrypt(1024, 8, 16),
        hash:
            "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
    ),
    ImportCase(
        name: "STANDARD_SCRYPT, RFC 7914, the third",
        hashing: scrypt(16_384, 8, 1),
        password: "pleaseletmein",
        salt: "SodiumChloride",
        hash:
            "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
    ),
    ImportCase(
        name: "PBKDF_SHA1, RFC 6070, the third",
        hashing: digest(.pbkdfSHA1, 4096),
        salt: "salt",
        hash: "4b007901b765489abead49d926f721d065a429c1"
    ),
    ImportCase(
        name: "PBKDF_SHA1, RFC 6070, the fifth",
        hashing: digest(.pbkdfSHA1, 4096),
        password: "passwordPASSWORDpassword",
        salt: "saltSALTsaltSALTsaltSALTsaltSALTsalt",
        hash: "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"
    ),
    ImportCase(
        name: "PBKDF2_SHA256, RFC 7914 section 11, the first",
        hashing: digest(.pbkdf2SHA256, 1),
        password: "passwd",
        salt: "salt",
        hash:
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
    ),
    ImportCase(
        name: "PBKDF2_SHA256, RFC 7914 section 11, the second",
        hashing: digest(.pbkdf2SHA256, 80_000),
        password: "Password",
        hash:
            "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"
    ),
    ImportCase(name: "HMAC_MD5", hashing: keyed(.hmacMD5), hash: "4tZGVrzeu9LZ9eWZ03FrLg=="),
    ImportCase(name: "HMAC_SHA1", hashing: keyed(.hmacSHA1), hash: "tSjltw8SZxad1AY6k8wDYCwUeyI="),
    ImportCase(
        name: "HMAC_SHA256",
        hashing: keyed(.hmacSHA256),
        hash: "C5WKh+Qa5RkMlq+h5DX5XKsBOsQt/DEKEaUBAMQqrlI="
    ),
    ImportCase(
        name: "HMAC_SHA256 with the salt first",
        hashing: keyed(.hmacSHA256, .saltFirst),
        hash: "ExOA8YX6DO2P838cxsMMdHTddVwTeqjm1H9BMFO7qWE="
    ),
    ImportCase(
        name: "HMAC_SHA512",
        hashing: keyed(.hmacSHA512),
        hash:
            "yoFsygT+IMma1lMv+IqBvfHM1DCminat6m9ku6Re5nl8QSy9Z3BwPG9FnejSRcu99tK4xSVVkY6I9euOf8nmQA=="
    ),
    ImportCase(name: "MD5 of 0 rounds", hashing: digest(.md5, 0), hash: "YtGffn3ctZRnKHdtJeQQ7Q=="),
    ImportCase(
        name: "MD5 in hexadecimal, as firebase-admin-node tests it",
        hashing: digest(.md5, 0),
        hash: "NjJkMTlmN2U3ZGRjYjU5NDY3Mjg3NzZkMjVlNDEwZWQ="
    ),
    ImportCase(
        name: "MD5 in capital hexadecimal",
        hashing: digest(.md5, 0),
        hash: "NjJEMTlGN0U3RERDYjU5NDY3Mjg3NzZkMjVlNDEwZWQ="
    ),
    ImportCase(name: "SHA1", hashing: digest(.sha1, 1), hash: "4ynUBUr/OQVsCQQZk/6FmoYdJy8="),
    ImportCase(
        name: "SHA1 of 3 rounds",
        hashing: digest(.sha1, 3),
        hash: "LxIWK1dRpQ6GqXBVHnIJs36x2OQ="
    ),
    ImportCase(
        name: "SHA256",
        hashing: digest(.sha256, 1),
        hash: "sgq3SqJUn34ToOiGy0RxzC5w/NLOgHXA7mSDq7phMvM="
    ),
    ImportCase(
        name: "SHA256 with the password first",
        hashing: digest(.sha256, 1, .passwordFirst),
        hash: "AoSAlxEEs3aR9BxDDlngf9TFrg9TMXsqouBs+N27/hA="
    ),
    ImportCase(
        name: "SHA256 with a separator behind the salt",
        hashing: digest(.sha256, 1, separator: [7]),
        hash: "RHdlzwWFYNorEIzSn11yDzQHK2VCmXvD0MZdr1riTZ0="
    ),
    ImportCase(
        name: "SHA512 of 3 rounds",
        hashing: digest(.sha512, 3),
        hash:
            "DBVKmTl0friuh/qRos488uf/iSrxwTdOUY23XCAepZTHWTikzlcVLydDukB/zliunJ2kYLmyCRV9FzXormDC5Q=="
    ),
    ImportCase(
        name: "ARGON2, the reference implementation's test.c",
        hashing: ImportedHashing(
            algorithm: .argon2,
            rounds: 2,
            memoryCost: 65_536,
            parallelization: 1
        ),
        salt: "somesalt",
        hash: "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7"
    ),
    ImportCase(
        name: "ARGON2 of the i kind, version 0x10, the reference implementation's test.c",
        hashing: ImportedHashing(
            algorithm: .argon2,
            rounds: 2,
            memoryCost: 65_536,
            parallelization: 1,
            variant: .i,
            isVersion13: false
        ),
        salt: "somesalt",
        hash: "f6c4db4a54e2a370627aff3db6176b94a2a209a62c8e36152711802f7b30c694"
    ),
]

@Suite("imported hashes")
struct ImportedHashingTests {
    private let cost = PasswordCost(memoryKiB: 8 << 10, passes: 1)

    @Test("know their password and no other, and become hashes of ours", arguments: cases)
    func vectors(test: ImportCase) {
        // The salt of the README has bytes that are no text.
        let salt =
            test.salt == "\u{0}"
            ? Base64.decode("42xEC+ixf3L2lw==") ?? [] : Array(test.salt.utf8)
        #expect(test.hashing.fault == nil)
        #expect(test.hashing.fault(hash: test.hashBytes, salt: salt) == nil)
        let stored = StoredPassword(importedHash: test.hashBytes, salt: salt, hashingID: "x")
        #expect(stored.importedHashingID == "x")
        let right = PasswordHasher.perform(
            .verify(password: Array(test.password.utf8), stored, test.hashing, cost)
        )
        guard case .right(let renewed?) = right else {
            Issue.record("\(right)")
            return
        }
        #expect(renewed.isWellFormed)
        #expect(renewed.importedHashingID == nil)
        let again = PasswordHasher.perform(
            .verify(password: Array(test.password.utf8), renewed, test.hashing, cost)
        )
        #expect(again == .right(renewed: nil))
        for other in [test.password + "x", String(test.password.dropLast()), "", "\u{0}"] {
            let wrong = PasswordHasher.perform(
                .verify(password: Array(other.utf8), stored, test.hashing, cost)
            )
            #expect(wrong == .wrong, "'\(other)' was taken")
        }
    }

    @Test("without their parameters are never right")
    func noParameters() {
        let stored = StoredPassword(
            importedHash: cases[16].hashBytes,
            salt: Array("NaCl".utf8),
            hashingID: "x"
        )
        let outcome = PasswordHasher.perform(
            .verify(password: Array("password".utf8), stored, nil, cost)
        )
        #expect(outcome == .wrong)
    }

    @Test(
        "are refused when a sign-in would take too long, or anything would fit",
        arguments: [
            (ImportedHashing(algorithm: .scrypt, rounds: 8, memoryCost: 14), "signerKey are 0"),
            (
                ImportedHashing(algorithm: .scrypt, signerKey: [1], rounds: 8, memoryCost: 14),
                "fewer than 16"
            ),
            (
                ImportedHashing(
                    algorithm: .scrypt,
                    signerKey: firebaseKey,
                    rounds: 9,
                    memoryCost: 14
                ), "rounds is 9, not 1 to 8"
            ),
            (
                ImportedHashing(
                    algorithm: .scrypt,
                    signerKey: firebaseKey,
                    rounds: 8,
                    memoryCost: 15
                ), "memoryCost is 15"
            ),
            (scrypt(1000, 8, 1), "no power of two"), (scrypt(0, 8, 1), "no power of two"),
            (scrypt(-8, 8, 1), "no power of two"), (scrypt(1 << 20, 8, 1), "too long"),
            (scrypt(1 << 18, 8, 64), "too long"), (scrypt(1 << 62, 1 << 40, 1), "too long"),
            (scrypt(1024, 0, 1), "too long"), (scrypt(1024, 8, .max), "too long"),
            (keyed(.hmacMD5), nil),
            (ImportedHashing(algorithm: .hmacSHA256), "signerKey are 0"),
            (digest(.md5, 8193), "not 0 to 8192"), (digest(.sha1, -1), "rounds is -1"),
            (digest(.pbkdf2SHA256, 1_000_001), "rounds is 1000001"),
            (digest(.sha256, 1, separator: [UInt8](repeating: 0, count: 257)), "separator"),
            (
                ImportedHashing(
                    algorithm: .argon2,
                    rounds: 1,
                    memoryCost: 1 << 30,
                    parallelization: 1
                ), "out of bounds"
            ),
            (
                ImportedHashing(
                    algorithm: .argon2,
                    rounds: 20,
                    memoryCost: 1 << 18,
                    parallelization: 1
                ), "out of bounds"
            ),
            (
                ImportedHashing(
                    algorithm: .argon2,
                    rounds: 1,
                    memoryCost: 64,
                    parallelization: 16
                ), "out of bounds"
            ),
        ] as [(ImportedHashing, String?)]
    )
    func bounds(hashing: ImportedHashing, part: String?) {
        if let part {
            let fault = hashing.fault ?? "none"
            #expect(fault.contains(part), "\(fault)")
            let stored = StoredPassword(
                importedHash: [UInt8](repeating: 0, count: 64),
                salt: [],
                hashingID: "x"
            )
            let outcome = PasswordHasher.perform(
                .verify(password: [1], stored, hashing, cost)
            )
            #expect(outcome == .wrong)
        } else {
            #expect(hashing.fault == nil)
        }
    }

    @Test(
        "of lengths that cannot be are refused",
        arguments: [
            (firebase, 63, "signer key 64"), (digest(.sha256, 1), 31, "instead of 32"),
            (digest(.md5, 1), 0, "instead of 16"), (digest(.pbkdf2SHA256, 1), 15, "16 to 64"),
            (digest(.pbkdf2SHA256, 1), 65, "16 to 64"), (scrypt(1024, 8, 1), 32, "instead of 64"),
            (
                ImportedHashing(algorithm: .argon2, rounds: 1, memoryCost: 64, parallelization: 1),
                129, "16 to 128"
            ),
        ]
    )
    func lengths(hashing: ImportedHashing, count: Int, part: String) {
        let salt = Array("somesalt".utf8)
        let fault = hashing.fault(hash: [UInt8](repeating: 0, count: count), salt: salt) ?? "none"
        #expect(fault.contains(part), "\(fault)")
    }
}
