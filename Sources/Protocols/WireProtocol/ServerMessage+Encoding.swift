import JSONTree

extension ServerMessage {
    /// The message as one JSON text without white space.
    ///
    ///     {"t":"c","d":{"t":"h","d":{...}}}          control
    ///     {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}} reply
    ///     {"t":"d","d":{"a":"d","b":{"p":"a","d":1}}} push
    ///
    /// It always starts with `{`, so it can never be taken for a segment count.
    package func encoded() -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(256)
        switch self {
        case .hello(let now, let host, let session):
            precondition(!session.isEmpty, "a session has an identity")
            Self.control("h", to: &out)
            out.append(#"{"ts":"#, now.milliseconds, #","v":"5","h":"#)
            appendJSONString(host, to: &out)
            out.append(#","s":"#)
            appendJSONString(session, to: &out)
            out.append("}}}")
        case .pong: Self.control("o", to: &out, argument: "{}")
        case .upgradeAck: Self.control("a", to: &out, argument: "{}")
        case .endOfTransmission: Self.control("n", to: &out, argument: "{}")
        case .shutdown(let reason): Self.control("s", to: &out, text: reason)
        case .reset(let host): Self.control("r", to: &out, text: host)
        case .reply(let number, let body): Self.reply(number, body, to: &out)
        case .put(let target, let node, let tag):
            Self.putPrefix(target, to: &out)
            node.appendJSON(to: &out, .export)
            Self.pushSuffix(tag, to: &out)
        case .merge(let base, let children, let tag):
            Self.merge(base, children, tag, to: &out)
        case .rangeMerge(let path, let merges, let tag):
            var text = TextStream(Self.pieces(of: merges, at: path, tag: tag))
            while text.next(into: &out, atLeast: 64 * 1024) {}
        case .cancel(let target): Self.cancel(target, to: &out)
        case .authRevoked(let status, let reason):
            Self.push("ac", to: &out)
            Self.statusBody(status, to: &out)
            appendJSONString(reason, to: &out)
            out.append("}}}")
        case .securityDebug(let text):
            Self.push("sd", to: &out)
            out.append(#"{"msg":"#)
            appendJSONString(text, to: &out)
            out.append("}}}")
        }
        return out
    }

    /// The text before the number of a listen tag, for messages that differ only by that tag.
    ///
    /// For a `put` or `merge` without a listen tag; the number and `textAfterTag` follow.
    package func textBeforeTag() -> [UInt8] {
        var text = encoded()
        text.removeLast(Self.textAfterTag.count)
        text.append(contentsOf: Array(#","t":"#.utf8))
        return text
    }

    /// What follows the number of a tag.
    package static let textAfterTag = Array("}}}".utf8)

    /// The text before the value of a put: `{"t":"d","d":{"a":"d","b":{"p":"a","d":`.
    static func putPrefix(_ target: WriteTarget, to out: inout [UInt8]) {
        push("d", to: &out)
        appendPath(target, to: &out)
    }

    /// The text behind the value of a put or merge: `,"t":1}}}` or `}}}`.
    static func pushSuffix(_ tag: Int64?, to out: inout [UInt8]) {
        if let tag { out.append(#","t":"#, tag) }
        out.append("}}}")
    }

    /// The text before the data of a successful reply.
    static func replyPrefix(_ number: Int64, to out: inout [UInt8]) {
        out.append(#"{"t":"d","d":{"r":"#, number, #","b":{"s":"ok","d":"#)
    }

    /// The text of a range merge: `{"t":"d","d":{"a":"rm","b":{"p":"a","d":[{"s":"b","e":"c","m":…}]}}}`.
    static func pieces(of merges: [RangeMerge], at path: Path, tag: Int64?) -> [TextStream.Piece] {
        precondition(!merges.isEmpty, "clients drop a range merge without ranges")
        var pieces: [TextStream.Piece] = []
        var text: [UInt8] = []
        push("rm", to: &text)
        appendPath(WriteTarget(path: path), to: &text)
        var separator = "[{"
        for merge in merges {
            text.append(separator)
            if let start = merge.interval.start { append(#""s":"#, start, to: &text) }
            if let end = merge.interval.end { append(#""e":"#, end, to: &text) }
            text.append(#""m":"#)
            pieces += [.text(text), .node(merge.node)]
            text.removeAll()
            separator = "},{"
        }
        text.append("}]")
        pushSuffix(tag, to: &text)
        return pieces + [.text(text)]
    }

    /// A bound of a range; the root is `/`, as clients spell it.
    private static func append(_ name: String, _ bound: WriteTarget, to out: inout [UInt8]) {
        out.append(name)
        if bound.path.isRoot && !bound.isPriority {
            appendJSONString("/", to: &out)
        } else {
            append(bound, to: &out)
        }
        out.append(",")
    }

    private static func reply(_ number: Int64, _ body: ReplyBody, to out: inout [UInt8]) {
        if case .refused(let status, let text) = body {
            precondition(status != .ok, "a refusal has a status of its own")
            out.append(#"{"t":"d","d":{"r":"#, number, #","b":"#)
            statusBody(status, to: &out)
            appendJSONString(text, to: &out)
        } else {
            replyPrefix(number, to: &out)
            appendData(of: body, to: &out)
        }
        out.append("}}}")
    }

    private static func appendData(of body: ReplyBody, to out: inout [UInt8]) {
        switch body {
        case .ok: out.append(#""""#)
        case .text(let text), .refused(_, let text): appendJSONString(text, to: &out)
        case .value(let node): node.appendJSON(to: &out, .export)
        case .json(let text): out.append(contentsOf: text)
        case .listening(let warnings) where warnings.isEmpty: out.append("{}")
        case .listening(let warnings):
            out.append(#"{"w":["#)
            for (index, warning) in warnings.enumerated() {
                if index > 0 { out.append(",") }
                appendJSONString(warning, to: &out)
            }
            out.append("]}")
        case .authenticated(let claims):
            out.append(#"{"auth":"#)
            if let claims, claims.isAbsent {
                out.append("{}")
            } else {
                (claims ?? .absent).appendJSON(to: &out, .export)
            }
            out.append("}")
        }
    }

    private static func merge(
        _ base: Path,
        _ children: [(target: WriteTarget, node: Node)],
        _ tag: Int64?,
        to out: inout [UInt8],
    ) {
        precondition(!children.isEmpty, "clients drop a merge without members")
        push("m", to: &out)
        appendPath(WriteTarget(path: base), to: &out)
        var separator = "{"
        for (target, node) in children {
            let isBelow = target.isPriority || !target.path.isRoot
            precondition(isBelow, "a merge names locations below its base")
            out.append(separator)
            append(target, to: &out)
            out.append(":")
            node.appendJSON(to: &out, .export)
            separator = ","
        }
        out.append("}")
        pushSuffix(tag, to: &out)
    }

    private static func cancel(_ target: ListenTarget, to out: inout [UInt8]) {
        push("c", to: &out)
        out.append(#"{"p":"#)
        append(WriteTarget(path: target.path), to: &out)
        if let query = target.queryText {
            out.append(#","q":["#)
            out.append(contentsOf: query)
            out.append("]")
        }
        out.append("}}}")
    }

    private static func control(
        _ command: String,
        to out: inout [UInt8],
        argument: String? = nil,
        text: String? = nil,
    ) {
        out.append(#"{"t":"c","d":{"t":""#)
        out.append(command)
        out.append(#"","d":"#)
        if let text { appendJSONString(text, to: &out) }
        if let argument { out.append(argument) }
        if text != nil || argument != nil { out.append("}}") }
    }

    private static func push(_ action: String, to out: inout [UInt8]) {
        out.append(#"{"t":"d","d":{"a":""#)
        out.append(action)
        out.append(#"","b":"#)
    }

    private static func appendPath(_ target: WriteTarget, to out: inout [UInt8]) {
        out.append(#"{"p":"#)
        append(target, to: &out)
        out.append(#","d":"#)
    }

    private static func append(_ target: WriteTarget, to out: inout [UInt8]) {
        var text: [UInt8] = []
        text.reserveCapacity(target.path.wireByteCount)
        target.appendWireText(to: &text)
        text.withBytes { appendJSONString($0, to: &out) }
    }

    private static func statusBody(_ status: Status, to out: inout [UInt8]) {
        out.append(#"{"s":""#)
        out.append(status.rawValue)
        out.append(#"","d":"#)
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ text: String) {
        append(contentsOf: text.utf8)
    }

    fileprivate mutating func append(_ before: String, _ number: Int64, _ after: String = "") {
        append(before)
        append(String(number))
        append(after)
    }
}
