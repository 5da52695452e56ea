import Foundation

/// How requests get to a server and answers back.
protocol StorageTransport: Sendable {
    /// Sends a request and waits for the end of its answer, with any status. When the task is cancelled it ends soon,
    /// with `stopped`.
    func send(_ call: StorageCall) async throws(TransportFault) -> StorageAnswer
}

/// A request on its way.
struct StorageCall: Sendable {
    /// Takes the head of an answer of status 200 to 299, before its body.
    typealias Beginning = @Sendable (StorageAnswer) throws(StorageError) -> Void
    /// Takes a part of the body of such an answer.
    typealias Receiver = @Sendable (UnsafeRawBufferPointer) throws(StorageError) -> Void

    /// Absolute.
    let url: String
    /// With its credential.
    var request: StorageRequest
    /// The bytes of the upload that a piece is one of.
    var source: ByteSource?
    /// Called with the bytes of the body that were sent so far.
    var hasSent: (@Sendable (Int64) -> Void)?
    /// Nil: the body stays with the answer.
    var receiver: (begin: Beginning, take: Receiver)?
}

/// Why a request has no answer.
enum TransportFault: Error {
    /// The connection: the same request may well succeed later.
    case passing(String)
    /// The same request would fail again.
    case lasting(String)
    /// The task was cancelled.
    case stopped
    /// The source or the receiver of the bytes failed.
    case failed(StorageError)
}
