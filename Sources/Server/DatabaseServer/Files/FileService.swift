import DatabaseCore
import FileProtocol
import FileRecords
import FileRulesTools
import JSONTree
import Transport

/// Files, by the protocol of the SDKs of clients and by that of libraries of servers.
///
///     head ─► FileRequest ─► who asks ─┬─► FileCall ─► rules ─► one commit, or a look ─► durable ─► answer
///                                      ├─► upload: bytes ─► worker ─► blob ─┘
///                                      └─► download: worker ─► bytes
@LoopActor
final class FileService: Service {
    let server: Server
    let store: FileStore
    let disk: FileDisk
    var rules: FileRulesStore {
        didSet { renewShadow() }
    }
    /// What is tried beside them.
    var shadow: FileShadowRules?
    /// What was decided by the rules of a bucket, or (nil) of all that have no file of their own, while all decisions
    /// are recorded.
    var coverages: [BucketName?: FileCoverage] = [:]
    /// Resumable uploads that are in memory.
    let uploads = UploadTable()
    private(set) lazy var collection = FileCollection(self)
    let line = FileLine()
    var openBlobs = OpenBlobs()
    /// Whether those that were open for long are closed in a while.
    var isClosingBlobs = false
    /// Uploads and downloads whose bytes are under way.
    var uploadCount = 0
    var downloadCount = 0
    var figures = FileFigures()

    init(_ server: Server, _ disk: FileDisk, _ rules: FileRulesStore) {
        self.server = server
        self.disk = disk
        self.rules = rules
        store = FileStore(server, disk)
    }

    /// Makes what is known of all files of their records; before the server is ready.
    func begin() {
        loadPublishedRules()
        renewShadow()
        logRulesInForce()
        disk.checkRemote()
        store.load()
        loadUploads()
        collection.begin()
    }

    /// Takes a request whose body has come or comes.
    func receive(_ exchange: HTTPExchange) {
        if exchange.isBodyComplete { return line.append { [self] in begin(exchange) } }
        exchange.pauseBody()
        begin(exchange)
    }

    private func begin(_ exchange: HTTPExchange) {
        guard exchange.isAnswerable else { return }
        // What a step of an upload changes is an entry of the audit log when it makes an object.
        let target = Self.target(exchange.head)
        do throws(FileRefusal) {
            let ask = try FileAsk(exchange, target, base: publicAddress(of: exchange.head))
            go(ask)
        } catch {
            refuse(exchange, error)
        }
    }

    /// The target of a request without a scheme and an authority before its path.
    private static func target(_ head: RequestHead) -> String {
        let target = head.rawTarget
        guard !target.hasPrefix("/"), let mark = target.firstRange(of: "://") else { return target }
        let rest = target[mark.upperBound...]
        return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
    }

    private func go(_ ask: FileAsk) {
        switch ask.request.call {
        case .hello: return answer(ask, .hello)
        // The identifier is the credential.
        case .uploadStep(let id, let step): return receiveStep(step, of: id, ask)
        default: break
        }
        identify(ask) { [self] caller in
            ask.caller = caller
            switch ask.request.call {
            case .upload(let start): beginUpload(start, ask)
            case .media(let address, let conditions, let media):
                download(address, conditions, media, ask)
            case .batch(let boundary): withBody(ask) { self.answerBatch($0, boundary, ask) }
            default: withBody(ask) { self.perform($0, ask) }
            }
        }
    }

    private func perform(_ body: [UInt8], _ ask: FileAsk) {
        let context = FileContext(
            caller: ask.caller,
            dialect: ask.request.dialect,
            base: ask.base,
            token: ask.request.token
        )
        perform(ask.request.call, context, body) { [self] outcome in
            switch outcome {
            case .success(let deed):
                if let change = deed.change { note(change, ask) }
                answer(ask, deed.answer)
            case .failure(let fault): refuse(ask, fault)
            }
        }
    }

    /// Takes the whole body of a request that has a short one.
    func withBody(_ ask: FileAsk, then: @escaping @LoopActor ([UInt8]) -> Void) {
        let exchange = ask.exchange
        guard exchange.isAnswerable else { return }
        let isBatch = if case .batch = ask.request.call { true } else { false }
        let limit = isBatch ? Self.batchByteLimit : FileProtocolLimits.metadataByteCount
        let tooLarge = FileFault(413, "The body has more than \(limit) bytes.")
        if let byteCount = exchange.head.bodyByteCount, byteCount > limit {
            return refuse(ask, tooLarge)
        }
        var body: [UInt8] = []
        exchange.resumeBody()
        exchange.receiveBody { [self] event in
            switch event {
            case .part(let bytes):
                guard body.count + bytes.count <= limit else {
                    return refuse(ask, tooLarge)
                }
                body += bytes
            case .end: then(body)
            case .cut: break
            }
        }
    }

    /// Bytes of a batch: each of its requests may have metadata.
    private static let batchByteLimit = 8 << 20

    // MARK: - Answers

    func answer(_ ask: FileAsk, _ answer: FileAnswer) {
        self.answer(
            ask.exchange,
            HTTPResponse(status: answer.status, headers: answer.headers, body: answer.body)
        )
    }

    func refuse(_ ask: FileAsk, _ fault: FileFault, isMedia: Bool = false) {
        figures.refusedCount += 1
        answer(ask, FileAnswer(fault, ask.request.dialect, isMedia: isMedia))
    }

    private func refuse(_ exchange: HTTPExchange, _ refusal: FileRefusal) {
        figures.refusedCount += 1
        let answer = FileAnswer(refusal.fault, refusal.dialect)
        self.answer(
            exchange,
            HTTPResponse(status: answer.status, headers: answer.headers, body: answer.body)
        )
    }

    /// Notes for the audit log what an administrator has done.
    func note(_ change: FileDeed.Change, _ ask: FileAsk) {
        guard ask.caller.isAdmin else { return }
        ResolvedRequest.of(ask.exchange).deed = AuditDeed(
            what: change.what,
            path: "\(change.address.bucket.text)/\(change.address.name.text)"
        )
    }

    // MARK: - Buckets

    /// Whether a bucket is served: one that is configured; in development any.
    func serves(_ bucket: BucketName) -> Bool {
        configuration.mode == .development
            || configuration.files.buckets.contains { $0.name == bucket }
    }

    /// Whether a bucket is there without being named by a request.
    func isKnown(_ bucket: BucketName) -> Bool {
        configuration.files.buckets.contains { $0.name == bucket }
            || store.catalog.usage[bucket] != nil || store.tree.time(madeBucket: bucket) != nil
    }

    /// Buckets that are there, in order of their names.
    var buckets: [BucketName] {
        var names = Set(configuration.files.buckets.map(\.name))
        if configuration.mode == .development {
            names.formUnion(store.catalog.usage.keys)
            names.formUnion(store.tree.madeBuckets)
        }
        return names.sorted()
    }
}

/// One request for files on its way.
@LoopActor
final class FileAsk {
    let exchange: HTTPExchange
    let head: FileRequestHead
    let request: FileRequest
    /// The public address of this server, by which its answers name objects.
    let base: String
    var caller = FileCaller.anonymous
    /// Whether a verified signature is what lets it in.
    var isSigned = false

    init(_ exchange: HTTPExchange, _ target: String, base: String) throws(FileRefusal) {
        self.exchange = exchange
        self.base = base
        let (method, fields) = (exchange.head.method, exchange.head.fields)
        do throws(FileFault) {
            head = try FileRequestHead(method: method, target: target, headers: fields)
        } catch {
            let segments = exchange.head.pathSegments.map { $0[...] }
            throw FileRefusal(dialect: FileRequest.dialect(segments), fault: error)
        }
        request = try FileRequest(head)
    }
}

/// Who asks for a call, and how its answer looks.
struct FileContext {
    let caller: FileCaller
    let dialect: FileDialect
    let base: String
    /// A download token that the request brings.
    let token: String?
}

/// What came of a call.
struct FileDeed {
    /// What was changed, for the audit log.
    struct Change {
        let what: String
        let address: ObjectAddress
    }

    let answer: FileAnswer
    var change: Change?
}
