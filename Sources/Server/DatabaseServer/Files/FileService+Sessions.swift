import BlobStore
import FileProtocol
import FileRecords
import FileRules
import JSONTree
import Logging
import Transport

/// Resumable uploads. What an answer says of one is on the disk before.
extension FileService {
    // MARK: - The start

    /// Reads the uploads of an earlier process.
    func loadUploads() {
        guard disk.folder.hasUploads else { return }
        do throws(BlobError) {
            let loaded = try disk.folder.blobs.uploads.load(now: Clock.now())
            for note in loaded.notes { log.notice("\(note)") }
            for (id, session) in loaded.sessions {
                let upload = LiveUpload(id, session, nil, disk.worker)
                endIfFinal(upload)
                uploads.add(upload)
            }
        } catch {
            return log.error("uploads that had begun cannot go on: \(error)")
        }
        for text in store.tree.finals where UploadID(text).flatMap({ uploads[$0] }) == nil {
            forgetFinal(text)
        }
    }

    /// Ends an upload whose object was committed before its own file could say so.
    private func endIfFinal(_ upload: LiveUpload) {
        guard let generation = store.tree.generation(final: upload.id.text) else { return }
        guard upload.session.state == .active else { return forgetFinal(upload.id.text) }
        let record = store.record(upload.session.description.address)
        if let record, record.generation == generation {
            let base = configuration.accounts.publicURL ?? ""
            let dialect = upload.session.description.dialect
            _ = upload.session.finish(json: FileAnswer.json(record, dialect, base: base))
        } else {
            // It was replaced or removed since.
            _ = upload.session.finish(.notFound)
        }
        saveFinal(upload)
    }

    private func forgetFinal(_ id: String) {
        store.commit([], [(FileTree.path(final: id), .absent)]) { _ in }
    }

    /// Begins an upload.
    func beginSession(_ start: UploadStart, _ body: [UInt8], _ ask: FileAsk) {
        ResolvedRequest.of(ask.exchange).isNoted = true
        let session: UploadSession
        do throws(FileFault) {
            let description = try start.description(
                Self.metadataBody(body),
                isAdmin: ask.caller.isAdmin
            )
            if let byteCount = description.byteCount {
                try decideEarly(description, byteCount: byteCount, ask.caller)
            }
            session = try UploadSession(
                description,
                uid: ask.caller.uid,
                claims: ask.caller.auth.map { String(decoding: $0.claims, as: UTF8.self) },
                isAdmin: ask.caller.isAdmin,
                byteLimit: byteLimit(of: ask.caller),
                now: Clock.now()
            )
            guard uploads.hasRoom(for: ask.caller.uid) else {
                throw FileFault(429, "Too many uploads have begun and are not finished.")
            }
        } catch {
            return refuse(ask, error)
        }
        let (folder, worker) = (disk.folder, disk.worker)
        let isTaken = worker.perform {
            Result { () throws(FileFault) in try folder.begin(session) }
        } then: { [self] outcome in
            switch outcome {
            case .failure(let fault): refuse(ask, fault)
            case .success(let draft):
                uploads.add(LiveUpload(draft.id, session, draft, worker))
                answer(ask, session.started(id: draft.id.text, base: ask.base))
            }
        }
        if !isTaken { refuse(ask, .busy(retryAfter: 1)) }
    }

    /// Refuses an upload at its start that rules or the quota would deny at its end whatever its bytes are.
    ///
    /// Known are its size, which was announced, and its metadata. Where rules look at anything else, they decide at the end.
    func decideEarly(
        _ description: UploadDescription,
        byteCount: Int64,
        _ caller: FileCaller
    ) throws(FileFault) {
        let content = FileContent(
            blob: String(repeating: "0", count: 64),
            byteCount: byteCount,
            md5: nil,
            crc32c: 0
        )
        let (old, now) = (store.record(description.address), Clock.now())
        let new = description.record(
            content,
            generation: store.nextGeneration(now),
            now: now,
            fresh: nil,
            uid: caller.uid
        )
        try authorize(.create, description.address, caller, old: old, new: new, isEarly: true)
        try checkQuota([FileChange(old: old, new: new)])
    }

    // MARK: - Steps

    /// Takes one request of an upload that has begun.
    func receiveStep(_ step: UploadStep, of text: String, _ ask: FileAsk) {
        ResolvedRequest.of(ask.exchange).isNoted = true
        guard let id = UploadID(text), let upload = uploads[id],
            upload.session.description.dialect == ask.request.dialect,
            !upload.session.isExpired(at: Clock.now())
        else { return refuse(ask, FileFault(404, "There is no such upload, or it has expired.")) }
        let isTaken = upload.begin { [self] in
            guard ask.exchange.isAnswerable else { return upload.end() }
            perform(step, upload, ask)
        }
        if !isTaken { refuse(ask, .busy(retryAfter: 1)) }
    }

    private func perform(_ step: UploadStep, _ upload: LiveUpload, _ ask: FileAsk) {
        let before = upload.session
        switch upload.session.begin(step) {
        case .answer(let answer):
            if upload.session.state == before.state { return end(upload, ask, answer) }
            save(upload, before: before, ask) { [self] in end(upload, ask, answer) }
        case .receive(let transfer): receive(transfer, upload, before: before, ask)
        case .commit: makeObject(upload, before: before, ask)
        }
    }

    private func end(_ upload: LiveUpload, _ ask: FileAsk, _ answer: FileAnswer) {
        self.answer(ask, answer)
        upload.end()
    }

    /// The state of an upload has changed: makes that durable, and then calls `then`. When it cannot be, the upload is as it
    /// was before.
    private func save(
        _ upload: LiveUpload,
        before: UploadSession,
        _ ask: FileAsk,
        then: @escaping @LoopActor () -> Void
    ) {
        let (session, id, folder) = (upload.session, upload.id, disk.folder)
        let draft = session.state == .active ? upload.draft : nil
        let isTaken = upload.worker.perform {
            Result { () throws(FileFault) in try folder.save(session, of: id, with: draft) }
        } then: { [self] outcome in
            switch outcome {
            case .success:
                if before.state == .active, session.state != .active {
                    uploads.noteEnd(upload)
                    upload.draft = nil
                }
                then()
            case .failure(let fault): giveUp(upload, before: before, ask, fault)
            }
        }
        if !isTaken { giveUp(upload, before: before, ask, .busy(retryAfter: 1)) }
    }

    private func giveUp(
        _ upload: LiveUpload,
        before: UploadSession,
        _ ask: FileAsk,
        _ fault: FileFault
    ) {
        upload.session = before
        // Its file may have bytes that do not count: they are cut off when it is opened again.
        upload.draft = nil
        refuse(ask, fault)
        upload.end()
    }

    // MARK: - Bytes

    /// Takes the bytes of one request.
    private func receive(
        _ transfer: UploadTransfer,
        _ upload: LiveUpload,
        before: UploadSession,
        _ ask: FileAsk
    ) {
        withDraft(upload, before: before, ask) { [self] draft in
            uploadCount += 1
            let sink = ChunkSink(transfer, draft, disk.folder)
            let intake = FileIntake(ask.exchange, upload.worker) {
                sink.take($0)
            } done: {
                [self] end in
                uploadCount -= 1
                finish(end, sink, upload, before: before, ask)
            }
            upload.intake = intake
            intake.begin()
        }
    }

    /// The draft of an upload with the bytes that count, opened again after a restart.
    private func withDraft(
        _ upload: LiveUpload,
        before: UploadSession,
        _ ask: FileAsk,
        then: @escaping @LoopActor (BlobDraft) -> Void
    ) {
        if let draft = upload.draft { return then(draft) }
        let (folder, id, byteCount) = (disk.folder, upload.id, upload.session.byteCount)
        let isTaken = upload.worker.perform {
            Result { () throws(BlobError) in
                try folder.blobs.uploads.reopen(id, byteCount: byteCount)
            }
        } then: { [self] outcome in
            switch outcome {
            case .success(let draft):
                upload.draft = draft
                then(draft)
            case .failure(let error):
                log.error("an upload cannot go on: \(error)", metadata: ["upload": "\(id)"])
                giveUp(upload, before: before, ask, FileFault(error))
            }
        }
        if !isTaken { giveUp(upload, before: before, ask, .busy(retryAfter: 1)) }
    }

    /// A request has brought its bytes, or what it could.
    private func finish(
        _ end: FileIntake.End,
        _ sink: ChunkSink,
        _ upload: LiveUpload,
        before: UploadSession,
        _ ask: FileAsk
    ) {
        upload.intake = nil
        if case .failed(let fault) = end, sink.transfer.fault == nil {
            return cutBack(upload) { [self] in giveUp(upload, before: before, ask, fault) }
        }
        let isWhole = if case .cut = end { false } else { true }
        let action = upload.session.end(sink.transfer, isWhole: isWhole)
        switch action {
        // Its bytes are made durable with the object.
        case .commit: makeObject(upload, before: before, ask)
        case .answer(let answer):
            cutBack(upload) { [self] in
                save(upload, before: before, ask) { [self] in self.end(upload, ask, answer) }
            }
        case .receive: preconditionFailure("a request has one body")
        }
    }

    /// Forgets bytes behind those that count.
    private func cutBack(_ upload: LiveUpload, then: @escaping @LoopActor () -> Void) {
        guard let draft = upload.draft else { return then() }
        let byteCount = upload.session.byteCount
        let isTaken = upload.worker.perform {
            guard draft.byteCount > byteCount else { return true }
            do throws(BlobError) {
                try draft.cut(to: byteCount)
                return true
            } catch {
                return false
            }
        } then: { isCut in
            // It is read again from the disk.
            if !isCut { upload.draft = nil }
            then()
        }
        if !isTaken {
            upload.draft = nil
            then()
        }
    }

    // MARK: - The end

    /// All bytes are there: makes an object of them.
    private func makeObject(_ upload: LiveUpload, before: UploadSession, _ ask: FileAsk) {
        withDraft(upload, before: before, ask) { [self] draft in
            let isTaken = upload.worker.perform {
                Result { () throws(BlobError) in
                    let sums = try draft.seal()
                    draft.rest()
                    return sums.content
                }
            } then: { [self] outcome in
                switch outcome {
                case .failure(let error):
                    giveUp(upload, before: before, ask, FileFault(error))
                case .success(let content): adopt(draft, content, upload, before: before, ask)
                }
            }
            if !isTaken { giveUp(upload, before: before, ask, .busy(retryAfter: 1)) }
        }
    }

    private func adopt(
        _ draft: BlobDraft,
        _ content: FileContent,
        _ upload: LiveUpload,
        before: UploadSession,
        _ ask: FileAsk
    ) {
        let description = upload.session.description
        do throws(FileFault) {
            if let fault = description.fault(of: content) { throw fault }
            _ = try object(description, content, upload.caller, isRepeated: true)
        } catch {
            return endRefused(upload, before: before, ask, error)
        }
        disk.adopt(draft, on: upload.worker) { [self] outcome in
            let stored: FileDisk.Stored
            switch outcome {
            case .failure(let fault): return giveUp(upload, before: before, ask, fault)
            case .success(let found): stored = found
            }
            let change: FileChange
            do throws(FileFault) {
                change = try object(description, content, upload.caller)
            } catch {
                return endRefused(upload, before: before, ask, error)
            }
            commit(change, upload, before: before, ask)
            stored.letGo()
        }
    }

    /// Rules or conditions refuse the object: that is final.
    private func endRefused(
        _ upload: LiveUpload,
        before: UploadSession,
        _ ask: FileAsk,
        _ fault: FileFault
    ) {
        figures.refusedCount += 1
        let answer = upload.session.finish(fault)
        save(upload, before: before, ask) { [self] in end(upload, ask, answer) }
    }

    private func commit(
        _ change: FileChange,
        _ upload: LiveUpload,
        before: UploadSession,
        _ ask: FileAsk
    ) {
        guard let record = change.new else { return }
        let note = (
            path: FileTree.path(final: upload.id.text), node: Node(string: "\(record.generation)")
        )
        store.commit([change], [note]) { [self] fault in
            if let fault { return giveUp(upload, before: before, ask, fault) }
            let dialect = upload.session.description.dialect
            let json = FileAnswer.json(record, dialect, base: ask.base)
            let answer = upload.session.finish(json: json)
            uploads.noteEnd(upload)
            ask.caller = upload.caller
            if ask.caller.isAdmin { ResolvedRequest.of(ask.exchange).isNoted = false }
            noteStored(record, ask)
            end(upload, ask, answer)
            saveFinal(upload)
        }
    }

    /// Has the file of an upload say that it has ended, after which its note beside the object can go.
    private func saveFinal(_ upload: LiveUpload) {
        let (session, id, folder) = (upload.session, upload.id, disk.folder)
        upload.draft = nil
        _ = upload.worker.perform {
            Result { () throws(FileFault) in try folder.save(session, of: id, with: nil) }
        } then: { [self] outcome in
            // What fails is done by the next start.
            if case .success = outcome { forgetFinal(id.text) }
        }
    }
}

extension PreparedFolder {
    /// Begins a resumable upload, durably. Blocks.
    func begin(_ session: UploadSession) throws(FileFault) -> BlobDraft {
        let draft = try create(
            blobs.uploads.newID(),
            byteCount: session.description.byteCount ?? 0
        )
        do throws(BlobError) {
            try blobs.uploads.store(session, of: draft.id, with: nil)
            draft.rest()
            return draft
        } catch {
            throw FileFault(error)
        }
    }

    /// Makes the state of an upload durable, with its bytes; those of one that has ended go. Blocks.
    func save(
        _ session: UploadSession,
        of id: UploadID,
        with draft: BlobDraft?
    ) throws(FileFault) {
        do throws(BlobError) {
            try blobs.uploads.store(session, of: id, with: draft)
            draft?.rest()
            if session.state != .active { try blobs.uploads.removeBytes(of: id) }
        } catch {
            throw FileFault(error)
        }
    }
}
