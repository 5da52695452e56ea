import BlobStore
import FileProtocol
import FileRecords
import FileRules
import FileRulesTools
import JSONTree
import Logging
import Transport

/// Uploads in one request, and what all uploads end with.
///
///     bytes ─► draft, sealed ─► pinned ─► blob ─► rules and conditions as they are now ─► commit ─► durable ─► answer
///
/// Nothing after the commit can fail. A crash before it leaves a draft, which goes at the next start, or a blob that nothing
/// refers to, which is collected.
extension FileService {
    /// Uploads whose bytes come at a time.
    private static let uploadLimit = 2_000

    /// Begins an upload of any form.
    func beginUpload(_ start: UploadStart, _ ask: FileAsk) {
        do throws(FileFault) {
            try admit(start.bucket)
            if !ask.caller.isAdmin, case .none = rules.rules(of: start.bucket) { throw .noRules }
            if let failure = disk.failure {
                log.error("no file is stored: \(failure)")
                throw .busy(retryAfter: 60)
            }
            switch start.form {
            case .resumable: withBody(ask) { self.beginSession(start, $0, ask) }
            case .raw: try receiveAll(start, boundary: nil, ask)
            case .multipart(let boundary): try receiveAll(start, boundary: boundary, ask)
            }
        } catch {
            refuse(ask, error)
        }
    }

    /// Bytes that an object of a caller may have.
    func byteLimit(of caller: FileCaller) -> Int64 {
        let files = configuration.files
        return Int64(caller.isAdmin ? files.byteLimit : files.clientByteLimit)
    }

    /// Takes the whole body of an upload in one request.
    private func receiveAll(
        _ start: UploadStart,
        boundary: [UInt8]?,
        _ ask: FileAsk
    ) throws(FileFault) {
        let limit = byteLimit(of: ask.caller)
        let announced = Int64(ask.exchange.head.bodyByteCount ?? 0)
        let metadataByteCount =
            boundary == nil ? 0 : Int64(2 * FileProtocolLimits.metadataByteCount)
        guard announced <= limit + metadataByteCount else { throw .tooLarge(limit: limit) }
        // Of a body with metadata neither that nor the size is known yet.
        if boundary == nil, start.name != nil, let byteCount = ask.exchange.head.bodyByteCount {
            let description = try start.description(
                FileMetadataBody(),
                isAdmin: ask.caller.isAdmin
            )
            try decideEarly(description, byteCount: Int64(byteCount), ask.caller)
        }
        guard uploadCount < Self.uploadLimit else { throw .busy(retryAfter: 2) }
        uploadCount += 1
        let worker = disk.worker
        let sink = FileSink(
            disk.folder,
            boundary: boundary,
            announced: announced,
            byteLimit: limit
        )
        let intake = FileIntake(ask.exchange, worker) {
            sink.take($0)
        } done: { [self] end in
            switch end {
            case .whole: finishAll(start, sink, worker, ask)
            case .cut: drop(sink, worker)
            case .failed(let fault):
                drop(sink, worker)
                refuse(ask, fault)
            }
        }
        intake.begin()
    }

    private func drop(_ sink: FileSink, _ worker: Worker) {
        uploadCount -= 1
        worker.post(.read { sink.drop() })
    }

    /// All bytes have come: makes an object of them.
    private func finishAll(
        _ start: UploadStart,
        _ sink: FileSink,
        _ worker: Worker,
        _ ask: FileAsk
    ) {
        let isTaken = worker.perform {
            Result { () throws(FileFault) in try sink.finish() }
        } then: { [self] outcome in
            do throws(FileFault) {
                let received = try outcome.get()
                let description = try start.description(
                    Self.metadataBody(received.metadata),
                    partType: received.type,
                    isAdmin: ask.caller.isAdmin
                )
                if let fault = description.fault(of: received.content) { throw fault }
                // What is denied now makes no blob.
                _ = try object(description, received.content, ask.caller, isRepeated: true)
                store(received, description, worker, ask)
            } catch {
                drop(sink, worker)
                refuse(ask, error)
            }
        }
        if !isTaken {
            drop(sink, worker)
            refuse(ask, .busy(retryAfter: 1))
        }
    }

    private func store(
        _ received: FileSink.Received,
        _ description: UploadDescription,
        _ worker: Worker,
        _ ask: FileAsk
    ) {
        disk.adopt(received.draft, on: worker) { [self] outcome in
            uploadCount -= 1
            disk.removeBytes(of: received.draft.id, on: worker)
            do throws(FileFault) {
                let stored = try outcome.get()
                let change = try object(description, stored.content, ask.caller)
                store.commit([change]) { [self] fault in
                    if let fault { return refuse(ask, fault) }
                    answerStored(change, ask)
                }
                stored.letGo()
            } catch {
                refuse(ask, error)
            }
        }
    }

    /// Answers an upload that is durable.
    private func answerStored(_ change: FileChange, _ ask: FileAsk) {
        guard let record = change.new else { return }
        noteStored(record, ask)
        // A plain PUT is answered by headers alone.
        if ask.request.dialect == .plain {
            let headers = [
                (name: "ETag", value: "\"\(record.entityTag)\""),
                (name: "x-goog-generation", value: "\(record.generation)"),
            ]
            return answer(ask, FileAnswer(200, headers: headers))
        }
        answer(ask, FileAnswer(record, ask.request.dialect, base: ask.base))
    }

    /// Counts an upload, and notes that of an administrator.
    func noteStored(_ record: FileRecord, _ ask: FileAsk) {
        figures.uploadedCount += 1
        figures.uploadedByteCount += record.content.byteCount
        let address = ObjectAddress(record.bucket, record.name)
        note(FileDeed.Change(what: "a file is stored", address: address), ask)
    }

    /// The object that an upload makes, decided by the state as it is now; with `isRepeated` it is decided once more later.
    ///
    /// - Throws: why it is not made.
    func object(
        _ description: UploadDescription,
        _ content: FileContent,
        _ caller: FileCaller,
        isRepeated: Bool = false
    ) throws(FileFault) -> FileChange {
        let address = description.address
        try admit(address.bucket)
        let (old, now) = (store.record(address), Clock.now())
        let new = description.record(
            content,
            generation: store.nextGeneration(now),
            now: now,
            fresh: Self.newToken(),
            uid: caller.uid
        )
        try authorize(.create, address, caller, old: old, new: new, isRepeated: isRepeated)
        guard description.conditions.check(old) == .met else { throw .conditionNotMet }
        let change = FileChange(old: old, new: new)
        try checkQuota([change])
        return change
    }
}
