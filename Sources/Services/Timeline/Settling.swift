import Social

/// How operations that meet changes of others go on: read again, wait, write again.
package struct Settling: Sendable {
    /// Writes, at the most.
    package let tries: Int
    /// Waits before the next write; it gets how many there were, from 1.
    package let wait: @Sendable (Int) async throws -> Void

    /// Sets the number of tries and the waits between them.
    package init(tries: Int, wait: @escaping @Sendable (Int) async throws -> Void) {
        self.tries = tries
        self.wait = wait
    }

    /// Random waits that grow: below 0.05, 0.1, 0.2 and so on up to 2 seconds.
    package static let standard = Settling(tries: TimelineLimits.tries) { count in
        let longest = min(50 << min(count - 1, 10), 2000)
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<longest)))
    }

    /// Reads the data that a write depends on and writes, until the write is not refused because that data has changed.
    ///
    /// A refusal without a change is tried again, since a change may have been undone. After `unchangedLimit` of them
    /// in a row, it is final. Returns the data that the successful write depended on, and throws `ServiceError` once.
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
