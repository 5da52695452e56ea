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
        case condition(RequestWrite)
    }
}

/// Tags of nodes, for answers and for writes that depend on them.
extension DatabaseEngine {
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

    func askHash(_ request: HashedRequest, _ effects: inout [Effect]) {
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
        case .condition(var asked):
            if let refusal { return refuse(request.id, refusal, &effects) }
            guard let hash else {
                database.emit(.respond(request.id, .refused(.busy)), &effects)
                return
            }
            asked.compared = ComparedNode(node: request.node, hash: hash)
            perform(asked, now, &effects)
        }
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
