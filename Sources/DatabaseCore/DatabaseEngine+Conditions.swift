import EventProtocol
import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// A request that waits for the hash of a large node.
struct HashedRequest {
    let id: RequestID
    let database: Database
    /// The node that is hashed.
    let node: Node
    let use: Use
    let standing: Standing

    enum Use {
        /// The answer, which lacks the tag alone.
        case answer(Response)
        case condition(ConditionalPut)
    }
}

/// A put that counts only if the tag is that of what is there.
struct ConditionalPut {
    let write: Write
    let condition: EntityTag
    let tagUse: Request.TagUse
    let standing: Standing
    /// 1 for the first comparison.
    var attempt = 1

    var target: WriteTarget { write.entries[0].target }
}

/// What became of a write that has a condition.
enum ConditionalOutcome {
    /// The condition holds.
    case performed(WriteOutcome)
    /// It does not, and the writer may know what is there.
    case mismatch
    case denied
}

/// Tags of nodes, and writes that depend on them.
extension DatabaseEngine {
    /// Does a write if the tags are equal.
    ///
    /// Its rules are judged first: what is there, and even that it is something else, is for those alone who may
    /// write and read it.
    func perform(
        _ write: Write,
        if condition: EntityTag,
        is current: EntityTag,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> ConditionalOutcome {
        if condition == current {
            return .performed(perform(write, database, now, &effects))
        }
        guard database.allows(write, now: now, &effects) else {
            counts.refusedWrites += 1
            return .denied
        }
        let path = write.entries[0].target.path
        let source = write.requester.source
        let requester = Requester(write.identity, source, .read)
        let outcome = database.read(path, .everything, for: requester, now: now, &effects)
        if case .value = outcome { return .mismatch }
        counts.refusedReads += 1
        return .denied
    }

    /// Does a put of a request that has a condition, now or once a large node is hashed, and answers it.
    func put(
        _ put: ConditionalPut,
        _ id: RequestID,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        let current = database.node(at: put.target)
        guard current.isLarge(from: policy.nodesHashedAtOnce) else {
            finish(put, id, current, EntityTag(current), database, now, &effects)
            return
        }
        // Nobody has a large node hashed who may not write it.
        guard database.allows(put.write, now: now, isPreliminary: true, &effects) else {
            counts.refusedWrites += 1
            database.emit(.respond(id, .permissionDenied), &effects)
            return
        }
        askHash(
            HashedRequest(
                id: id,
                database: database,
                node: current,
                use: .condition(put),
                standing: put.standing
            ),
            &effects
        )
    }

    private func finish(
        _ put: ConditionalPut,
        _ id: RequestID,
        _ current: Node,
        _ currentTag: EntityTag,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        let outcome = perform(put.write, if: put.condition, is: currentTag, database, now, &effects)
        switch outcome {
        case .performed(let outcome):
            answer(
                id,
                response(to: outcome, of: put.write),
                put.tagUse,
                of: database.node(at: put.target),
                database,
                put.standing,
                &effects
            )
        case .mismatch:
            database.emit(.respond(id, .mismatch(current, currentTag)), &effects)
        case .denied:
            database.emit(.respond(id, .permissionDenied), &effects)
        }
    }

    /// Answers a request, with the tag of a node if it is wanted and the request is done.
    func answer(
        _ id: RequestID,
        _ response: Response,
        _ use: Request.TagUse,
        of node: @autoclosure () -> Node,
        _ database: Database,
        _ standing: Standing,
        _ effects: inout [Effect],
    ) {
        guard use == .wanted, response.takesTag else {
            database.emit(.respond(id, response), &effects)
            return
        }
        let node = node()
        if node.isLarge(from: policy.nodesHashedAtOnce) {
            askHash(
                HashedRequest(
                    id: id,
                    database: database,
                    node: node,
                    use: .answer(response),
                    standing: standing
                ),
                &effects
            )
        } else {
            database.emit(.respond(id, response.with(EntityTag(node))), &effects)
        }
    }

    private func askHash(_ request: HashedRequest, _ effects: inout [Effect]) {
        let inquiry = nextInquiry()
        inquiringHashes[inquiry] = request
        beginWaiting(request.id, request.standing)
        effects.append(.work(inquiry, .hash(request.node)))
    }

    /// Goes on when the hash is there; nil when too much waited for it to be worked out.
    func hashed(
        _ request: HashedRequest,
        _ hash: String?,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        let database = request.database
        let refusal = endWaiting(request.id, request.standing, now)
        switch request.use {
        case .answer(let response):
            var answer = response
            if let refusal {
                if case .value = response { return refuse(request.id, refusal, &effects) }
            } else if let hash {
                answer = response.with(EntityTag(hash: hash))
            } else if case .value = response {
                answer = .refused(.busy)
            }
            // A write is done, with or without a tag to tell.
            database.emit(.respond(request.id, answer), &effects)
        case .condition(let put):
            if let refusal { return refuse(request.id, refusal, &effects) }
            guard let hash else {
                database.emit(.respond(request.id, .refused(.busy)), &effects)
                return
            }
            compared(put, request, EntityTag(hash: hash), now, &effects)
        }
    }

    /// Goes on with a put whose comparison was too long for the loop: anew when what was hashed is there no longer.
    private func compared(
        _ put: ConditionalPut,
        _ request: HashedRequest,
        _ tag: EntityTag,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        let database = request.database
        let isSame = database.node(at: put.target).isIdentical(to: request.node)
        if isSame || put.condition != tag {
            // Another tag is an answer whatever came later.
            finish(put, request.id, request.node, tag, database, now, &effects)
            return
        }
        if put.attempt >= Limits.comparisons {
            database.emit(.respond(request.id, .refused(.changing)), &effects)
            return
        }
        var again = put
        again.attempt += 1
        self.put(again, request.id, database, now, &effects)
    }
}

extension Database {
    /// What a target names at present: a node, or its priority.
    func node(at target: WriteTarget) -> Node {
        let node = root.descendant(at: target.path)
        return target.isPriority ? node.priority : node
    }

    /// Whether the rules allow a write, which is not done.
    func allows(
        _ write: Write,
        now: Timestamp,
        isPreliminary: Bool = false,
        _ effects: inout [Effect]
    ) -> Bool {
        if write.identity.isAdmin { return true }
        let time = commitTime(now)
        let (newRoot, _) = resolve(write.entries, at: time)
        let decision = judge(
            write,
            newRoot: newRoot,
            at: time,
            isPreliminary: isPreliminary,
            &effects
        )
        return decision?.isAllowed ?? true
    }
}

extension Response {
    /// Whether a tag belongs to it.
    fileprivate var takesTag: Bool {
        switch self {
        case .value, .written, .merged, .pushed: true
        case .mismatch, .streaming, .rules, .settings, .rulesHistory, .rulesPut, .rulesMismatch,
            .shadow, .done, .simulated, .mayProfile, .mayBackUp, .mayInspect, .coverage, .databases,
            .status, .permissionDenied, .notIndexed,
            .badCredential, .unknownDatabase, .refused:
            false
        }
    }

    fileprivate func with(_ tag: EntityTag) -> Response {
        switch self {
        case .value(let node, _): .value(node, tag)
        case .written(let node, _): .written(node, tag)
        case .merged(let entries, _): .merged(entries, tag)
        case .pushed(let key, _): .pushed(key, tag)
        case .mismatch, .streaming, .rules, .settings, .rulesHistory, .rulesPut, .rulesMismatch,
            .shadow, .done, .simulated, .mayProfile, .mayBackUp, .mayInspect, .coverage, .databases,
            .status, .permissionDenied, .notIndexed,
            .badCredential, .unknownDatabase, .refused:
            self
        }
    }
}

extension EntityTag {
    /// The tag of a node, which must be short to hash.
    init(_ node: Node) { self.init(hash: node.hash(.priority)) }
}
