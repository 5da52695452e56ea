import FileProtocol
import FileRecords
import FileRules
import JSONTree
import Transport

/// Calls whose answer is whole, and that take no bytes of an object. What is answered is durable.
extension FileService {
    typealias Outcome = Result<FileDeed, FileFault>

    /// Does a call; `then` is called once, when its answer may leave.
    func perform(
        _ call: FileCall,
        _ context: FileContext,
        _ body: [UInt8],
        then: @escaping @LoopActor (Outcome) -> Void
    ) {
        do throws(FileFault) {
            try admitBuckets(of: call)
            switch call {
            case .metadata(let address, let conditions):
                try metadata(address, conditions, context, then)
            case .list(let bucket, let query): try list(bucket, query, context, then)
            case .patch(let address, let conditions):
                try patch(address, conditions, context, body, then)
            case .replace(let address, let conditions):
                try replace(address, conditions, context, try Self.metadataBody(body), then)
            case .delete(let address, let conditions):
                try delete(address, conditions, context, then)
            case .createToken(let address):
                try changeTokens(address, context, then) { (record, now) throws(MetadataFault) in
                    try record.addToken(Self.newToken(), now: now)
                    return true
                }
            case .deleteToken(let address, let token):
                try changeTokens(address, context, then) { record, now in
                    record.removeToken(token, fresh: Self.newToken(), now: now)
                }
            case .access(let address):
                let record = try object(address, Preconditions(), context.dialect)
                answerWhenDurable(.accessList(record, base: context.base), then)
            case .makePublic(let address):
                try AccessBody.check(body)
                try setPublic(true, address, context, then)
            case .makePrivate(let address): try setPublic(false, address, context, then)
            case .buckets: answerBuckets(context, then)
            case .bucket(let bucket): try answerBucket(bucket, context, then)
            case .createBucket: try createBucket(BucketBody(body).name, context, then)
            case .deleteBucket(let bucket): try deleteBucket(bucket, then)
            case .copy(let copy): try self.copy(copy, context, try Self.metadataBody(body), then)
            case .compose(let address, let conditions):
                try compose(address, conditions, context, try ComposeBody(body), then)
            case .hello: then(.success(FileDeed(answer: .hello)))
            case .media, .upload, .uploadStep, .batch: throw .notImplemented
            }
        } catch {
            then(.failure(error))
        }
    }

    /// Whether the buckets of a call are served.
    private func admitBuckets(of call: FileCall) throws(FileFault) {
        let buckets: [BucketName]
        switch call {
        case .metadata(let address, _), .media(let address, _, _), .patch(let address, _),
            .replace(let address, _), .delete(let address, _), .createToken(let address),
            .deleteToken(let address, _), .compose(let address, _), .makePublic(let address),
            .makePrivate(let address), .access(let address):
            buckets = [address.bucket]
        case .list(let bucket, _), .bucket(let bucket), .deleteBucket(let bucket):
            buckets = [bucket]
        case .copy(let copy): buckets = [copy.source.bucket, copy.destination.bucket]
        case .hello, .upload, .uploadStep, .buckets, .createBucket, .batch: buckets = []
        }
        for bucket in buckets { try admit(bucket) }
    }

    func admit(_ bucket: BucketName) throws(FileFault) {
        if serves(bucket) { return }
        throw FileFault(404, "There is no bucket '\(bucket.text)' on this server.")
    }

    static func metadataBody(_ json: [UInt8]) throws(FileFault) -> FileMetadataBody {
        do throws(MetadataFault) { return try FileMetadataBody(json) } catch {
            throw FileFault(400, error.description)
        }
    }

    /// A new download token: a UUID of version 4.
    static func newToken() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(Hexadecimal.encode(bytes))
        let ends = [8, 12, 16, 20, 32]
        return zip([0] + ends, ends).map { String(digits[$0..<$1]) }.joined(separator: "-")
    }

    /// That an object is not there, in the words of a dialect.
    static func notFound(_ address: ObjectAddress, _ dialect: FileDialect) -> FileFault {
        dialect == .client
            ? .notFound
            : FileFault(404, "No such object: \(address.bucket.text)/\(address.name.text)")
    }

    /// The object that a request names, under its conditions.
    func object(
        _ address: ObjectAddress,
        _ conditions: Preconditions,
        _ dialect: FileDialect
    ) throws(FileFault) -> FileRecord {
        guard let record = conditions.named(store.record(address)) else {
            throw Self.notFound(address, dialect)
        }
        guard conditions.check(record) == .met else { throw .conditionNotMet }
        return record
    }

    /// Calls `then` with an answer once what it shows is durable.
    func answerWhenDurable(
        _ answer: FileAnswer,
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) {
        store.whenDurable { then(.success(FileDeed(answer: answer))) }
    }

    /// Commits changes; `then` gets the answer, or why they are not made.
    func commit(
        _ changes: [FileChange],
        _ what: String,
        _ address: ObjectAddress,
        answer: FileAnswer,
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) {
        store.commit(changes) { fault in
            if let fault { return then(.failure(fault)) }
            let change = FileDeed.Change(what: what, address: address)
            then(.success(FileDeed(answer: answer, change: change)))
        }
    }

    // MARK: - Reading

    private func metadata(
        _ address: ObjectAddress,
        _ conditions: Preconditions,
        _ context: FileContext,
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) throws(FileFault) {
        let found = store.record(address)
        let byToken = context.dialect == .client && Self.opens(context.token, found)
        if !byToken { try authorize(.get, address, context.caller, old: found) }
        guard var record = conditions.named(found) else {
            throw Self.notFound(address, context.dialect)
        }
        let outcome = conditions.check(record)
        if outcome.isNotModified {
            let headers = [(name: "ETag", value: "\"\(record.entityTag)\"")]
            return answerWhenDurable(FileAnswer(304, headers: headers), then)
        }
        guard outcome == .met else { throw .conditionNotMet }
        // Objects of libraries of servers have no token until a client asks for one.
        if context.dialect == .client, !byToken {
            let old = record
            if record.ensureToken(Self.newToken(), now: Clock.now()) {
                let answer = FileAnswer(record, .client, base: context.base)
                return store.commit([FileChange(old: old, new: record)]) { fault in
                    then(fault.map { .failure($0) } ?? .success(FileDeed(answer: answer)))
                }
            }
        }
        answerWhenDurable(FileAnswer(record, context.dialect, base: context.base), then)
    }

    /// Whether a download token opens an object.
    static func opens(_ token: String?, _ record: FileRecord?) -> Bool {
        guard let token, let record else { return false }
        return DownloadTokens.contains(token, in: record.tokens)
    }

    private func list(
        _ bucket: BucketName,
        _ query: NameQuery,
        _ context: FileContext,
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) throws(FileFault) {
        let prefix = String(decoding: query.prefix, as: UTF8.self)
        try authorize(.list, bucket: bucket, name: prefix, context.caller)
        let names = store.catalog.names[bucket] ?? NameIndex()
        let tree = store.tree
        let (base, isClient) = (context.base, context.dialect == .client)
        let isTaken = disk.worker.perform { () -> FileAnswer in
            let list = names.list(query)
            if isClient { return .clientList(bucket, list) }
            let records = list.items.compactMap { tree.record(ObjectAddress(bucket, $0)) }
            return .serverList(list, records, base: base)
        } then: { [self] answer in
            answerWhenDurable(answer, then)
        }
        if !isTaken { throw .busy(retryAfter: 1) }
    }

    // MARK: - Changing

    private func patch(
        _ address: ObjectAddress,
        _ conditions: Preconditions,
        _ context: FileContext,
        _ json: [UInt8],
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) throws(FileFault) {
        let body = try Self.metadataBody(json)
        let old = store.record(address)
        let isClient = context.dialect == .client
        let use: FileMetadataBody.TokenUse =
            !context.caller.isAdmin ? .ignore : isClient ? .add : .set
        var new = old
        if !isClient, let isPublic = try AccessBody.isPublic(json) { new?.isPublic = isPublic }
        do throws(MetadataFault) { try new?.patch(body, use, now: Clock.now()) } catch {
            // Who may not change it does not learn more.
            try authorize(.update, address, context.caller, old: old, new: old)
            throw FileFault(400, error.description)
        }
        try authorize(.update, address, context.caller, old: old, new: new)
        _ = try object(address, conditions, context.dialect)
        guard let new else { throw Self.notFound(address, context.dialect) }
        commit(
            [FileChange(old: old, new: new)],
            "the metadata of a file is changed",
            address,
            answer: FileAnswer(new, context.dialect, base: context.base),
            then
        )
    }

    private func replace(
        _ address: ObjectAddress,
        _ conditions: Preconditions,
        _ context: FileContext,
        _ body: FileMetadataBody,
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) throws(FileFault) {
        try change(address, conditions, context, then) { (record, now) throws(MetadataFault) in
            try record.replace(body, now: now)
            return true
        }
    }

    private func delete(
        _ address: ObjectAddress,
        _ conditions: Preconditions,
        _ context: FileContext,
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) throws(FileFault) {
        let old = store.record(address)
        try authorize(.delete, address, context.caller, old: old)
        let record = try object(address, conditions, context.dialect)
        commit(
            [FileChange(old: record, new: nil)],
            "a file is removed",
            address,
            answer: FileAnswer(204),
            then
        )
    }

    private func changeTokens(
        _ address: ObjectAddress,
        _ context: FileContext,
        _ then: @escaping @LoopActor (Outcome) -> Void,
        _ body: (inout FileRecord, Timestamp) throws(MetadataFault) -> Bool
    ) throws(FileFault) {
        guard context.caller.isAdmin else { throw .notAdmin }
        try change(address, Preconditions(), context, then, body)
    }

    private func setPublic(
        _ isPublic: Bool,
        _ address: ObjectAddress,
        _ context: FileContext,
        _ then: @escaping @LoopActor (Outcome) -> Void
    ) throws(FileFault) {
        var new = try object(address, Preconditions(), context.dialect)
        let old = new
        new.setPublic(isPublic, now: Clock.now())
        commit(
            [FileChange(old: old, new: new)],
            isPublic ? "a file is opened to everyone" : "a file is no longer open to everyone",
            address,
            answer: isPublic ? .access(new, base: context.base) : FileAnswer(204),
            then
        )
    }

    /// An administrator's change of one object; `body` returns whether there is what it changes.
    private func change(
        _ address: ObjectAddress,
        _ conditions: Preconditions,
        _ context: FileContext,
        _ then: @escaping @LoopActor (Outcome) -> Void,
        _ body: (inout FileRecord, Timestamp) throws(MetadataFault) -> Bool
    ) throws(FileFault) {
        let old = try object(address, conditions, context.dialect)
        var new = old
        let isChanged: Bool
        do throws(MetadataFault) { isChanged = try body(&new, Clock.now()) } catch {
            throw FileFault(400, error.description)
        }
        guard isChanged else { throw .notFound }
        commit(
            [FileChange(old: old, new: new)],
            "the metadata of a file is changed",
            address,
            answer: FileAnswer(new, context.dialect, base: context.base),
            then
        )
    }
}
