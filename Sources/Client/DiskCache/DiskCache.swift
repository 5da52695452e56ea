import Foundation
import JSONTree
package import SyncCore
import HearthCore
import WireProtocol

/// A client's server data and its unsent writes, in a SQLite file. The cache writes changes on its own queue: those
/// that come while a transaction runs form the next one, so the file always holds the state after some change. When
/// more than `DiskCacheLimits.waitingByteCount` waits, the data of listens is dropped and those listens are no longer
/// kept; pending writes never are. The same happens to changes that cannot be written; the next change tries again.
package final class DiskCache: Sendable {
    private struct Waiting {
        var changes: [StoreChange] = []
        var byteCount = 0
        /// Listens whose data was dropped: changes of it are ignored until all of it is saved again.
        var unstored: Set<ListenTarget> = []
        /// The queue has work and has not finished.
        var isScheduled = false
        var isClosed = false
        var reported: Set<String> = []
    }

    private let path: String
    private let limitByteCount: Int
    private let report: @Sendable (DiskCacheError) -> Void
    private let waiting = Mutex(Waiting())
    let queue = DispatchQueue(label: "hearth.disk-cache", qos: .utility)
    /// Used on the queue only, but for the end of `init`.
    nonisolated(unsafe) private(set) var file: CacheFile?

    /// Opens a cache, or makes it: the folder for its owner alone if there is none, and the file. SQLite adds files
    /// beside it.
    ///
    /// The data of listens takes `limitByteCount` at the most; beyond it, unused listens are dropped, least recently
    /// used first. `report` receives later problems and warnings, on the queue of the cache; each kind once.
    /// - Throws: `DiskCacheError` when no file can be used.
    package init(
        path: String,
        limitByteCount: Int,
        report: @escaping @Sendable (DiskCacheError) -> Void,
    ) throws(DiskCacheError) {
        self.path = path
        self.limitByteCount = limitByteCount
        self.report = report
        file = try CacheFile(path: path, limitByteCount: limitByteCount, report: report)
    }

    /// Everything that is kept; for the start, before the first change.
    ///
    /// A file that turns out to be damaged is moved aside with a warning, and there is nothing.
    ///
    /// - Throws: `DiskCacheError` when the file cannot be read and no other begun.
    package func load() throws(DiskCacheError) -> StoredState {
        let result: Result<StoredState, DiskCacheError> = queue.sync {
            do throws(DiskCacheError) {
                guard let file else { return .success(StoredState()) }
                return .success(try file.load())
            } catch {
                guard case .damaged = error else { return .failure(error) }
                return startAnew(error)
            }
        }
        return try result.get()
    }

    private func startAnew(_ cause: DiskCacheError) -> Result<StoredState, DiskCacheError> {
        file?.close()
        file = nil
        do throws(DiskCacheError) {
            try CacheFile.moveAside(path)
            tell(cause)
            file = try CacheFile(path: path, limitByteCount: limitByteCount, report: report)
            return .success(StoredState())
        } catch {
            return .failure(error)
        }
    }

    /// Hands changes over, in order. Returns at once.
    package func apply(_ changes: [StoreChange]) {
        let mustSchedule = waiting.withLock { waiting in
            guard !waiting.isClosed else { return false }
            for change in changes { Self.add(change, to: &waiting) }
            if waiting.byteCount > DiskCacheLimits.waitingByteCount { Self.giveUpData(&waiting) }
            guard !waiting.isScheduled, !waiting.changes.isEmpty else { return false }
            waiting.isScheduled = true
            return true
        }
        if mustSchedule { queue.async { self.write() } }
    }

    /// Waits until all that was handed over is written, or cannot be.
    package func flush() { queue.sync { write() } }

    /// Writes the waiting changes and closes the file; accepts no more.
    package func close() {
        queue.sync {
            write()
            waiting.withLock { $0.isClosed = true }
            file?.close()
            file = nil
        }
    }

    // MARK: Waiting changes

    private static func add(_ change: StoreChange, to waiting: inout Waiting) {
        switch change {
        case .saveListen(let target, let node):
            waiting.unstored.remove(target)
            waiting.byteCount += node.encodingByteCount
        case .saveChildren(let target, let children):
            guard !waiting.unstored.contains(target) else { return }
            waiting.byteCount += children.reduce(0) { $0 + $1.node.encodingByteCount }
        case .removeListen(let target): waiting.unstored.remove(target)
        case .removeAll: waiting.unstored = []
        case .saveWrite(_, let write): waiting.byteCount += write.byteCount
        case .removeWrite, .useListen, .account: break
        }
        waiting.changes.append(change)
    }

    /// Replaces the changes of a listen's data by its removal, and omits what later changes make void: one change
    /// remains for each listen in use and for each pending write.
    private static func giveUpData(_ waiting: inout Waiting) {
        let superseded = Superseded(in: waiting.changes)
        var kept: [StoreChange] = []
        var removed: Set<ListenTarget> = []
        waiting.byteCount = 0
        for (index, change) in waiting.changes.enumerated() {
            switch change {
            case .saveListen(let target, _), .saveChildren(let target, _):
                waiting.unstored.insert(target)
                if removed.insert(target).inserted { kept.append(.removeListen(target)) }
            case .removeListen(let target):
                if removed.insert(target).inserted { kept.append(change) }
            case .saveWrite(let id, let write):
                guard !superseded.writes.contains(id) else { continue }
                waiting.byteCount += write.byteCount
                kept.append(change)
            case .removeWrite(let id): if !superseded.writes.contains(id) { kept.append(change) }
            case .useListen(let target, _):
                if superseded.lastUses[target] == index { kept.append(change) }
            case .account: if superseded.lastAccount == index { kept.append(change) }
            case .removeAll: kept.append(change)
            }
        }
        waiting.changes = kept
    }

    /// The changes that later changes of a list make void.
    private struct Superseded {
        var writes: Set<WriteID> = []
        var lastUses: [ListenTarget: Int] = [:]
        var lastAccount: Int?

        init(in changes: [StoreChange]) {
            var saved: Set<WriteID> = []
            for (index, change) in changes.enumerated() {
                switch change {
                case .saveWrite(let id, _): saved.insert(id)
                case .removeWrite(let id): if saved.contains(id) { writes.insert(id) }
                case .useListen(let target, _): lastUses[target] = index
                case .account: lastAccount = index
                case .saveListen, .saveChildren, .removeListen, .removeAll: break
                }
            }
        }
    }

    // MARK: On the queue

    private func write() {
        while true {
            let changes: [StoreChange] = waiting.withLock { waiting in
                waiting.isScheduled = !waiting.changes.isEmpty
                waiting.byteCount = 0
                var changes: [StoreChange] = []
                swap(&changes, &waiting.changes)
                return changes
            }
            guard !changes.isEmpty else { return }
            do throws(DiskCacheError) {
                try file?.apply(changes)
            } catch {
                var fault = error
                if case .damaged = error {
                    switch startAnew(error) {
                    case .success:
                        keep(changes)
                        continue
                    case .failure(let error): fault = error
                    }
                }
                tell(fault)
                keep(changes)
                return
            }
        }
    }

    /// Returns unwritten changes to the front of the queue, without data.
    private func keep(_ changes: [StoreChange]) {
        waiting.withLock { waiting in
            waiting.changes = changes + waiting.changes
            Self.giveUpData(&waiting)
            waiting.isScheduled = false
        }
    }

    private func tell(_ error: DiskCacheError) {
        let isNew = waiting.withLock { $0.reported.insert(error.kind).inserted }
        if isNew { report(error) }
    }
}

/// Limits of the disk cache.
package enum DiskCacheLimits {
    /// Bytes of changes that wait to be written, about: four times the longest write.
    package static let waitingByteCount = 64 << 20
}
