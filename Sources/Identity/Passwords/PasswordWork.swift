/// What is to be done about a password, on a thread of its own.
package enum PasswordWork: Sendable {
    /// Hash a new one.
    case hash(password: [UInt8], PasswordCost)
    /// Compare one with a stored hash, and hash it again if that was cheaper than `cost` or imported.
    ///
    /// The hashing is `AccountDirectory.hashing(for:)`. Without a stored hash the work is the same, so that the time
    /// does not reveal whether there is an account.
    case verify(password: [UInt8], StoredPassword?, ImportedHashing?, PasswordCost)
}

/// What came of it.
package enum PasswordOutcome: Sendable, Equatable {
    case hashed(StoredPassword)
    /// It fits; `renewed` replaces the stored hash.
    case right(renewed: StoredPassword?)
    case wrong
    /// There is no room to do it: no memory, or too many wait.
    case busy
}

/// The computations of a piece of work, in order: equal efforts take equally long.
package struct PasswordEffort: Sendable, Equatable {
    package enum Step: Sendable, Equatable {
        /// A hash of Argon2 at this cost.
        case argon2(memoryKiB: Int, passes: Int)
        /// A hash as others made it.
        case imported(ImportedHashing.Algorithm)
    }

    package internal(set) var steps: [Step] = []

    package init() {}
}
