import BlobStore
import FileProtocol
import FileRules
import JSONTree
import Transport

/// One resumable upload. Its file on the disk says the same whenever a request of it is answered.
@LoopActor
final class LiveUpload {
    let id: UploadID
    var session: UploadSession
    /// Its bytes, used by the worker while a request is under way; nil until they are needed after a restart.
    var draft: BlobDraft?
    let worker: Worker
    /// What takes the bytes of the request that is under way.
    var intake: FileIntake?
    private var isBusy = false
    /// Requests that wait for that one.
    private var waiting: [@LoopActor () -> Void] = []

    /// Requests that may wait.
    private static let waitingLimit = 4

    init(_ id: UploadID, _ session: UploadSession, _ draft: BlobDraft?, _ worker: Worker) {
        self.id = id
        self.session = session
        self.draft = draft
        self.worker = worker
    }

    /// Begins a request when no other is under way, each of which calls `end`. A client that asks again has given an
    /// earlier request up, so no more bytes are taken of that. Returns whether there is room.
    func begin(_ request: @escaping @LoopActor () -> Void) -> Bool {
        guard isBusy else {
            isBusy = true
            request()
            return true
        }
        intake?.cut()
        guard waiting.count < Self.waitingLimit else { return false }
        waiting.append(request)
        return true
    }

    /// The request is answered, or no client waits for its answer.
    func end() {
        intake = nil
        isBusy = false
        guard !waiting.isEmpty else { return }
        isBusy = true
        waiting.removeFirst()()
    }

    /// Who has begun it.
    var caller: FileCaller {
        if session.isAdmin { return .admin }
        guard let uid = session.uid else { return .anonymous }
        return .user(FileAuth(uid: uid, claims: Array((session.claims ?? "{}").utf8)))
    }
}

/// Resumable uploads that go on, and those that have ended of late, whose answers are given again.
@LoopActor
final class UploadTable {
    /// Uploads of one user, or of all who are not signed in, that go on.
    static let ownerLimit = 1_000
    /// Milliseconds after its begin for which the answer of an upload that has ended is given again.
    static let finalLifetime: Int64 = 24 * 3_600_000

    private var all: [UploadID: LiveUpload] = [:]
    /// Those that go on, by who has begun them; empty for who is not signed in.
    private var counts: [String: Int] = [:]

    nonisolated init() {}

    subscript(id: UploadID) -> LiveUpload? { all[id] }

    func add(_ upload: LiveUpload) {
        all[upload.id] = upload
        if upload.session.state == .active { counts[Self.owner(upload), default: 0] += 1 }
    }

    /// An upload that went on has ended.
    func noteEnd(_ upload: LiveUpload) {
        let owner = Self.owner(upload)
        let count = (counts[owner] ?? 1) - 1
        counts[owner] = count > 0 ? count : nil
    }

    func remove(_ id: UploadID) {
        guard let upload = all.removeValue(forKey: id) else { return }
        if upload.session.state == .active { noteEnd(upload) }
    }

    private static func owner(_ upload: LiveUpload) -> String { upload.session.uid ?? "" }

    /// Whether a user may begin another one.
    func hasRoom(for uid: String?) -> Bool { counts[uid ?? "", default: 0] < Self.ownerLimit }

    /// Those that are too old to be asked for.
    func old(at now: Timestamp) -> [UploadID] {
        all.values.filter { upload in
            let age = now.milliseconds - upload.session.created.milliseconds
            return upload.session.isExpired(at: now)
                || upload.session.state != .active && age >= Self.finalLifetime
        }.map(\.id)
    }
}
