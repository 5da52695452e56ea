import ArgumentParser
import JSONTree

/// How the passwords in a file are hashed, with the options of `firebase auth:import`.
struct HashOptions: ParsableArguments {
    @Option(
        value: "algorithm",
        help: "How passwords are hashed: SCRYPT, STANDARD_SCRYPT, PBKDF2_SHA256, HMAC_SHA256, ..."
    )
    var hashAlgo: String?

    @Option(help: .value("base64", "The key of the algorithm, in base64."))
    var hashKey: String?

    @Option(help: .value("base64", "Stands behind each salt, in base64."))
    var saltSeparator: String?

    @Option(help: .value("number", "Rounds of the algorithm."))
    var rounds: Int?

    @Option(help: .value("number", "Memory cost of the scrypt algorithms."))
    var memCost: Int?

    @Option(help: .value("number", "Of STANDARD_SCRYPT."))
    var parallelization: Int?

    @Option(help: .value("number", "Of STANDARD_SCRYPT."))
    var blockSize: Int?

    @Option(help: .value("number", "Bytes of a hash of STANDARD_SCRYPT."))
    var dkLen: Int?

    @Option(help: .value("order", "What is hashed first: SALT_FIRST or PASSWORD_FIRST."))
    var hashInputOrder: String?

    /// The options that an algorithm needs, with the ranges of Firebase.
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
    /// - Throws: `CommandError` of the kind `usage` for an option that is missing, unknown or out of range.
    func members() throws(CommandError) -> JSONMembers {
        var body = JSONMembers()
        guard let algorithm = hashAlgo?.uppercased() else {
            guard isEmpty else {
                throw .usage("how passwords are hashed begins with --hash-algo")
            }
            return body
        }
        guard let needs = Self.needs[algorithm] else {
            let names = Self.needs.keys.sorted().joined(separator: ", ")
            throw .usage("--hash-algo: '\(algorithm)' is not one of \(names)")
        }
        if needs.key, hashKey?.isEmpty ?? true {
            throw .usage("--hash-key: \(algorithm) needs the key, in base64")
        }
        try Self.check("--rounds", rounds, needs.rounds, algorithm)
        try Self.check("--mem-cost", memCost, needs.memoryCost, algorithm)
        body.add("hashAlgorithm", algorithm)
        body.add("signerKey", hashKey.map(Base64Form.webSafe))
        body.add("saltSeparator", saltSeparator.map(Base64Form.webSafe))
        body.add("rounds", rounds.map { .number($0) })
        if needs.isStandardScrypt {
            let costs = [
                ("--mem-cost", "cpuMemCost", memCost),
                ("--parallelization", "parallelization", parallelization),
                ("--block-size", "blockSize", blockSize), ("--dk-len", "dkLen", dkLen),
            ]
            for (option, name, number) in costs {
                guard let number, number > 0 else {
                    throw .usage("\(option): \(algorithm) needs a number above 0")
                }
                body.add(name, count: number)
            }
        } else {
            body.add("memoryCost", memCost.map { .number($0) })
        }
        body.add("passwordHashOrder", try order())
        return body
    }

    private var isEmpty: Bool {
        hashKey == nil && saltSeparator == nil && rounds == nil && memCost == nil
            && parallelization == nil && blockSize == nil && dkLen == nil && hashInputOrder == nil
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
        switch hashInputOrder?.uppercased() {
        case nil: nil
        case "SALT_FIRST": "SALT_AND_PASSWORD"
        case "PASSWORD_FIRST": "PASSWORD_AND_SALT"
        case .some(let text):
            throw .usage("--hash-input-order: '\(text)' is not SALT_FIRST or PASSWORD_FIRST")
        }
    }
}
