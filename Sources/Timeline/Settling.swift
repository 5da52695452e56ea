import Records

/// How operations that meet changes of others go on: read again, wait, write again.
package struct Settling: Sendable {
    /// Writes, at the most.
    package let tries: Int
    /// Waits before the next write; it gets how many there were, from 1.
    package let wait: @Sendable (Int) async throws -> Void

    /// So many tries with these waits between them.
    package init(tries: Int, wait: @escaping @Sendable (Int) async throws -> Void) {
        self.tries = tries
        self.wait = wait
    }

    /// Random waits that grow: below 0.05, 0.1, 0.2 and so on up to 2 seconds.
    package static let standard = Settling(tries: TimelineLimits.tries) { count in
        let longest = min(50 << min(count - 1, 10), 2000)
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<longest)))
    }

    /// Reads what a write depends on and writes, until the write is not refused because that has changed meanwhile.
    ///
    /// What is refused although nothing has changed is tried again, since a change may have been undone, and is refused
    /// for good when that was so a few times in a row.
    ///
    /// - Parameters:
    ///   - purpose: What is to be done, as part of a sentence.
    ///   - unchangedLimit: Refusals in a row without a change.
    ///   - read: What the write depends on.
    ///   - write: Writes all of it in one update.
    /// - Returns: What the write that was done depended on.
    /// - Throws: `ServiceError`, once.
    package func settle<Basis: Equatable>(
        _ purpose: String,
        unchangedLimit: Int = 2,
        read: () async throws -> Basis,
        write: (Basis) async throws -> Void,
    ) async throws(ServiceError) -> Basis {
        try await ServiceError.naming(purpose) {
            var basis = try await read()
            var unchangedCount = 0
            var count = 0
            while true {
                count += 1
                do {
                    try await write(basis)
                    return basis
                } catch DatabaseError.permissionDenied(let path) {
                    let now = try await read()
                    unchangedCount = now == basis ? unchangedCount + 1 : 0
                    guard count < tries, unchangedCount < unchangedLimit else {
                        throw DatabaseError.permissionDenied(path: path)
                    }
                    basis = now
                    try await wait(count)
                }
            }
        }
    }
}
