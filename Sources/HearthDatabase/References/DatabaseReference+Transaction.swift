import Foundation
import JSONTree
import Queries
import SyncCore
import Locks

extension DatabaseReference {
    /// Changes what is at this place by a function of what is there.
    ///
    /// The function is run again when something else turns out to be there, at most 25 times. It is called on
    /// a queue of the database's, never on the main one, and may at first find nothing although the
    /// server has something.
    ///
    /// - Parameter block: Changes what it is given and returns `.success(withValue:)` or `.abort()`.
    @preconcurrency
    public func runTransactionBlock(
        _ block: @escaping @Sendable (MutableData) -> TransactionResult
    ) {
        run(block, withLocalEvents: true, nil)
    }

    /// The same, and tells how that went: an error, whether it was done, and what is there then.
    @preconcurrency
    public func runTransactionBlock(
        _ block: @escaping @Sendable (MutableData) -> TransactionResult,
        andCompletionBlock completionBlock: @escaping ((any Error)?, Bool, DataSnapshot?) -> Void,
    ) {
        run(block, withLocalEvents: true, completionBlock)
    }

    /// The same, with or without events of what the server may still refuse.
    ///
    /// - Parameters:
    ///   - block: Changes what it is given and returns `.success(withValue:)` or `.abort()`.
    ///   - completionBlock: Gets an error, whether it was done, and what is there then.
    ///   - localEvents: Whether observers of this client see the result before the server has taken it.
    @preconcurrency
    public func runTransactionBlock(
        _ block: @escaping @Sendable (MutableData) -> TransactionResult,
        andCompletionBlock completionBlock: (((any Error)?, Bool, DataSnapshot?) -> Void)?,
        withLocalEvents localEvents: Bool,
    ) {
        run(block, withLocalEvents: localEvents, completionBlock)
    }

    /// Changes what is at this place by a function of what is there.
    ///
    /// - Parameter block: Changes what it is given and returns `.success(withValue:)` or `.abort()`.
    /// - Returns: Whether it was done, and what is there then.
    /// - Throws: `DatabaseError.maxRetries` or `.overriddenBySet` when it could not be done, and what keeps
    ///   any write from being done.
    @discardableResult
    public func runTransactionBlock(
        _ block: @escaping @Sendable (MutableData) -> TransactionResult
    ) async throws -> (Bool, DataSnapshot) {
        let result = await withCheckedContinuation { continuation in
            run(block, withLocalEvents: true, route: .direct) {
                continuation.resume(returning: $0)
            }
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
        _ told: @escaping @Sendable (Result<EndedTransaction, DatabaseError>) -> Void,
    ) {
        let path: Path
        do throws(DatabaseError) {
            path = try place.get().path.writable()
        } catch {
            owner.warn("a transaction was not run: \(error.localizedDescription)")
            switch route {
            case .callbackQueue: owner.sync.tellApp { told(.failure(error)) }
            case .direct: told(.failure(error))
            }
            return
        }
        let transaction = RunningTransaction(path: path, block: block)
        let pending = PendingCall(route: route, path: pathText) { result in
            if let fault = transaction.fault { return told(.failure(fault)) }
            told(
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

/// How a transaction ended without an error.
private struct EndedTransaction: Sendable {
    let isCommitted: Bool
    let snapshot: DataSnapshot
}

/// A transaction and what its last run could not make.
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

    /// Runs the function of the app on what is there; nil gives up.
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
