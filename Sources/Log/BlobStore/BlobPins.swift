import Synchronization

/// Which blobs a sweep must leave, although no record refers to them: those of uploads between `Blobs.adopt` and their
/// commit, and all during a backup.
///
/// In memory: after a restart nothing is pinned. No call blocks; each may come from any thread.
package final class BlobPins: Sendable {
    private struct State {
        var counts: [BlobHash: Int] = [:]
        var claimed: Set<BlobHash> = []
        var holdCount = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Pins a blob, before `Blobs.adopt`. Several uploads may pin one; each unpins it once.
    ///
    /// - Returns: False when a sweep is removing it now: try again a moment later.
    package func pin(_ hash: BlobHash) -> Bool {
        state.withLock { state in
            guard !state.claimed.contains(hash) else { return false }
            state.counts[hash, default: 0] += 1
            return true
        }
    }

    /// Ends one pin, after the commit that refers to the blob or the refusal of the upload.
    package func unpin(_ hash: BlobHash) {
        state.withLock { state in
            guard let count = state.counts[hash] else { preconditionFailure("it was pinned") }
            state.counts[hash] = count > 1 ? count - 1 : nil
        }
    }

    /// Lets no sweep claim anything, as a backup needs from before its snapshot until it has copied the last blob.
    package func hold() { state.withLock { $0.holdCount += 1 } }

    /// Ends one `hold`.
    package func endHold() {
        state.withLock { state in
            precondition(state.holdCount > 0, "it was held")
            state.holdCount -= 1
        }
    }

    /// Those of `hashes` that may be removed now: from here on no upload can pin them until `release`.
    func claim(_ hashes: [BlobHash]) -> [BlobHash] {
        state.withLock { state in
            guard state.holdCount == 0 else { return [] }
            return hashes.filter { hash in
                state.counts[hash] == nil && state.claimed.insert(hash).inserted
            }
        }
    }

    func release(_ hashes: [BlobHash]) {
        state.withLock { $0.claimed.subtract(hashes) }
    }
}
