import FileRecords
package import JSONTree

/// A resumable upload: what was said at its start, and how far it is.
///
/// A state machine without bytes. For each request `begin` says what to do; for a chunk, `UploadTransfer` says where its
/// bytes go, and `end` what follows. Store the record after each `end`, and sync its bytes before, since the answer says
/// how many are safe. One request at a time: the caller answers others 503.
///
///     begin ──► receive ──► end ──► answer 200 active / 308
///       │                    └────► commit ──► finish
///       ├──► commit ──► finish
///       └──► answer
package struct UploadSession: Sendable, Equatable {
    /// How far it is.
    package enum State: Sendable, Equatable {
        case active
        case cancelled
        /// It has ended with this answer, which is given again to each who asks again.
        case final(status: Int, body: [UInt8])
    }

    package private(set) var description: UploadDescription
    /// Who has begun it. Later requests need no credential: who knows the identifier may go on.
    package let uid: String?
    /// The claims of who has begun it, JSON of an object, by which rules decide at its end; nil without any.
    package let claims: String?
    package let isAdmin: Bool
    /// Bytes that the object may have, by who has begun it.
    package let byteLimit: Int64
    package let created: Timestamp
    /// Bytes that are stored, from the first on.
    package private(set) var byteCount: Int64 = 0
    package private(set) var state = State.active

    /// Begins an upload.
    ///
    /// - Throws: `FileFault` (413) when it is to have more than `byteLimit` bytes.
    package init(
        _ description: UploadDescription,
        uid: String?,
        claims: String? = nil,
        isAdmin: Bool,
        byteLimit: Int64,
        now: Timestamp
    ) throws(FileFault) {
        if let byteCount = description.byteCount, byteCount > byteLimit {
            throw .tooLarge(limit: byteLimit)
        }
        self.description = description
        self.uid = uid
        self.claims = claims
        self.isAdmin = isAdmin
        self.byteLimit = byteLimit
        created = now
    }

    /// A session as its record says.
    init(
        _ description: UploadDescription,
        uid: String?,
        claims: String?,
        isAdmin: Bool,
        byteLimit: Int64,
        created: Timestamp,
        byteCount: Int64,
        state: State
    ) {
        self.description = description
        self.uid = uid
        self.claims = claims
        self.isAdmin = isAdmin
        self.byteLimit = byteLimit
        self.created = created
        self.byteCount = byteCount
        self.state = state
    }

    /// Whether it is over by its age.
    package func isExpired(at now: Timestamp) -> Bool {
        now.milliseconds - created.milliseconds >= FileProtocolLimits.sessionLifetime
    }

    private var dialect: FileDialect { description.dialect }

    /// What to do with a request.
    package mutating func begin(_ step: UploadStep) -> UploadAction {
        switch state {
        case .active: beginActive(step)
        case .cancelled: .answer(answerCancelled(step))
        case .final(let status, let body): .answer(answerFinal(step, status, body))
        }
    }

    private mutating func beginActive(_ step: UploadStep) -> UploadAction {
        switch step {
        case .cancel:
            state = .cancelled
            return .answer(answerCancelled(step))
        case .finish: return finishing()
        case .query(let total):
            if dialect == .client { return .answer(progress(isQuery: true)) }
            if let fault = learn(total) { return .answer(refusal(fault)) }
            // All bytes are there: it is being finished, or that has failed before.
            return description.byteCount == byteCount
                ? .commit : .answer(progress(isQuery: true))
        case .bytes(let chunk):
            let offset = chunk.offset ?? byteCount
            if offset > byteCount {
                return .answer(
                    refusal(
                        FileFault(400, "The chunk begins at \(offset), behind byte \(byteCount).")
                    )
                )
            }
            if let fault = learn(chunk.total) { return .answer(refusal(fault)) }
            if let count = chunk.byteCount, let fault = excess(offset + count) {
                return .answer(finish(fault))
            }
            return .receive(
                UploadTransfer(
                    chunk,
                    skipping: byteCount - offset,
                    offset: byteCount,
                    total: description.byteCount,
                    limit: byteLimit
                )
            )
        }
    }

    /// Why the upload cannot reach so far.
    private func excess(_ end: Int64) -> FileFault? {
        if let total = description.byteCount, end > total {
            return FileFault(
                400,
                "The upload has more bytes than the \(total) that it was to have."
            )
        }
        return end > byteLimit ? .tooLarge(limit: byteLimit) : nil
    }

    /// Takes a size that a request says; it cannot change.
    private mutating func learn(_ total: Int64?) -> FileFault? {
        guard let total else { return nil }
        if let known = description.byteCount, known != total {
            return FileFault(400, "The upload has \(known) bytes, not \(total).")
        }
        if total < byteCount {
            return FileFault(400, "The upload has \(byteCount) bytes already, more than \(total).")
        }
        if total > byteLimit { return .tooLarge(limit: byteLimit) }
        description.byteCount = total
        return nil
    }

    /// The end of a chunk. `isWhole` is false when its connection was cut: then only whole units of the granularity are
    /// kept, so that clients that round down find what they expect.
    package mutating func end(_ transfer: UploadTransfer, isWhole: Bool) -> UploadAction {
        if let fault = transfer.fault {
            return .answer(finish(fault))
        }
        var reached = transfer.offset
        if !isWhole { reached -= reached % FileProtocolLimits.granularity }
        byteCount = max(byteCount, reached)
        if isWhole, transfer.isComplete { return finishing() }
        return .answer(progress(isQuery: false))
    }

    private func finishing() -> UploadAction {
        if let total = description.byteCount, byteCount < total {
            return .answer(
                refusal(FileFault(400, "The upload has \(byteCount) of \(total) bytes."))
            )
        }
        return .commit
    }

    /// Ends it with the metadata of the object that was made; the answer to give, now and again.
    package mutating func finish(json: [UInt8]) -> FileAnswer { finish(200, json) }

    /// Ends it with a refusal, such as of rules: what is final cannot be tried again.
    package mutating func finish(_ fault: FileFault) -> FileAnswer {
        finish(fault.status, FileAnswer(fault, dialect).body)
    }

    private mutating func finish(_ status: Int, _ body: [UInt8]) -> FileAnswer {
        state = .final(status: status, body: body)
        return answerFinal(.finish, status, body)
    }

    // MARK: - Answers

    /// The answer to the request that has begun it: no body, and the address of the session.
    ///
    /// `base` is the public address of the server without a slash at its end: `https://files.example.com`.
    package func started(id: String, base: String) -> FileAnswer {
        let name = PercentCoding.encode(description.address.name.text)
        let bucket = description.address.bucket.text
        switch dialect {
        case .client:
            let url =
                "\(base)/v0/b/\(bucket)/o?name=\(name)&upload_id=\(id)&upload_protocol=resumable"
            return FileAnswer(
                200,
                headers: [
                    ("X-Goog-Upload-URL", url), ("X-Goog-Upload-Control-URL", url),
                    ("X-Goog-Upload-Status", "active"),
                    (
                        "X-Goog-Upload-Chunk-Granularity",
                        "\(FileProtocolLimits.granularity)"
                    ),
                    ("X-GUploader-UploadID", id),
                ]
            )
        case .server:
            let url =
                "\(base)/upload/storage/v1/b/\(bucket)/o?uploadType=resumable&name=\(name)&upload_id=\(id)"
            return FileAnswer(
                200,
                headers: [("Location", url), ("X-GUploader-UploadID", id)]
            )
        case .plain:
            let path = CanonicalRequest.encode(path: description.address.name.utf8)
            return FileAnswer(
                201,
                headers: [
                    ("Location", "\(base)/\(bucket)/\(path)?upload_id=\(id)"),
                    ("X-GUploader-UploadID", id),
                ]
            )
        }
    }

    /// How far it is. The answer to a query names no granularity: iOS would begin its next chunk at a multiple of that.
    private func progress(isQuery: Bool) -> FileAnswer {
        if dialect == .client { return FileAnswer(200, headers: statusHeaders("active")) }
        let range = byteCount > 0 ? [("Range", "bytes=0-\(byteCount - 1)")] : []
        return FileAnswer(308, headers: range)
    }

    private func refusal(_ fault: FileFault) -> FileAnswer {
        var answer = FileAnswer(fault, dialect)
        if dialect == .client { answer.headers += statusHeaders("active") }
        return answer
    }

    private func answerCancelled(_ step: UploadStep) -> FileAnswer {
        if dialect != .client {
            return FileAnswer(FileFault(499, "The upload was cancelled."), dialect)
        }
        switch step {
        case .cancel, .query: return FileAnswer(200, headers: statusHeaders("cancelled"))
        case .bytes, .finish:
            var answer = FileAnswer(FileFault(400, "The upload was cancelled."), dialect)
            answer.headers += statusHeaders("cancelled")
            return answer
        }
    }

    private func answerFinal(_ step: UploadStep, _ status: Int, _ body: [UInt8]) -> FileAnswer {
        var isNew = step == .cancel
        if case .bytes(let chunk) = step, !chunk.isLast, dialect == .client { isNew = true }
        var answer = FileAnswer(
            status,
            headers: [
                (
                    "Content-Type",
                    dialect == .plain && status >= 400
                        ? "application/xml; charset=UTF-8" : "application/json"
                ), ("Cache-Control", "no-store"),
            ],
            body: body
        )
        if isNew { answer = FileAnswer(FileFault(400, "The upload has ended."), dialect) }
        if dialect == .client { answer.headers += statusHeaders("final") }
        return answer
    }

    private func statusHeaders(_ status: String) -> [(name: String, value: String)] {
        [
            ("X-Goog-Upload-Status", status),
            ("X-Goog-Upload-Size-Received", "\(byteCount)"),
        ]
    }
}

/// What to do with a request to a resumable upload.
package enum UploadAction: Sendable {
    /// Store the bytes of the body where the transfer says, then call `end`.
    case receive(UploadTransfer)
    /// All bytes are there: check them, ask the rules, commit the object, then call `finish`.
    case commit
    /// Answer; a body does not count.
    case answer(FileAnswer)
}

/// Where the bytes of one chunk go.
package struct UploadTransfer: Sendable {
    private let chunk: UploadStep.Chunk
    private let total: Int64?
    private let limit: Int64
    /// Bytes that are stored already and still to come once more.
    private var skipByteCount: Int64
    /// Bytes of the body so far.
    private var bodyByteCount: Int64 = 0
    /// The place of the next byte to store.
    package private(set) var offset: Int64
    /// Why the upload ends here; nil when it goes on.
    package private(set) var fault: FileFault?

    init(
        _ chunk: UploadStep.Chunk,
        skipping skipByteCount: Int64,
        offset: Int64,
        total: Int64?,
        limit: Int64
    ) {
        self.chunk = chunk
        self.skipByteCount = skipByteCount
        self.offset = offset
        self.total = total
        self.limit = limit
    }

    /// Takes the next bytes of the body: which of them to store, and where. Nil when none are, also after a fault.
    package mutating func take(_ count: Int) -> (range: Range<Int>, offset: Int64)? {
        if fault != nil || count == 0 { return nil }
        bodyByteCount += Int64(count)
        if let declared = chunk.byteCount, bodyByteCount > declared {
            fault = FileFault(400, "The body has more bytes than its Content-Range says.")
            return nil
        }
        let skipped = Int(min(skipByteCount, Int64(count)))
        skipByteCount -= Int64(skipped)
        let start = offset
        let end = offset + Int64(count - skipped)
        if let total, end > total {
            fault = FileFault(
                400,
                "The upload has more bytes than the \(total) that it was to have."
            )
            return nil
        }
        if end > limit {
            fault = .tooLarge(limit: limit)
            return nil
        }
        offset = end
        return skipped == count ? nil : (skipped..<count, start)
    }

    /// Whether the object ends with the bytes that came.
    var isComplete: Bool {
        chunk.isLast && (chunk.byteCount == nil || chunk.byteCount == bodyByteCount)
    }
}
