/// Makes and checks hashes of passwords. Slow on purpose: only the password thread calls it.
package enum PasswordHasher {
    /// Bytes of a salt. Source: RFC 9106 section 3.1.
    package static let saltByteCount = 16
    static let hashByteCount = 32

    /// Does `work`, in the time of its cost. Overwrites the password, if no other code holds it.
    package static func perform(_ work: consuming PasswordWork) -> PasswordOutcome {
        var effort = PasswordEffort()
        return perform(work, &effort)
    }

    /// The same, and notes what was computed.
    package static func perform(
        _ work: consuming PasswordWork,
        _ effort: inout PasswordEffort
    ) -> PasswordOutcome {
        switch consume work {
        case .hash(var password, let cost):
            defer { wipe(&password) }
            return hash(password, cost, &effort).map(PasswordOutcome.hashed) ?? .busy
        case .verify(var password, let stored, let hashing, let cost):
            defer { wipe(&password) }
            return verify(password, stored, hashing, cost, &effort)
        }
    }

    /// Always the same two steps: one with the imported hashing, if there is one, and one at `cost`.
    ///
    /// Only a stored hash with other parameters than `cost` takes one more step, until its owner signs in, which renews
    /// it.
    private static func verify(
        _ password: [UInt8],
        _ stored: StoredPassword?,
        _ hashing: ImportedHashing?,
        _ cost: PasswordCost,
        _ effort: inout PasswordEffort
    ) -> PasswordOutcome {
        guard let isImported = matchesImported(password, stored, hashing, &effort) else {
            return .busy
        }
        guard let own = stored?.ownHash, !password.isEmpty else {
            // Right or wrong, known or not: this hash is made, and kept if the password was right.
            guard let renewed = hash(password, cost, &effort) else { return .busy }
            return isImported ? .right(renewed: renewed) : .wrong
        }
        effort.note(own.argon2)
        guard
            let derived = own.argon2.hash(password, salt: own.salt, byteCount: own.hash.count)
        else { return .busy }
        let isRight = isEqual(derived, own.hash)
        if own.argon2.isAsGood(as: cost) { return isRight ? .right(renewed: nil) : .wrong }
        guard let renewed = hash(password, cost, &effort) else {
            // The password has been checked; it is renewed when there is memory again.
            return isRight ? .right(renewed: nil) : .wrong
        }
        return isRight ? .right(renewed: renewed) : .wrong
    }

    /// Whether the password fits an imported hash; nil without memory to find out.
    private static func matchesImported(
        _ password: [UInt8],
        _ stored: StoredPassword?,
        _ hashing: ImportedHashing?,
        _ effort: inout PasswordEffort
    ) -> Bool? {
        guard let hashing, hashing.fault == nil else { return false }
        effort.steps.append(.imported(hashing.algorithm))
        guard let (salt, hash) = stored?.importedHash,
            hashing.fault(hash: hash, salt: salt) == nil
        else {
            hashing.pretend(password)
            return false
        }
        return hashing.matches(password, salt: salt, hash: hash)
    }

    /// The hash of a new password under a random salt; nil without memory for it.
    private static func hash(
        _ password: [UInt8],
        _ cost: PasswordCost,
        _ effort: inout PasswordEffort
    ) -> StoredPassword? {
        let argon2 = Argon2(memoryKiB: cost.memoryKiB, passes: cost.passes)
        effort.note(argon2)
        // The system's own generator: getrandom(2).
        var random = SystemRandomNumberGenerator()
        let salt = (0..<saltByteCount).map { _ in UInt8.random(in: 0...255, using: &random) }
        return argon2.hash(password, salt: salt, byteCount: hashByteCount)
            .map { StoredPassword(argon2, salt: salt, hash: $0) }
    }
}

extension PasswordEffort {
    fileprivate mutating func note(_ argon2: Argon2) {
        steps.append(.argon2(memoryKiB: argon2.memoryKiB, passes: argon2.passes))
    }
}

extension Argon2 {
    /// Whether a hash of these parameters need not be made anew at `cost`.
    fileprivate func isAsGood(as cost: PasswordCost) -> Bool {
        memoryKiB >= cost.memoryKiB && passes >= cost.passes
    }
}
