import EventProtocol
import JSONTree
import Queries
import WireProtocol

/// What is worked out away from the loop, and goes on here.
extension DatabaseEngine {
    /// Asks for the hash of a large node; the connection's later messages wait for it.
    func askHash(
        of node: Node,
        _ use: Session.HashUse,
        _ session: Session,
        _ effects: inout [Effect]
    ) {
        let inquiry = nextInquiry()
        session.waiting = .hash(inquiry, node, use)
        inquiringSessions[inquiry] = session
        var asked: String?
        if case .write(let asking) = use, case .hash(let hash) = asking.write.condition {
            asked = hash
        }
        effects.append(.work(inquiry, .hash(node, like: asked)))
    }

    /// Goes on with what waited for long work.
    func worked(
        _ inquiry: InquiryID,
        _ result: LongResult,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        if let (database, kept) = inquiringIndexes.removeValue(forKey: inquiry) {
            var index: ChildIndex?
            if case .index(let built) = result { index = built }
            built(index, kept, of: database, now, &effects)
            return
        }
        if let request = inquiringHashes.removeValue(forKey: inquiry) {
            var hash: String?
            if case .hash(let found) = result { hash = found }
            hashed(request, hash, now, &effects)
            return
        }
        if let waiting = inquiringSimulations.removeValue(forKey: inquiry) {
            guard goesOn(waiting.id, waiting.standing, now, &effects) else { return }
            var response = Response.refused(.busy)
            if case .simulated(let answer) = result { response = .simulated(answer) }
            waiting.database.emit(.respond(waiting.id, response), &effects)
            return
        }
        if let request = inquiringLabels.removeValue(forKey: inquiry) {
            guard goesOn(request.id, request.standing, now, &effects) else { return }
            loaded(result, for: request, now, &effects)
            return
        }
        if let asked = inquiringWrites.removeValue(forKey: inquiry) {
            var decision: DecidedWrite?
            if case .decided(let found) = result { decision = found }
            decided(asked, decision, now, &effects)
            return
        }
        guard let session = inquiringSessions.removeValue(forKey: inquiry) else { return }
        if case .decision(inquiry, let asked) = session.waiting {
            session.waiting = nil
            var decision: DecidedWrite?
            if case .decided(let found) = result { decision = found }
            decided(asked, decision, session, now, &effects)
            receiveParked(session, now, &effects)
            return
        }
        if case .comparison(inquiry, let listen) = session.waiting {
            session.waiting = nil
            var comparison = ListenComparison.different
            if case .compared(let found) = result { comparison = found }
            compared(listen, comparison, session, now, &effects)
            receiveParked(session, now, &effects)
            return
        }
        guard case .hash(inquiry, let node, let use) = session.waiting else { return }
        session.waiting = nil
        var hash: String?
        if case .hash(let found) = result { hash = found }
        hashed(node, hash, use, session, now, &effects)
        receiveParked(session, now, &effects)
    }

    /// The hash of a large node is there; nil when too much waited for it to be worked out.
    private func hashed(
        _ node: Node,
        _ hash: String?,
        _ use: Session.HashUse,
        _ session: Session,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        switch use {
        case .write(let asked):
            compared(asked, node, hash, session, now, &effects)
        case .tag(let get):
            let reply =
                hash.map { found(node, EntityTag(hash: $0), by: get, session, now) }
                ?? .refused(.unavailable, RequestRefusal.busy.text)
            session.database.reply(get.request, reply, to: session, &effects)
        }
    }

    /// What a get found, unless its session has meanwhile become somebody who may not read it.
    private func found(
        _ node: Node,
        _ tag: EntityTag,
        by get: Session.TaggedGet,
        _ session: Session,
        _ now: Timestamp
    ) -> EventReply {
        let isTheSame = session.identity == get.reader
        guard isTheSame || session.database.mayRead(get.path, as: session.identity, now) else {
            counts.refusedReads += 1
            return .denied
        }
        return .value(node, tag, isExport: get.isExport)
    }
}
