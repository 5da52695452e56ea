import WireProtocol

/// Who asks, and gets the answer.
enum Asker {
    /// A session; the answer repeats the number of its request.
    case session(Session, number: Int64)
    case single(SingleRequest)

    var database: Database {
        switch self {
        case .session(let session, _): session.database
        case .single(let asked): asked.database
        }
    }

    var identity: Identity {
        switch self {
        case .session(let session, _): session.identity
        case .single(let asked): asked.principal.identity
        }
    }

    /// How long, and for what, its credential counts.
    var term: CredentialTerm {
        switch self {
        case .session(let session, _): session.term
        case .single(let asked): asked.principal.term
        }
    }

    /// The session that asks; nil for a single request.
    var session: Session? {
        if case .session(let session, _) = self { session } else { nil }
    }

    /// The session that asks for what only sessions ask for.
    var ownSession: Session {
        guard let session else {
            preconditionFailure("a single request decodes to nothing that takes a session")
        }
        return session
    }

    /// The single request, for what only single requests ask for.
    var singleRequest: SingleRequest {
        guard case .single(let asked) = self else {
            preconditionFailure("no message of a session decodes to what single requests ask for")
        }
        return asked
    }

    /// Who asks the rules.
    func requester(_ operation: DecisionRecord.Operation) -> Requester {
        switch self {
        case .session(let session, _):
            return Requester(session, operation)
        case .single(let asked):
            let source = operation == .listen ? Requester.Source.stream : Requester.Source.request
            return Requester(asked.principal.identity, source(asked.id), operation)
        }
    }
}

/// A request that is not part of a session.
struct SingleRequest {
    let id: RequestID
    let database: Database
    let principal: Principal
    /// How much a write may touch; nil stands for what the settings of the database say.
    let sizeLimit: WriteSizeLimit?
}
