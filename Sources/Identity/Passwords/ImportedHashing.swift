/// The hashing of imported passwords; many accounts share one.
package struct ImportedHashing: Sendable, Equatable {
    /// The names of the Admin SDKs. Source: Firebase Admin SDK, "Import users"; `ARGON2`: Identity Platform API.
    package enum Algorithm: String, Sendable, CaseIterable {
        /// Firebase's own: the signer key under AES-256-CTR with a key from scrypt.
        case scrypt = "SCRYPT"
        case standardScrypt = "STANDARD_SCRYPT"
        case hmacSHA512 = "HMAC_SHA512"
        case hmacSHA256 = "HMAC_SHA256"
        case hmacSHA1 = "HMAC_SHA1"
        case hmacMD5 = "HMAC_MD5"
        case md5 = "MD5"
        case sha1 = "SHA1"
        case sha256 = "SHA256"
        case sha512 = "SHA512"
        case pbkdfSHA1 = "PBKDF_SHA1"
        case pbkdf2SHA256 = "PBKDF2_SHA256"
        case argon2 = "ARGON2"
    }

    /// The first part where password and salt are joined. The names are those of the API.
    package enum Order: String, Sendable, CaseIterable {
        case saltFirst = "SALT_AND_PASSWORD"
        case passwordFirst = "PASSWORD_AND_SALT"
    }

    package var algorithm: Algorithm
    /// Of `.scrypt`, and the key of the HMAC algorithms.
    package var signerKey: [UInt8] = []
    /// Stands behind the salt.
    package var saltSeparator: [UInt8] = []
    /// Of `.scrypt`: its block size. Of `.argon2`: passes. Of the others: how often the hash is made, 0 as 1.
    package var rounds = 0
    /// Of `.scrypt`: 2 to this power is N. Of `.standardScrypt`: N. Of `.argon2`: KiB.
    package var memoryCost = 0
    /// Of `.standardScrypt` and `.argon2`.
    package var parallelization = 0
    /// Of `.standardScrypt`.
    package var blockSize = 0
    /// Of `.standardScrypt` and `.argon2`: bytes of a hash; 0 for as many as there are.
    package var derivedKeyLength = 0
    /// Of the HMAC algorithms, MD5 and SHA; nil for Firebase's order: HMAC the password first, others the salt.
    package var order: Order?
    /// Of `.argon2`.
    package var variant = Argon2Variant.id
    /// Of `.argon2`: whether it is version 0x13; else 0x10.
    package var isVersion13 = true
    /// Of `.argon2`.
    package var associatedData: [UInt8] = []

    /// The parameters of `.argon2`.
    var argon2: Argon2 {
        Argon2(
            variant: variant,
            isVersion13: isVersion13,
            memoryKiB: memoryCost,
            passes: rounds,
            lanes: parallelization,
            associatedData: associatedData
        )
    }

    /// Bytes of one digest of the HMAC algorithms, MD5 and SHA; nil for the others, whose hashes can have any length.
    var digestByteCount: Int? {
        switch algorithm {
        case .md5, .hmacMD5: 16
        case .sha1, .hmacSHA1: 20
        case .sha256, .hmacSHA256: 32
        case .sha512, .hmacSHA512: 64
        case .scrypt, .standardScrypt, .pbkdfSHA1, .pbkdf2SHA256, .argon2: nil
        }
    }
}

extension ImportedHashing {
    /// One without parameters yet.
    package init(_ algorithm: Algorithm) { self.init(algorithm: algorithm) }
}
