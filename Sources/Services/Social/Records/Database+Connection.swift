import HearthDatabase

extension Database {
    /// Runs an operation, and once there is a connection again if there was none for it.
    ///
    /// - Throws: Errors of the operation for other reasons; `CancellationError`.
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

    private func connection() async throws {
        let location = reference(withPath: ".info/connected")
        for try await snapshot in location.snapshots() where snapshot.value as? Bool == true {
            return
        }
        try Task.checkCancellation()
    }
}
