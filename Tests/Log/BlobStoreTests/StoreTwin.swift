import FileProtocol
import JSONTree
import SimulatedStorage
import TestSupport
import WriteAheadLog

@testable import BlobStore

/// A store and a naive account of what must and may be in it.
///
/// The bytes of each upload are a prefix of one of a few streams, so that uploads bring the same blobs. A commit of the
/// database is one step that always succeeds: it changes `referenced`.
struct StoreTwin {
    /// What a disk has of a session.
    enum Record: Hashable {
        case none
        case active(Int)
        case final
    }

    struct Upload {
        let stream: Int
        /// Nil until it is needed, after a restart.
        var draft: BlobDraft?
        var byteCount = 0
        /// What a process that starts next may find: without a power cut, and after one.
        var seen: Set<Record> = [.none]
        var durable: Set<Record> = [.none]
        var pinned: BlobHash?
        /// Whether this process could not read its session: the next one may.
        var isUnreadable = false
    }

    static let streams = (0..<3).map { noise(UInt64(100 + $0), 1_000_000) }

    private(set) var store: Store
    private(set) var uploads: [UploadID: Upload] = [:]
    private(set) var referenced: [BlobHash: Int64] = [:]
    private(set) var pins = BlobPins()
    private(set) var now = Timestamp.start
    /// Every sentence that the store said about a failure.
    private(set) var said: [String] = []
    /// States that were reached, by name.
    private(set) var reached: [String: Int] = [:]
    /// What is not as it must be.
    private(set) var faults: [String] = []

    init(seed: UInt64) throws(BlobError) { store = try Store(seed: seed) }

    var disk: SimulatedLogStorage { store.disk }

    private mutating func expect(_ isTrue: Bool, _ text: String) {
        if !isTrue { faults.append(text) }
    }

    mutating func count(_ state: String) { reached[state, default: 0] += 1 }

    mutating func say(_ error: BlobError) {
        said.append("\(error)")
        switch error {
        case .disk: count(error.isOutOfSpace ? "full" : "failed")
        case .stopped: count("stopped")
        case .missing, .notAFile, .cutShort, .damaged, .remote: faults.append("\(error)")
        }
    }

    // MARK: - Uploads

    /// The uploads that can go on.
    var live: [UploadID] {
        uploads.filter { $0.value.draft != nil || $0.value.seen != [.none] }.keys.sorted()
    }

    mutating func create(stream: Int) throws(BlobError) -> UploadID {
        let id = store.uploads.newID()
        // A file may be there also when this fails; it has no session.
        uploads[id] = Upload(stream: stream)
        uploads[id]?.draft = try store.uploads.create(id)
        return id
    }

    /// The draft of an upload; nil when it has none to go on with.
    private mutating func draft(_ id: UploadID) throws(BlobError) -> BlobDraft? {
        guard let upload = uploads[id], !upload.isUnreadable else { return nil }
        if let draft = upload.draft { return draft }
        guard upload.seen.count == 1, case .active(let byteCount)? = upload.seen.first else {
            return nil
        }
        let draft = try store.uploads.reopen(id, byteCount: Int64(byteCount))
        uploads[id]?.draft = draft
        let bytes = Array(Self.streams[upload.stream][..<byteCount])
        expect(disk.content(draft.path) == bytes, "\(id) reopened with other bytes")
        count("reopened")
        return draft
    }

    mutating func append(_ byteCount: Int, to id: UploadID) throws(BlobError) {
        guard let draft = try draft(id), let upload = uploads[id] else { return }
        let stream = Self.streams[upload.stream]
        let end = min(stream.count, upload.byteCount + byteCount)
        if draft.sealed != nil { count("appended after a seal") }
        defer { expect(draft.byteCount == uploads[id]?.byteCount ?? -1, "\(id) has other bytes") }
        try draft.append(stream[upload.byteCount..<end])
        uploads[id]?.byteCount = end
    }

    /// Cuts to whole units, but not behind what is recorded.
    mutating func cut(_ id: UploadID) throws(BlobError) {
        guard let draft = try draft(id), let upload = uploads[id] else { return }
        let recorded = upload.seen.union(upload.durable).map { record in
            if case .active(let byteCount) = record { byteCount } else { 0 }
        }.max()
        let unit = upload.byteCount - upload.byteCount % 262_144
        let target = max(recorded ?? 0, unit)
        guard target <= upload.byteCount else { return }
        defer {
            let found = Int(draft.byteCount)
            expect([target, upload.byteCount].contains(found), "\(id) was cut to \(found)")
            uploads[id]?.byteCount = found
        }
        try draft.cut(to: Int64(target))
        count(target == upload.byteCount ? "cut nothing" : "cut")
    }

    mutating func storeSession(_ id: UploadID) throws(BlobError) {
        guard let draft = try draft(id), let byteCount = uploads[id]?.byteCount else { return }
        try record(id, .active(byteCount), session("received", byteCount), draft)
        count("stored")
    }

    private func session(_ name: String, _ byteCount: Int) -> UploadSession {
        do {
            return try BlobStoreTests.session(
                received: byteCount,
                state: name == "final" ? final : "",
                created: 1 << 50
            )
        } catch { preconditionFailure("\(error)") }
    }

    private mutating func record(
        _ id: UploadID,
        _ record: Record,
        _ session: UploadSession,
        _ draft: BlobDraft?
    ) throws(BlobError) {
        uploads[id]?.seen.insert(record)
        uploads[id]?.durable.insert(record)
        try store.uploads.store(session, of: id, with: draft)
        uploads[id]?.seen = [record]
        uploads[id]?.durable = [record]
    }

    mutating func adopt(_ id: UploadID) throws(BlobError) {
        guard let draft = try draft(id), let upload = uploads[id] else { return }
        let found = try draft.seal()
        let bytes = Array(Self.streams[upload.stream][..<upload.byteCount])
        expect(found == sums(bytes), "\(id) has other sums")
        if let pinned = upload.pinned, pinned != found.hash { unpin(id) }
        if uploads[id]?.pinned == nil {
            guard pins.pin(found.hash) else { return faults.append("a sweep holds \(found.hash)") }
            uploads[id]?.pinned = found.hash
        }
        switch try store.blobs.adopt(draft) {
        case .new: count("new")
        case .present: count("present")
        case .replaced: faults.append("\(found.hash) was damaged")
        }
    }

    private mutating func unpin(_ id: UploadID) {
        guard let hash = uploads[id]?.pinned else { return }
        pins.unpin(hash)
        uploads[id]?.pinned = nil
    }

    /// The database commits the object, if its blob is there; then the session ends.
    mutating func commit(_ id: UploadID) throws(BlobError) {
        try adopt(id)
        guard let upload = uploads[id], let hash = upload.pinned else { return }
        referenced[hash] = Int64(upload.byteCount)
        unpin(id)
        count("committed")
        guard upload.seen != [.none] else { return try remove(id) }
        try record(id, .final, session("final", upload.byteCount), nil)
        uploads[id]?.draft = nil
        try store.uploads.removeBytes(of: id)
    }

    mutating func remove(_ id: UploadID) throws(BlobError) {
        unpin(id)
        uploads[id]?.draft = nil
        uploads[id]?.seen.insert(.none)
        uploads[id]?.durable.insert(.none)
        try store.uploads.remove(id)
        uploads[id]?.seen = [.none]
        count("removed")
    }

    // MARK: - Blobs

    mutating func forget(_ hash: BlobHash) { referenced[hash] = nil }

    mutating func pass(hours: Int64) {
        now = Timestamp(milliseconds: now.milliseconds + Timestamp.hours(hours).milliseconds)
        disk.setTime(now)
    }

    mutating func sweep() throws(BlobError) {
        var sweep = OrphanSweep(pins, sliceCount: 3)
        while !sweep.isDone {
            let page = try sweep.list(in: store.blobs)
            let claimed = sweep.claim(page, now: now) { referenced[$0] != nil }
            let removal = OrphanSweep.remove(claimed, from: store.blobs, pins)
            for _ in 0..<removal.removedCount { count("swept") }
            if let failure = removal.failure { throw failure }
        }
        let pinned = Set(uploads.values.compactMap(\.pinned))
        for entry in try store.blobs.list(after: nil, limit: .max).entries {
            let age = now.milliseconds - entry.modified.milliseconds
            let isKept = referenced[entry.hash] != nil || pinned.contains(entry.hash)
            expect(isKept || age < BlobLimits.orphanAge, "\(entry.hash) stays")
        }
    }

    /// Every blob is whole, and all that records refer to is there.
    mutating func check() throws(BlobError) {
        var findings: [BlobCheck.Finding] = []
        _ = try BlobCheck.run(store.blobs, references: referenced) { findings.append($0) }
        for finding in findings {
            if case .unreadable(let error) = finding.fault {
                say(error)
            } else {
                faults.append("\(finding)")
            }
        }
    }

    // MARK: - Lives

    mutating func restart(afterPowerCut: Bool) throws(BlobError) {
        pins = BlobPins()
        for id in uploads.keys {
            uploads[id]?.draft = nil
            uploads[id]?.pinned = nil
            uploads[id]?.isUnreadable = false
        }
        if afterPowerCut {
            for (id, upload) in uploads { uploads[id]?.seen = upload.durable }
        }
        count(afterPowerCut ? "power cut" : "killed")
        let loaded = try store.restart(afterPowerCut: afterPowerCut, now: now)
        for note in loaded.notes {
            switch note.finding {
            case .notRemoved(let error): say(error)
            case .unreadable(let reason): said.append(reason)
            case .bytesWithoutSession, .sessionWithoutBytes: count("put in order")
            case .cutShort, .expired, .foreign: faults.append("\(note)")
            }
        }
        let isWhole = !loaded.notes.contains { note in
            if case .unreadable = note.finding { true } else { false }
        }
        for id in loaded.sessions.keys where uploads[id] == nil {
            faults.append("\(id) was never stored")
        }
        for id in uploads.keys.sorted() { meet(id, loaded.sessions[id], isWhole: isWhole) }
    }

    /// Compares what a start found of an upload with what may be there.
    private mutating func meet(_ id: UploadID, _ session: UploadSession?, isWhole: Bool) {
        guard let upload = uploads[id] else { return }
        guard let session else {
            // What a failed removal leaves may be a session without its bytes.
            let isAllowed = upload.seen.contains(.none) || !isWhole
            expect(isAllowed, "\(id) is gone: \(upload.seen)")
            if isWhole { uploads[id]?.seen = [.none] }
            uploads[id]?.isUnreadable = !isWhole
            uploads[id]?.durable.insert(.none)
            return
        }
        let found = session.state == .active ? Record.active(Int(session.byteCount)) : .final
        expect(upload.seen.contains(found), "\(id): found \(found), not \(upload.seen)")
        uploads[id]?.seen = [found]
        uploads[id]?.durable = [found]
        uploads[id]?.byteCount = Int(session.byteCount)
        count("session found")
    }

    /// All goes, and nothing is left behind.
    mutating func end() throws(BlobError) {
        try check()
        for id in uploads.keys.sorted() { try remove(id) }
        try restart(afterPowerCut: false)
        pass(hours: 24)
        try sweep()
        let kept = referenced.keys.sorted().map {
            "files/blobs/\($0.hex.prefix(2))/\($0.hex.dropFirst(2))"
        }
        expect(disk.files == kept, "left behind: \(disk.files), not \(kept)")
        try check()
        referenced = [:]
        try sweep()
        expect(disk.files == [], "left behind: \(disk.files)")
    }
}
