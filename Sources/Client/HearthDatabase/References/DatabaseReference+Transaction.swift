import Foundation
import JSONTree
import Queries
import SyncCore
import HearthCore

extension DatabaseReference {
    /// Changes the value at this location by a function of the present value.
    ///
    /// The function is run again when something else turns out to be there, at most 25 times. It is called on a queue
    /// of the database's, never on the main one, and may at first find nothing although the server has something.
    ///
    /// - Parameter block: Changes the given value and returns `.success(withValue:)` or `.abort()`.
    @preconcurrency
    public func runTransactionBlock(
        _ block: @escaping @Sendable (MutableData) -> TransactionResult
    ) {
        run(block, withLocalEvents: true, nil)
    }

    /// The same; reports the outcome: an error, whether it was committed, and the value then.
    @preconcurrency
    public func runTransactionBlock(
        _ block: @escaping @Sendable (MutableData) -> TransactionResult,
        andCompletionBlock completionBlock: @escaping ((any Error)?, Bool, DataSnapshot?) -> Void,
    ) {
        run(block, withLocalEvents: true, completionBlock)
    }

    /// The same, with or without events of a result that the server may still refuse.
    ///
    /// - Parameters:
    ///   - block: Changes the given value and returns `.success(withValue:)` or `.abort()`.
    ///   - completionBlock: Receives an error, whether it was committed, and the value then.
    ///   - localEvents: Whether observers of this client see the result before the server has accepted it.
    @preconcurrency
    public func runTransactionBlock(
        _ block: @escaping @Sendable (MutableData) -> TransactionResult,
        andCompletionBlock completionBlock: (((any Error)?, Bool, DataSnapshot?) -> Void)?,
        withLocalEvents localEvents: Bool,
    ) {
        run(block, withLocalEvents: localEvents, completionBlock)
    }

    /// Changes the value at this location by a function of the present value.
    ///
    /// - Parameter block: Changes the given value and returns `.success(withValue:)` or `.abort()`.
    /// - Returns: Whether it was committed, and the value then.
    /// - Throws: `DatabaseError.maxRetries` or `.overriddenBySet` when it could not be committed, and the errors of
    ///   any write.
    @discardableResult
    public func runTransactionBlock(
        _ block: @escaping @Sendable (MutableData) -> TransactionResult
    ) async throws -> (Bool, DataSnapshot) {
        let result = await withCheckedContinuation { continuation in
            run(block, withLocalEvents: true, route: .direct) { continuation.resume(returning: $0) }
        }
        let ended = try result.get()
        return (ended.isCommitted, ended.snapshot)
    }

    private func run(
        _ block: @escaping @Sendable (MutableData) -> TransactionResult,
        withLocalEvents localEvents: Bool,
        _ completion: (((any Error)?, Bool, DataSnapshot?) -> Void)?,
    ) {
        let box = CallbackBox(completion)
        run(block, withLocalEvents: localEvents, route: .callbackQueue) { result in
            switch result {
            case .success(let ended): box.call?(nil, ended.isCommitted, ended.snapshot)
            case .failure(let error): box.call?(error, false, nil)
            }
        }
    }

    private func run(
        _ block: @escaping @Sendable (MutableData) -> TransactionResult,
        withLocalEvents localEvents: Bool,
        route: ObserverEntry.Route,
        _ receive: @escaping @Sendable (Result<EndedTransaction, DatabaseError>) -> Void,
    ) {
        let path: Path
        do throws(DatabaseError) {
            path = try location.get().path.writable()
        } catch {
            owner.warn("a transaction was not run: \(error.localizedDescription)")
            return owner.sync.fail(route) { receive(.failure(error)) }
        }
        let transaction = RunningTransaction(path: path, block: block)
        let pending = PendingCall(route: route, path: pathText) { result in
            if let fault = transaction.fault { return receive(.failure(fault)) }
            receive(
                result.flatMap { outcome in
                    guard case .transaction(let isCommitted, let node) = outcome else {
                        return .failure(.writeCancelled)
                    }
                    let snapshot = DataSnapshot(self, node, .everything)
                    return .success(EndedTransaction(isCommitted: isCommitted, snapshot: snapshot))
                }
            )
        }
        owner.sync.call(pending) { id in
            .runTransaction(
                TransactionRequest(path: path, appliesLocally: localEvents, call: id) {
                    transaction.run(on: $0)
                }
            )
        }
    }
}

private struct EndedTransaction: Sendable {
    let isCommitted: Bool
    let snapshot: DataSnapshot
}

/// A transaction and the error of its last run.
private final class RunningTransaction: Sendable {
    private let path: Path
    private let block: @Sendable (MutableData) -> TransactionResult
    private let lastFault = Mutex<DatabaseError?>(nil)

    init(path: Path, block: @escaping @Sendable (MutableData) -> TransactionResult) {
        self.path = path
        self.block = block
    }

    /// Why the last run gave up, if it was not the app that did.
    var fault: DatabaseError? { lastFault.withLock { $0 } }

    /// Calls the app's function with the present value; nil aborts.
    func run(on node: Node) -> Draft? {
        let run = MutableData.Run(node)
        let data = MutableData(run, rootKey: path.lastKey?.string)
        guard let result = block(data).data else {
            lastFault.withLock { $0 = nil }
            return nil
        }
        do throws(DatabaseError) {
            if let fault = result.run.fault { throw fault }
            let draft = result.result
            try draft.check(for: WriteTarget(path: path))
            lastFault.withLock { $0 = nil }
            return draft
        } catch {
            lastFault.withLock { $0 = error }
            return nil
        }
    }
}
