import Accounts
import DatabaseCore
import FileProtocol
import FileRecords
import FileRules
import FileRulesTools
import JSONTree
import Logging
import Tokens
import Transport

/// Who may ask for files.
extension FileService {
    /// Finds out who asks; answers who may not.
    ///
    /// Clients are decided on by rules. Libraries of servers are administrators, by the same credentials as elsewhere; in
    /// development callers on this machine are, whatever they send, since these libraries send an emulator nothing.
    func identify(_ ask: FileAsk, then: @escaping @LoopActor (FileCaller) -> Void) {
        let exchange = ask.exchange
        let isOpen =
            ask.request.dialect != .client && server.requests.opensAdminRoutes(to: exchange.head)
        if ask.request.dialect == .plain {
            return identifyPlain(ask, isOpen: isOpen, then: then)
        }
        if isOpen || ResolvedRequest.of(exchange).consoleSession != nil { return then(.admin) }
        guard let credential = Self.credential(exchange.head) else {
            return ask.request.dialect == .client
                ? then(.anonymous) : refuse(ask, .unauthenticated)
        }
        check(credential, ask) { [self] caller in
            if ask.request.dialect == .client || caller.isAdmin { return then(caller) }
            refuse(ask, FileFault(403, "Only administrators may use this address."))
        }
    }

    /// What stands behind the first word of the `Authorization` header.
    private static func credential(_ head: RequestHead) -> String? {
        guard let value = head.header("authorization") else { return nil }
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, ["bearer", "firebase"].contains(words[0].lowercased()) else {
            return value
        }
        return String(words[1])
    }

    private func check(
        _ credential: String,
        _ ask: FileAsk,
        then: @escaping @LoopActor (FileCaller) -> Void
    ) {
        server.identity.check(credential) { [self] outcome in
            guard ask.exchange.isAnswerable else { return }
            switch outcome {
            case .admin: then(.admin)
            case .user(let auth, _): then(FileCaller(auth))
            case .refused(.invalid(let text)), .refused(.expired(let text)):
                refuse(ask, FileFault(401, text))
            }
        }
    }

    /// A plain address is signed, or of an object that is public, or an administrator asks.
    private func identifyPlain(
        _ ask: FileAsk,
        isOpen: Bool,
        then: @escaping @LoopActor (FileCaller) -> Void
    ) {
        if SignedURL.isSigned(ask.head) {
            return checkSignature(ask, isOpen: isOpen) {
                ask.isSigned = true
                then(.admin)
            }
        }
        if case .media(let address, _, _) = ask.request.call {
            if store.record(address)?.isPublic == true { return then(.admin) }
        }
        if isOpen { return then(.admin) }
        guard let credential = Self.credential(ask.exchange.head) else {
            return refuse(ask, FileFault(403, "Anonymous callers may not use this object."))
        }
        check(credential, ask) { [self] caller in
            if caller.isAdmin { return then(caller) }
            refuse(ask, FileFault(403, "Only administrators may use this object."))
        }
    }

    /// Checks a signed address by the key of its service account, as that is now.
    private func checkSignature(
        _ ask: FileAsk,
        isOpen: Bool,
        then: @escaping @LoopActor () -> Void
    ) {
        let signed: SignedURL
        do throws(FileFault) { signed = try SignedURL(ask.head) } catch {
            return refuse(ask, error)
        }
        let account = server.identity.accountDirectory.serviceAccount(email: signed.account)
        guard let account, !account.isDisabled else {
            // An emulator knows no keys.
            if isOpen, account == nil { return then() }
            return refuse(
                ask,
                FileFault(
                    403,
                    "There is no service account '\(signed.account)' that may sign.",
                    code: "AccessDenied"
                )
            )
        }
        let keys = account.keys.map { Array($0.publicPEM.utf8) }
        let head = ask.head
        let isTaken = workers.credentials.perform {
            Result { () throws(FileFault) in
                try signed.check(head, now: Clock.now(), digest: SHA256Digest.of) {
                    message,
                    signature in
                    keys.contains { pem in
                        PublicKey(pem: pem)?.verifies(signature, of: message) == true
                    }
                }
            }
        } then: { [self] outcome in
            guard ask.exchange.isAnswerable else { return }
            // It may have been disabled while the signature was checked.
            let directory = server.identity.accountDirectory
            let isStill = directory.serviceAccount(email: signed.account)?.isDisabled == false
            switch outcome {
            case .success where isStill: then()
            case .success: refuse(ask, FileFault(403, "The service account is disabled."))
            case .failure(let fault): refuse(ask, fault)
            }
        }
        if !isTaken { refuse(ask, .busy(retryAfter: 1)) }
    }

    // MARK: - Rules

    /// Asks the rules; administrators are let through.
    ///
    /// With `isEarly` only what no upload of this size and metadata can change is refused. With `isRepeated` what is allowed
    /// is decided once more later, and counted, kept for inspection and compared with shadow rules then.
    ///
    /// - Throws: the refusal in the words of the protocol.
    func authorize(
        _ operation: FileOperation,
        bucket: BucketName,
        name: String,
        _ caller: FileCaller,
        old: FileRecord? = nil,
        new: FileRecord? = nil,
        isEarly: Bool = false,
        isRepeated: Bool = false
    ) throws(FileFault) {
        if caller.isAdmin { return }
        let request = FileRulesRequest(
            operation,
            bucket: bucket.text,
            name: name,
            auth: caller.auth,
            time: Clock.now(),
            resource: old.map { FileResource($0) },
            newResource: new.map { FileResource($0) }
        )
        let ruleset: FileRuleset
        switch rules.rules(of: bucket) {
        case .open:
            if !isEarly, !isRepeated { tryShadow(.init(isAllowed: true), request, bucket) }
            return
        case .none:
            tryShadow(.init(isAllowed: false, isEarly: isEarly), request, bucket)
            throw .noRules
        case .loaded(let loaded): ruleset = loaded
        }
        let isCounted = engine.inspection == .all && !isEarly
        let decision = ruleset.decide(request, isRecorded: isCounted) { self.read($0, $1) }
        if isEarly, decision.isAllowed || ruleset.mayChange(decision) { return }
        if isRepeated, decision.isAllowed { return }
        if isCounted { count(decision, ruleset, bucket) }
        inspect(request, decision, ruleset, isRecorded: isCounted)
        let outcome = FileShadowRules.Outcome(
            isAllowed: decision.isAllowed,
            allow: decision.allow,
            isEarly: isEarly
        )
        tryShadow(outcome, request, bucket)
        if decision.isAllowed { return }
        figures.deniedCount += 1
        switch operation {
        case .get: throw .denied(.read)
        case .list: throw .denied(.list)
        case .create, .update, .delete: throw .denied(.write)
        }
    }

    /// Keeps a decision as far as the server is asked to; one that was not recorded is decided once more with its values.
    private func inspect(
        _ request: FileRulesRequest,
        _ decision: FileDecision,
        _ ruleset: FileRuleset,
        isRecorded: Bool
    ) {
        switch engine.inspection {
        case .off: return
        case .refused where decision.isAllowed: return
        case .refused, .all: break
        }
        let shown =
            isRecorded
            ? decision : ruleset.decide(request, isRecorded: true) { self.read($0, $1) }
        server.inspection.keep(
            FileDecisionRecord(request: request, decision: shown, rules: ruleset)
        )
    }

    /// Has the shadow rules decide what was decided, where they would come in force.
    private func tryShadow(
        _ outcome: FileShadowRules.Outcome,
        _ request: FileRulesRequest,
        _ bucket: BucketName
    ) {
        guard shadow != nil, rules.scope(of: bucket) == nil else { return }
        shadow?.compare(outcome, request) { self.read($0, $1) }
    }

    func authorize(
        _ operation: FileOperation,
        _ address: ObjectAddress,
        _ caller: FileCaller,
        old: FileRecord? = nil,
        new: FileRecord? = nil,
        isEarly: Bool = false,
        isRepeated: Bool = false
    ) throws(FileFault) {
        try authorize(
            operation,
            bucket: address.bucket,
            name: address.name.text,
            caller,
            old: old,
            new: new,
            isEarly: isEarly,
            isRepeated: isRepeated
        )
    }

    /// What rules read of a database: the standard one, or one that they name. Never a reserved one.
    func read(_ name: String?, _ path: Path) -> Node? {
        guard let name else {
            return engine.root(of: DatabaseID(configuration.selection.standard.text))
                .descendant(at: path)
        }
        let known: DatabaseName
        do throws(DatabaseNameError) { known = try DatabaseName(name) } catch { return nil }
        let database = DatabaseID((configuration.selection.aliases[known] ?? known).text)
        return engine.serves(database) ? engine.root(of: database).descendant(at: path) : nil
    }
}

extension FileResource {
    /// A record as rules see it.
    init(_ record: FileRecord) {
        self.init(
            name: record.name.text,
            bucket: record.bucket.text,
            size: record.content.byteCount
        )
        contentType = record.contentType
        contentEncoding = record.fields[.contentEncoding]
        contentDisposition = record.fields[.contentDisposition]
        contentLanguage = record.fields[.contentLanguage]
        cacheControl = record.fields[.cacheControl]
        md5Hash = record.content.md5Text
        crc32c = record.content.crc32cText
        etag = record.entityTag
        generation = record.generation
        metageneration = record.metageneration
        timeCreated = record.created
        updated = record.updated
        for entry in record.fields.custom { metadata[entry.key] = entry.value }
    }
}
