import JSONTree

/// The stored hash of an account's password.
///
///     $argon2id$v=19$m=65536,t=3,p=1$SALT$HASH      made here; SALT and HASH in base64 without padding
///     $import$ID$SALT$HASH                          imported; ID names an `ImportedHashing`, SALT and HASH in base64url
package struct StoredPassword: Sendable, Equatable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// An imported one, with its salt; `hashingID` names its hashing.
    package init(importedHash hash: [UInt8], salt: [UInt8], hashingID: String) {
        let salt = Base64.encode(salt, .url)
        let hash = Base64.encode(hash, .url)
        text = "$import$\(hashingID)$\(salt)$\(hash)"
    }

    /// The id of an imported password's hashing; nil for one of ours.
    package var importedHashingID: String? {
        guard text.utf8.starts(with: "$import$".utf8) else { return nil }
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        return parts.count == 5 && parts[0].isEmpty && parts[1] == "import"
            ? String(parts[2]) : nil
    }

    /// Whether it is a hash of ours that can be checked: parameters within their bounds, nothing missing.
    package var isWellFormed: Bool { ownHash != nil }

    /// What one of ours consists of; nil for anything that cannot be.
    var ownHash: (argon2: Argon2, salt: [UInt8], hash: [UInt8])? {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].isEmpty, parts[1] == Argon2Variant.id.rawValue,
            parts[2] == "v=19",
            let argon2 = Self.parameters(parts[3]),
            let salt = Base64.decode(String(parts[4])),
            let hash = Base64.decode(String(parts[5])),
            argon2.isWithinBounds, Argon2.saltByteCounts.contains(salt.count),
            Argon2.hashByteCounts.contains(hash.count)
        else { return nil }
        return (argon2, salt, hash)
    }

    /// Salt and hash of an imported one.
    package var importedHash: (salt: [UInt8], hash: [UInt8])? {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard importedHashingID != nil, let salt = Base64.decode(String(parts[3])),
            let hash = Base64.decode(String(parts[4]))
        else { return nil }
        return (salt, hash)
    }

    /// The form of `m=65536,t=3,p=1`.
    init(_ argon2: Argon2, salt: [UInt8], hash: [UInt8]) {
        text =
            "$\(argon2.variant.rawValue)$v=19$m=\(argon2.memoryKiB),t=\(argon2.passes),p=\(argon2.lanes)"
            + "$\(Base64.encode(salt, .standard))$\(Base64.encode(hash, .standard))"
    }

    private static func parameters(_ text: Substring) -> Argon2? {
        let members = text.split(separator: ",", omittingEmptySubsequences: false)
        guard members.count == 3 else { return nil }
        var numbers: [Int] = []
        for (member, name) in zip(members, ["m=", "t=", "p="]) {
            guard member.hasPrefix(name), let number = Int(member.dropFirst(2)) else { return nil }
            numbers.append(number)
        }
        return Argon2(memoryKiB: numbers[0], passes: numbers[1], lanes: numbers[2])
    }
}
