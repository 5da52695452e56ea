package import HearthDatabase
package import HearthStorage
package import Social

extension Database {
    /// A file or folder of the app's files, which are those of the database's server.
    ///
    /// - Throws: `ServiceError.database` when the app is gone.
    package func file(_ path: String) throws(ServiceError) -> StorageReference {
        guard let app else { throw .database(.closed) }
        return Storage.storage(app: app).reference(withPath: path)
    }
}

extension ServiceError {
    /// Runs an operation on files; a denial by the rules becomes `refused` with the purpose.
    package static func namingFiles<Value>(
        _ purpose: String,
        _ operation: () async throws -> Value
    ) async throws(ServiceError) -> Value {
        do {
            return try await operation()
        } catch StorageError.unauthorized, StorageError.unauthenticated {
            throw .refused(purpose)
        } catch let error as StorageError {
            throw .files(error.localizedDescription)
        } catch {
            throw ServiceError(error, purpose: purpose)
        }
    }
}

extension StorageReference {
    /// Deletes it; false when it is not there.
    package func removeIfThere() async throws -> Bool {
        do {
            try await delete()
            return true
        } catch StorageError.objectNotFound {
            return false
        }
    }

    /// Bytes of it; nil when it is not there.
    package func sizeIfThere() async throws -> Int64? {
        do {
            return try await getMetadata().size
        } catch StorageError.objectNotFound {
            return nil
        }
    }
}
