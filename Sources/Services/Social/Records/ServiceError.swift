public import Foundation
public import HearthDatabase

/// Why an operation of a service failed. A failed operation has changed nothing, and is reported once.
public enum ServiceError: Error, Equatable, Sendable {
    /// A value was refused before anything was sent: its field, and the reason.
    case invalid(field: String, why: String)
    /// The object does not exist: its name, as part of a sentence.
    case notFound(String)
    /// Another account has it already: for example, a username.
    case taken(String)
    /// The security rules deny it: the operation, as part of a sentence (`send a message to Bea`).
    case refused(String)
    /// The stored value is not a record: its path, and the reason.
    case faulty(RecordFault)
    /// The database could not do it.
    case database(DatabaseError)
    /// The files of the server could not do it: why, as a sentence.
    case files(String)
}

extension ServiceError: LocalizedError, CustomStringConvertible {
    /// The reason as one sentence without a full stop, for people.
    public var description: String {
        switch self {
        case .invalid(let field, let why): "\(field): \(why)"
        case .notFound(let what): "there is no \(what)"
        case .taken(let what): "\(what) is taken"
        case .refused(let what): "the rules do not allow to \(what)"
        case .faulty(let fault): "\(fault)"
        case .database(let error): error.errorDescription ?? error.code
        case .files(let why): why
        }
    }

    /// The same.
    public var errorDescription: String? { description }
}

extension ServiceError {
    /// Runs an operation of the SDK; a denial by the rules becomes `refused` with the purpose.
    @discardableResult
    package static func naming<Value>(
        _ purpose: String,
        _ operation: () async throws -> Value
    ) async throws(ServiceError) -> Value {
        do {
            return try await operation()
        } catch {
            throw ServiceError(error, purpose: purpose)
        }
    }

    /// Converts an error of the SDK; a service's own error stays.
    package init(_ error: any Error, purpose: String) {
        switch error {
        case let error as ServiceError: self = error
        case let fault as RecordFault: self = .faulty(fault)
        case DatabaseError.permissionDenied: self = .refused(purpose)
        case let error as DatabaseError: self = .database(error)
        default: self = .database(.refused(code: "UNKNOWN", message: "\(error)"))
        }
    }
}

extension DatabaseQuery {
    /// Reads it once. The purpose is part of a sentence, for the error: `see whom you block`.
    package func read(to purpose: String) async throws(ServiceError) -> DataSnapshot {
        try await ServiceError.naming(purpose) { try await getData() }
    }
}

extension Database {
    /// Reads a path once. The purpose is part of a sentence, for the error: `see whom you block`.
    package func read(
        _ path: String,
        to purpose: String,
    ) async throws(ServiceError) -> DataSnapshot {
        try await reference(withPath: path).read(to: purpose)
    }

    /// The record at a path; nil when nothing is there. Throws `faulty` when something else is there.
    package func record<Model: Record>(
        _ path: String,
        to purpose: String,
    ) async throws(ServiceError) -> Model? {
        let snapshot = try await read(path, to: purpose)
        return try await ServiceError.naming(purpose) {
            try snapshot.recordIfPresent(as: Model.self)
        }
    }

    /// Writes several locations in one update, all or none.
    ///
    /// The purpose is part of a sentence: `follow Bea`.
    /// - Throws: `ServiceError`, once.
    package func update(_ values: [String: Any], to purpose: String) async throws(ServiceError) {
        do {
            try await reference().updateChildValues(values)
        } catch {
            throw ServiceError(error, purpose: purpose)
        }
    }

    /// The same; false when the rules refuse it.
    package func accepts(
        _ values: [String: Any],
        to purpose: String,
    ) async throws(ServiceError) -> Bool {
        do {
            try await update(values, to: purpose)
            return true
        } catch .refused {
            return false
        }
    }
}
