package import JSONTree

/// One event of an event stream (server-sent events), as the REST API names and shapes them.
///
///     event: put
///     data: {"path":"/a","data":{"b":1}}
///     (an empty line)
///
/// Lines end with LF, and data is one line: JSON text has no line break outside its escapes.
///
/// Source: Firebase Realtime Database, "Streaming from the REST API".
package enum ServerSentEvent: Sendable {
    /// The value at a path, relative to the streamed location, is now this.
    case put(Path, Node)
    /// The new values at these paths, relative to `at`; everything else below it stays. Not empty.
    case patch(at: Path, [(path: Path, node: Node)])
    /// Nothing happened; the connection is alive.
    case keepAlive
    /// The rules no longer allow the read; the stream ends.
    case cancel
    /// The credential does not count any more; the stream ends.
    case authRevoked

    /// The event as text, its empty line included.
    package func encoded(_ form: Node.JSONForm) -> [UInt8] {
        var text: [UInt8] = []
        var stream = TextStream(pieces, form)
        while stream.next(into: &text, atLeast: 64 * 1024) {}
        return text
    }

    /// What the text is made of.
    var pieces: [TextStream.Piece] {
        switch self {
        case .put(let path, let node):
            [.text(Self.start("put", path)), .node(node), .text(Array("}\n\n".utf8))]
        case .patch(let base, let entries): Self.pieces(ofPatch: entries, at: base)
        case .keepAlive: [.text(Array("event: keep-alive\ndata: null\n\n".utf8))]
        case .cancel: [.text(Array("event: cancel\ndata: null\n\n".utf8))]
        case .authRevoked:
            // Bare words, not a JSON string: clients compare the raw text.
            [.text(Array("event: auth_revoked\ndata: credential is no longer valid\n\n".utf8))]
        }
    }

    private static func pieces(
        ofPatch entries: [(path: Path, node: Node)],
        at base: Path
    ) -> [TextStream.Piece] {
        precondition(!entries.isEmpty, "a patch says something")
        var pieces: [TextStream.Piece] = []
        var text = start("patch", base)
        var separator = "{"
        for (path, node) in entries {
            text.append(contentsOf: separator.utf8)
            appendJSONString(path.wireText, to: &text)
            text.append(UInt8(ascii: ":"))
            pieces += [.text(text), .node(node)]
            text.removeAll()
            separator = ","
        }
        return pieces + [.text(Array("}}\n\n".utf8))]
    }

    /// Everything before the value: `event: put`, `data: {"path":"/a","data":`.
    private static func start(_ name: String, _ path: Path) -> [UInt8] {
        var text = Array("event: \(name)\ndata: {\"path\":".utf8)
        appendJSONString(path.description, to: &text)
        text.append(contentsOf: ",\"data\":".utf8)
        return text
    }
}

/// The text of an event with large values, made piece by piece from their snapshots.
///
/// Nothing need know its length before it begins; a server that limits it measures a copy first.
package typealias StreamedServerSentEvent = TextStream

extension TextStream {
    /// Takes the snapshots of an event; nothing is written yet.
    package init(_ event: ServerSentEvent, _ form: Node.JSONForm) { self.init(event.pieces, form) }
}
