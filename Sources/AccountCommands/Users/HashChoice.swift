import DataCommands

/// How the passwords in a file are hashed, as `firebase auth:import` is told it.
package struct HashChoice: Sendable {
    package var algorithm: String?
    /// Base64.
    package var key: String?
    /// Base64.
    package var saltSeparator: String?
    package var rounds: Int?
    package var memoryCost: Int?
    package var parallelization: Int?
    package var blockSize: Int?
    package var derivedKeyLength: Int?
    /// `SALT_FIRST` or `PASSWORD_FIRST`.
    package var inputOrder: String?

    package init() {}

    /// What an algorithm has to be told, with the ranges of Firebase.
    private struct Needs {
        var key = false
        var rounds: ClosedRange<Int>?
        var memoryCost: ClosedRange<Int>?
        var isStandardScrypt = false
    }

    private static let needs: [String: Needs] = [
        "SCRYPT": Needs(key: true, rounds: 1...8, memoryCost: 1...14),
        "STANDARD_SCRYPT": Needs(isStandardScrypt: true),
        "HMAC_SHA512": Needs(key: true), "HMAC_SHA256": Needs(key: true),
        "HMAC_SHA1": Needs(key: true), "HMAC_MD5": Needs(key: true),
        "MD5": Needs(rounds: 0...8192), "SHA1": Needs(rounds: 1...8192),
        "SHA256": Needs(rounds: 1...8192), "SHA512": Needs(rounds: 1...8192),
        "PBKDF_SHA1": Needs(rounds: 0...120_000), "PBKDF2_SHA256": Needs(rounds: 0...120_000),
    ]

    /// The members that `accounts:batchCreate` takes; none without an algorithm.
    ///
    /// - Throws: `CommandError` of the kind `usage` for what is missing, unknown or out of range.
    func members() throws(CommandError) -> JSONObjectText {
        var body = JSONObjectText()
        guard let algorithm = algorithm?.uppercased() else {
            guard isEmpty else {
                throw .usage("how passwords are hashed begins with --hash-algo")
            }
            return body
        }
        guard let needs = Self.needs[algorithm] else {
            let names = Self.needs.keys.sorted().joined(separator: ", ")
            throw .usage("--hash-algo: '\(algorithm)' is not one of \(names)")
        }
        if needs.key, key?.isEmpty ?? true {
            throw .usage("--hash-key: \(algorithm) needs the key, in base64")
        }
        try Self.check("--rounds", rounds, needs.rounds, algorithm)
        try Self.check("--mem-cost", memoryCost, needs.memoryCost, algorithm)
        body.add("hashAlgorithm", algorithm)
        body.add("signerKey", key.map(Base64Form.webSafe))
        body.add("saltSeparator", saltSeparator.map(Base64Form.webSafe))
        body.add("rounds", rounds.map { Int64($0) })
        if needs.isStandardScrypt {
            let costs = [
                ("--mem-cost", "cpuMemCost", memoryCost),
                ("--parallelization", "parallelization", parallelization),
                ("--block-size", "blockSize", blockSize), ("--dk-len", "dkLen", derivedKeyLength),
            ]
            for (option, name, number) in costs {
                guard let number, number > 0 else {
                    throw .usage("\(option): \(algorithm) needs a number above 0")
                }
                body.add(name, Int64(number))
            }
        } else {
            body.add("memoryCost", memoryCost.map { Int64($0) })
        }
        body.add("passwordHashOrder", try order())
        return body
    }

    private var isEmpty: Bool {
        key == nil && saltSeparator == nil && rounds == nil && memoryCost == nil
            && parallelization == nil && blockSize == nil && derivedKeyLength == nil
            && inputOrder == nil
    }

    private static func check(
        _ option: String,
        _ number: Int?,
        _ range: ClosedRange<Int>?,
        _ algorithm: String
    ) throws(CommandError) {
        guard let range else { return }
        guard let number, range.contains(number) else {
            throw .usage(
                "\(option): \(algorithm) needs a number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
    }

    private func order() throws(CommandError) -> String? {
        switch inputOrder?.uppercased() {
        case nil: nil
        case "SALT_FIRST": "SALT_AND_PASSWORD"
        case "PASSWORD_FIRST": "PASSWORD_AND_SALT"
        case .some(let text):
            throw .usage("--hash-input-order: '\(text)' is not SALT_FIRST or PASSWORD_FIRST")
        }
    }
}
