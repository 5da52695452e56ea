import JSONTree

extension EventMessage {
    /// The message as JSON text.
    package func encoded() -> [UInt8] {
        var out: [UInt8] = []
        switch self {
        case .hello(let now, let session):
            precondition(!session.isEmpty, "a session has an identity")
            out.append(#"{"event":"hello","serverTime":"#)
            out.append(String(now.milliseconds))
            out.append(#","session":"#)
            appendJSONString(session, to: &out)
        case .reply(let id, let reply):
            Self.appendStart(id, reply, to: &out)
            Self.appendRest(reply, to: &out)
        case .authRevoked(let error):
            out.append(#"{"event":"authRevoked""#)
            error.append(to: &out)
        }
        out.append("}")
        return out
    }

    /// Appends the members that come before a value, up to and with its name.
    static func appendStart(_ id: Int64?, _ reply: EventReply, to out: inout [UInt8]) {
        out.append(#"{"id":"#)
        out.append(id.map { String($0) } ?? "null")
        switch reply {
        case .done, .authenticated, .observing, .written, .key, .pong:
            out.append(#","ok":true"#)
        case .value(_, let tag, _):
            out.append(#","ok":true"#)
            tag?.append(to: &out)
            out.append(#","value":"#)
        case .refused:
            out.append(#","ok":false"#)
        case .mismatch(_, let tag):
            out.append(#","ok":false"#)
            EventError.mismatch.append(to: &out)
            tag.append(to: &out)
            out.append(#","value":"#)
        }
    }

    private static func appendRest(_ reply: EventReply, to out: inout [UInt8]) {
        switch reply {
        case .done, .observing(nil): break
        case .authenticated(let uid):
            out.append(#","uid":"#)
            if let uid { appendJSONString(uid, to: &out) } else { out.append("null") }
        case .observing(let warning?):
            out.append(#","warning":""#)
            out.append(warning.rawValue)
            out.append("\"")
        case .written(let tag): tag?.append(to: &out)
        case .key(let key):
            out.append(#","key":"#)
            guard let key else { return out.append("null") }
            key.withBytes { appendJSONString($0, to: &out) }
        case .pong(let now):
            out.append(#","serverTime":"#)
            out.append(String(now.milliseconds))
        case .refused(let error): error.append(to: &out)
        case .value(let node, _, let form): node.appendJSON(to: &out, form)
        case .mismatch(let node, _): node.appendJSON(to: &out, .value)
        }
    }
}

extension EventError {
    /// The refusal of a write whose `ifMatch` is not the entity tag of the current data.
    package static let mismatch = EventError(.etagMismatch, "The data there has another etag.")

    /// Appends `,"error":"code","message":"text"`.
    fileprivate func append(to out: inout [UInt8]) {
        out.append(#","error":""#)
        out.append(code.rawValue)
        out.append(#"","message":"#)
        appendJSONString(message, to: &out)
    }
}

extension EntityTag {
    /// Appends `,"etag":"text"`.
    fileprivate func append(to out: inout [UInt8]) {
        out.append(#","etag":"#)
        appendJSONString(text, to: &out)
    }
}

extension [UInt8] {
    mutating func append(_ text: String) {
        append(contentsOf: text.utf8)
    }
}

extension EventMessage {
    /// Whether a message, as `encoded` makes it, is a reply to a request that was done; nil for no reply.
    package static func isReplyOK(_ text: [UInt8]) -> Bool? {
        guard text.starts(with: #"{"id":"#.utf8), let comma = text.firstIndex(of: UInt8(ascii: ","))
        else { return nil }
        return text[comma...].starts(with: #","ok":true"#.utf8)
    }
}
