import EventProtocol
import JSONTree
import Queries
import WireProtocol

/// Who waits for an index, and is asked again when it is there.
enum Asker {
    case message(SessionMessage, Session)
    case request(Request, RequestID, Standing)
}

/// Indexes that are worked out away from the loop.
extension DatabaseEngine {
    /// Lets somebody wait for an index that is being built, or is begun now.
    func wait(
        for need: IndexNeed,
        in database: Database,
        _ asker: Asker,
        _ effects: inout [Effect]
    ) {
        guard let kept = database.indexes[need] else {
            preconditionFailure("who is told to wait has had the index made")
        }
        switch asker {
        case .message(_, let session): session.waiting = .index
        case .request(_, let id, let standing): beginWaiting(id, standing)
        }
        kept.askers.append(asker)
        if kept.snapshot == nil { build(kept, of: database, &effects) }
    }

    /// Has an index worked out from the present state of its node.
    func build(_ kept: KeptIndex, of database: Database, _ effects: inout [Effect]) {
        let node = database.root.descendant(at: kept.need.path)
        kept.snapshot = node
        kept.followCount = 0
        order(.index(kept.need.order, node), kept, of: database, &effects)
    }

    private func order(
        _ work: LongWork,
        _ kept: KeptIndex,
        of database: Database,
        _ effects: inout [Effect]
    ) {
        let inquiry = nextInquiry()
        inquiringIndexes[inquiry] = (database, kept)
        effects.append(.work(inquiry, work))
    }

    /// Takes in an index, or nil when it could not be worked out for want of room.
    func built(
        _ index: ChildIndex?,
        _ kept: KeptIndex,
        of database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        if let index {
            if let work = database.take(index, for: kept) {
                order(work, kept, of: database, &effects)
                return
            }
        } else {
            kept.snapshot = nil
        }
        kept.lastUsed = now
        askAgain(kept, of: database, now, &effects)
    }

    /// Asks some of those who waited for an index again; the others when their turn comes.
    func askAgain(
        _ kept: KeptIndex,
        of database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        for _ in 0..<Limits.messagesAtOnce {
            guard let asker = kept.askers.popFirst() else { break }
            ask(again: asker, isThere: kept.ready != nil, now, &effects)
        }
        if kept.askers.isEmpty {
            database.dropIfIdle(kept)
        } else {
            portions.append(.askers(database, kept))
        }
    }

    /// Drops indexes that nobody uses, and replaces those that have grown out of their form.
    func tendIndexes(_ now: Timestamp, _ effects: inout [Effect]) {
        for database in sortedDatabases where !database.indexes.isEmpty {
            database.dropIdleIndexes(now: now)
            let outgrown = database.indexes.values.filter {
                $0.ready?.wantsRebuild == true && $0.snapshot == nil
            }
            for kept in outgrown.sorted(by: { $0.need.path < $1.need.path }) {
                build(kept, of: database, &effects)
            }
        }
    }

    private func ask(
        again asker: Asker,
        isThere: Bool,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        switch asker {
        case .message(let message, let session):
            // A session that has ended meanwhile asks for nothing any more.
            guard sessions[session.connection] === session else { return }
            session.waiting = nil
            if isThere {
                receive(message, from: session.connection, now, &effects)
            } else {
                refuse(message, session, &effects)
            }
            receiveParked(session, now, &effects)
        case .request(let request, let id, let standing):
            guard goesOn(id, standing, now, &effects) else { return }
            if isThere {
                perform(request, id, as: standing, now, &effects)
            } else {
                effects.append(.respond(id, .refused(.busy)))
            }
        }
    }

    private func refuse(
        _ message: SessionMessage,
        _ session: Session,
        _ effects: inout [Effect]
    ) {
        let text = RequestRefusal.busy.text
        switch message {
        case .wire(.request(let request)):
            let body = ReplyBody.refused(.unavailable, text)
            session.database.reply(request.number, body, to: session, &effects)
        case .events(let request):
            let reply = EventReply.refused(.unavailable, text)
            session.database.reply(request.id, reply, to: session, &effects)
        case .wire:
            preconditionFailure("only a request needs an index")
        }
    }
}
