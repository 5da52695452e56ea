public import Foundation
public import HearthDatabase

/// Why an operation of a service failed. One that fails has changed nothing, and is told of once.
public enum ServiceError: Error, Equatable, Sendable {
    /// A value was refused before anything was sent: which one, and what is wrong with it.
    case invalid(field: String, why: String)
    /// There is no such thing: what was looked for, as part of a sentence.
    case notFound(String)
    /// Somebody else has it already: a username, say.
    case taken(String)
    /// The security rules do not allow it: what was to be done, as part of a sentence (`send a message to Bea`).
    case refused(String)
    /// What is there is no record: where, and what is wrong with it.
    case faulty(RecordFault)
    /// The database could not do it.
    case database(DatabaseError)
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
        }
    }

    /// The same.
    public var errorDescription: String? { description }
}

extension ServiceError {
    /// Runs an operation of the SDK: a refusal by the rules becomes `refused` with what was to be done.
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

    /// An error of the SDK, or one of ours as it is.
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

extension Database {
    /// Writes several places in one update, all or none.
    ///
    /// The purpose is what is to be done, as part of a sentence: `follow Bea`.
    /// - Throws: `ServiceError`, once.
    package func update(
        _ values: [String: Any],
        to purpose: String,
    ) async throws(ServiceError) {
        do {
            try await reference().updateChildValues(values)
        } catch {
            throw ServiceError(error, purpose: purpose)
        }
    }
}
