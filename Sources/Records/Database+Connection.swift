import HearthDatabase

extension Database {
    /// Runs an operation, and once there is a connection again if there was none for it.
    ///
    /// - Throws: What the operation throws for another reason; `CancellationError`.
    package func connected<Value: Sendable>(
        _ operation: () async throws -> Value
    ) async throws -> Value {
        while true {
            do {
                return try await operation()
            } catch DatabaseError.offline, ServiceError.database(.offline) {
                try await connection()
            }
        }
    }

    /// Waits for a connection.
    private func connection() async throws {
        let place = reference(withPath: ".info/connected")
        for try await snapshot in place.snapshots() where snapshot.value as? Bool == true { return }
        try Task.checkCancellation()
    }
}
