/// Limits of imported hashes, so that no import makes a sign-in take minutes or gigabytes.
///
/// At these bounds a check takes about a second on a server of 2020.
package enum ImportLimits {
    /// Bytes of a key for signing.
    package static let keyByteCounts = 1...1024
    /// Bytes of a salt, of a separator behind it, and of associated data.
    package static let saltByteCounts = 0...256
    /// Bytes of a hash: with fewer, strangers' passwords begin to fit.
    package static let hashByteCounts = 16...1024
    /// Source: Firebase Admin SDK, "Import users".
    package static let scryptRounds = 1...8
    package static let scryptMemoryCosts = 1...14
    package static let digestRounds = 0...8192
    /// Firebase allows 120,000; newer frameworks use more.
    package static let derivationRounds = 0...1_000_000
    /// Bytes of a hash of PBKDF2, whose every digest costs all rounds again.
    package static let derivedByteCounts = 16...64
    /// Bytes that scrypt fills: 128 times N times the block size.
    package static let scryptByteCount = 256 << 20
    /// Blocks that scrypt mixes: N times block size times parallelization.
    package static let scryptBlockCount = 2 << 20
    /// KiB that Argon2 processes in all its passes, within `PasswordCost.memoryRange` and `passRange`.
    package static let argon2KiB = 1 << 20
    /// KiB that Argon2 fills at least, here where others have chosen it.
    package static let argon2Memory = 8...(256 << 10)
}

extension ImportedHashing {
    /// A fault of the parameters, as half a sentence; nil when passwords can be checked with them.
    package var fault: String? {
        guard ImportLimits.saltByteCounts.contains(saltSeparator.count) else {
            return
                "the salt separator has more than \(ImportLimits.saltByteCounts.upperBound) bytes"
        }
        switch algorithm {
        case .scrypt:
            return keyFault
                ?? fault("rounds", rounds, in: ImportLimits.scryptRounds)
                ?? fault("memoryCost", memoryCost, in: ImportLimits.scryptMemoryCosts)
        case .standardScrypt: return standardScryptFault
        case .hmacSHA512, .hmacSHA256, .hmacSHA1, .hmacMD5: return keyFault
        case .md5, .sha1, .sha256, .sha512:
            return fault("rounds", rounds, in: ImportLimits.digestRounds)
        case .pbkdfSHA1, .pbkdf2SHA256:
            return fault("rounds", rounds, in: ImportLimits.derivationRounds)
        case .argon2: return argon2Fault
        }
    }

    /// A fault of the hash and salt of one user, as half a sentence; nil when a password can be checked with them.
    package func fault(hash: [UInt8], salt: [UInt8]) -> String? {
        guard ImportLimits.saltByteCounts.contains(salt.count) else {
            return "the salt has more than \(ImportLimits.saltByteCounts.upperBound) bytes"
        }
        switch algorithm {
        case .scrypt:
            if hash.count == signerKey.count { return nil }
            return "the hash has \(hash.count) bytes and the signer key \(signerKey.count)"
        case .hmacSHA512, .hmacSHA256, .hmacSHA1, .hmacMD5, .md5, .sha1, .sha256, .sha512:
            guard let count = digestByteCount, hash.count != count, hash.count != 2 * count else {
                return nil
            }
            return
                "the hash has \(hash.count) bytes instead of \(count), or twice that in hexadecimal"
        case .pbkdfSHA1, .pbkdf2SHA256:
            return fault("hash", hash.count, in: ImportLimits.derivedByteCounts)
        case .standardScrypt, .argon2:
            if derivedKeyLength != 0, hash.count != derivedKeyLength {
                return "the hash has \(hash.count) bytes instead of \(derivedKeyLength)"
            }
            if algorithm == .argon2, !Argon2.saltByteCounts.contains(salt.count) {
                return "the salt has \(salt.count) bytes, not \(Self.text(Argon2.saltByteCounts))"
            }
            return fault("hash", hash.count, in: Argon2.hashByteCounts)
        }
    }

    private var keyFault: String? {
        fault("signerKey", signerKey.count, in: ImportLimits.keyByteCounts)
            ?? (algorithm == .scrypt && signerKey.count < ImportLimits.hashByteCounts.lowerBound
                ? "the signer key has fewer than \(ImportLimits.hashByteCounts.lowerBound) bytes"
                : nil)
    }

    private var standardScryptFault: String? {
        let (n, r, p) = (memoryCost, blockSize, parallelization)
        guard n > 1, n & (n - 1) == 0 else { return "the memory cost \(n) is no power of two" }
        guard n <= 1 << 24, (1...1024).contains(r), (1...1024).contains(p),
            128 * n * r <= ImportLimits.scryptByteCount, n * r * p <= ImportLimits.scryptBlockCount
        else {
            return "scrypt with N=\(n), r=\(r), p=\(p) takes too long"
        }
        return derivedKeyLength == 0
            ? nil : fault("dkLen", derivedKeyLength, in: Argon2.hashByteCounts)
    }

    private var argon2Fault: String? {
        guard ImportLimits.saltByteCounts.contains(associatedData.count) else {
            return
                "the associated data has more than \(ImportLimits.saltByteCounts.upperBound) bytes"
        }
        guard ImportLimits.argon2Memory.contains(memoryCost),
            PasswordCost.passRange.contains(rounds), Argon2.laneRange.contains(parallelization),
            memoryCost >= 8 * parallelization, memoryCost * rounds <= ImportLimits.argon2KiB
        else {
            return "Argon2 with \(memoryCost) KiB, \(rounds) iterations, \(parallelization) lanes "
                + "is out of bounds"
        }
        return derivedKeyLength == 0
            ? nil : fault("hashLengthBytes", derivedKeyLength, in: Argon2.hashByteCounts)
    }

    private func fault(_ name: String, _ value: Int, in range: ClosedRange<Int>) -> String? {
        if range.contains(value) { return nil }
        let unit = ["hash", "signerKey"].contains(name) ? "the bytes of \(name) are" : "\(name) is"
        return "\(unit) \(value), not \(Self.text(range))"
    }

    private static func text(_ range: ClosedRange<Int>) -> String {
        "\(range.lowerBound) to \(range.upperBound)"
    }
}
