import JSONTree

extension ClientMessage {
    /// The text that requests a pong from the server.
    package static let pingText = Array(#"{"t":"c","d":{"t":"p","d":{}}}"#.utf8)

    /// The frame that says that the client is still there; nothing is due for it.
    package static let keepAliveFrame = [UInt8(ascii: "0")]

    /// The frames that carry a message, in order.
    ///
    /// - Parameter message: a whole message in valid UTF-8, not empty.
    /// - Returns: nil when the message is too long to be sent at all.
    package static func frames(of message: [UInt8]) -> [[UInt8]]? {
        guard let ranges = Segments.frames(of: message) else { return nil }
        if ranges.count == 1 { return [message] }
        return [Segments.countFrame(ranges.count)] + ranges.map { Array(message[$0]) }
    }
}

extension ClientRequest {
    /// The request as one JSON text without white space, which `ClientMessage.parse` reads back.
    ///
    ///     {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","h":""}}}
    ///
    /// Of an action that is not one of a client's there is no text: `malformed` is only ever received.
    package func encoded() -> [UInt8] {
        Self.encoded(number: number, name: action.name) { out in action.appendBody(to: &out) }
    }

    /// The text of a request that counts one use of the client that calls itself `agent`.
    package static func encodedStats(number: Int64, agent: String) -> [UInt8] {
        encoded(number: number, name: "s") { out in
            out.append(text: #"{"c":{"#)
            appendJSONString(agent, to: &out)
            out.append(text: ":1}}")
        }
    }

    private static func encoded(
        number: Int64,
        name: String,
        body: (inout [UInt8]) -> Void,
    ) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(256)
        out.append(text: #"{"t":"d","d":{"r":"#)
        out.append(text: String(number))
        out.append(text: #","a":"#)
        appendJSONString(name, to: &out)
        out.append(text: #","b":"#)
        body(&out)
        out.append(text: "}}")
        return out
    }
}

extension ClientRequest.Action {
    /// The action's word on the wire.
    fileprivate var name: String {
        switch self {
        case .stats: "s"
        case .auth: "auth"
        case .gauth: "gauth"
        case .unauth: "unauth"
        case .appCheck: "appcheck"
        case .unAppCheck: "unappeck"
        case .listen: "q"
        case .unlisten: "n"
        case .get: "g"
        case .put: "p"
        case .merge: "m"
        case .onDisconnectPut: "o"
        case .onDisconnectMerge: "om"
        case .onDisconnectCancel: "oc"
        case .echo: "echo"
        case .unknown(let name): name
        case .malformed, .tooBig: preconditionFailure("such a request is only ever received")
        }
    }

    fileprivate func appendBody(to out: inout [UInt8]) {
        switch self {
        case .stats: out.append(text: #"{"c":{}}"#)
        case .auth(let credential), .gauth(let credential): credential.appendBody(to: &out)
        case .listen(let target, let tag, let hash): target.appendBody(tag, hash, to: &out)
        case .unlisten(let target, let tag): target.appendBody(tag, nil, to: &out)
        case .get(let target): target.appendBodyOfGet(to: &out)
        case .put(let target, let draft, let hash):
            draft.appendBody(target, hash: hash, to: &out)
        case .onDisconnectPut(let target, let draft):
            draft.appendBody(target, hash: nil, to: &out)
        case .merge(let base, let entries, let hash):
            MergeEntry.appendBody(entries, base: base, hash: hash, to: &out)
        case .onDisconnectMerge(let base, let entries):
            MergeEntry.appendBody(entries, base: base, hash: nil, to: &out)
        case .onDisconnectCancel(let target):
            appendPath(target, to: &out)
            out.append(text: #","d":null}"#)
        case .echo(let text):
            out.append(text: #"{"d":"#)
            out.append(contentsOf: text)
            out.append(text: "}")
        case .unauth, .appCheck, .unAppCheck, .unknown, .malformed, .tooBig: out.append(text: "{}")
        }
    }
}

extension Credential {
    fileprivate func appendBody(to out: inout [UInt8]) {
        out.append(text: #"{"cred":"#)
        appendJSONString(token, to: &out)
        switch override {
        case nil: break
        case .nobody: out.append(text: #","noauth":true"#)
        case .value(let variable):
            out.append(text: #","authvar":"#)
            if variable.isAbsent {
                out.append(text: "{}")
            } else {
                variable.appendJSON(to: &out, .export)
            }
        }
        out.append(text: "}")
    }
}

extension ListenTarget {
    fileprivate func appendBody(_ tag: Int64?, _ hash: ListenHash?, to out: inout [UInt8]) {
        appendPath(WriteTarget(path: path), to: &out)
        if let queryText {
            out.append(text: #","q":"#)
            out.append(contentsOf: queryText)
        }
        if let tag {
            out.append(text: #","t":"#)
            out.append(text: String(tag))
        }
        if let hash { Self.append(hash, to: &out) }
        out.append(text: "}")
    }

    /// A read names its query even when it is the plain one.
    fileprivate func appendBodyOfGet(to out: inout [UInt8]) {
        appendPath(WriteTarget(path: path), to: &out)
        out.append(text: #","q":"#)
        out.append(contentsOf: queryText ?? Array("{}".utf8))
        out.append(text: "}")
    }

    private static func append(_ hash: ListenHash, to out: inout [UInt8]) {
        appendMember("h", hash.hash, to: &out)
        guard let compound = hash.compound else { return }
        out.append(text: #","ch":{"hs":["#)
        for hash in compound.hashes {
            appendJSONString(hash, to: &out)
            out.append(text: ",")
        }
        out.append(text: "\"\"],\"ps\":[")
        for (index, end) in compound.ends.enumerated() {
            if index > 0 { out.append(text: ",") }
            let isRoot = end.path.isRoot && !end.isPriority
            appendJSONString(isRoot ? "/" : end.wireText, to: &out)
        }
        out.append(text: "]}")
    }
}

extension Draft {
    fileprivate func appendBody(_ target: WriteTarget, hash: String?, to out: inout [UInt8]) {
        appendPath(target, to: &out)
        out.append(text: #","d":"#)
        appendJSON(to: &out)
        if let hash { appendMember("h", hash, to: &out) }
        out.append(text: "}")
    }
}

extension MergeEntry {
    fileprivate static func appendBody(
        _ entries: [MergeEntry],
        base: Path,
        hash: String?,
        to out: inout [UInt8],
    ) {
        appendPath(WriteTarget(path: base), to: &out)
        out.append(text: #","d":{"#)
        for (index, entry) in entries.enumerated() {
            precondition(base.isPrefix(of: entry.target.path), "a merge writes below its base")
            let relative = WriteTarget(
                path: entry.target.path.dropFirst(base.keyCount),
                isPriority: entry.target.isPriority
            )
            if index > 0 { out.append(text: ",") }
            appendJSONString(relative.wireText, to: &out)
            out.append(text: ":")
            entry.draft.appendJSON(to: &out)
        }
        out.append(text: "}")
        if let hash { appendMember("h", hash, to: &out) }
        out.append(text: "}")
    }
}

/// Appends `{"p":"/a/b"`.
private func appendPath(_ target: WriteTarget, to out: inout [UInt8]) {
    var text: [UInt8] = []
    text.reserveCapacity(target.path.wireByteCount + 16)
    text.append(UInt8(ascii: "/"))
    target.appendWireText(to: &text)
    out.append(text: #"{"p":"#)
    text.withBytes { appendJSONString($0, to: &out) }
}

/// Appends `,"name":"value"`.
private func appendMember(_ name: String, _ value: String, to out: inout [UInt8]) {
    out.append(text: ",\"")
    out.append(text: name)
    out.append(text: "\":")
    appendJSONString(value, to: &out)
}

extension [UInt8] {
    /// Appends the UTF-8 of a text.
    mutating func append(text: String) {
        append(contentsOf: text.utf8)
    }
}
