import JSONTree
import WireProtocol

extension FuzzTarget {
    /// A JSON text as a node: what is printed of it reads back as the same node and prints the same.
    static let json = FuzzTarget(name: "json") { bytes in
        try checkStored(bytes)
        try checkAny(bytes)
    }

    private static func checkStored(_ text: [UInt8]) throws {
        guard let node = JSONOutcome.node(text) else { return }
        let printed = node.json(.export)
        let again = try Node(json: printed)
        try check(again == node, "the export reads back as another node: \(shown(printed))")
        try check(again.json(.export) == printed, "the export is not canonical: \(shown(printed))")
        try check(again.hash() == node.hash(), "equal nodes have two hashes: \(shown(printed))")
        let pretty = try Node(json: node.json(.export, .pretty()))
        try check(pretty == node, "the lines for people read back as another node")
        // As an app sees it there are no priorities, and lists may be arrays.
        let value = node.json(.value)
        try check(Node(json: value).json(.value) == value, "the value form: \(shown(value))")
        _ = node.json(.keys)
        try checkEncoding(node)
        try checkStream(node, printed)
    }

    /// The form of the log is canonical too.
    private static func checkEncoding(_ node: Node) throws {
        var encoded: [UInt8] = []
        node.appendEncoding(to: &encoded)
        try check(encoded.count == node.encodingByteCount, "the encoding has another length")
        let decoded = try encoded.withBytes { (bytes) throws(NodeDecodingError) in
            try Node(decoding: bytes)
        }
        try check(decoded == node, "the encoding decodes to another node")
        var again: [UInt8] = []
        decoded.appendEncoding(to: &again)
        try check(again == encoded, "the encoding is not canonical")
    }

    private static func checkStream(_ node: Node, _ printed: [UInt8]) throws {
        var stream = JSONStream(node, .export)
        var text: [UInt8] = []
        while stream.next(into: &text, atLeast: 1) {}
        try check(text == printed, "in pieces it prints as \(shown(text))")
    }

    /// Texts that are read and never stored, whose members have any name.
    private static func checkAny(_ text: [UInt8]) throws {
        let node: Node
        do throws(JSONError) { node = try Node.readingAnyJSON(text) } catch {
            try check((0...text.count).contains(error.offset), "a fault outside: \(error)")
            return
        }
        let printed = node.json(.export)
        let again = try Node.readingAnyJSON(printed)
        try check(again == node, "any JSON reads back as another node: \(shown(printed))")
    }

    /// A JSON text that comes in parts has the value, or the error, of the whole.
    static let jsonPieces = FuzzTarget(name: "json-pieces") { bytes in
        var input = FuzzInput(bytes)
        let window = 1 + Int(input.byte())
        let lengths = input.lengths()
        let parts = pieces(of: input.rest, lengths)
        let whole = JSONOutcome.whole(input.rest)
        let assembled = JSONOutcome.assembled(parts, window: window)
        try check(assembled == whole, "in parts it is \(assembled), and whole \(whole)")
        if input.rest.first == UInt8(ascii: "{") {
            let update = UpdateOutcome.whole(input.rest)
            let assembled = UpdateOutcome.assembled(parts, window: window)
            try check(
                assembled == update,
                "in parts the update is \(assembled), and whole \(update)"
            )
        }
        guard case .draft(let draft) = whole else { return }
        let now = Timestamp(milliseconds: 1_000)
        let expected = draft.resolved(existing: .absent, now: now)
        let written = try JSONOutcome.written(parts, byteCount: window, now: now)
        try check(written == expected, "the writes of its pieces leave another tree")
    }
}

/// What reading a text came to.
private enum JSONOutcome: Equatable {
    case draft(Draft)
    case refused(JSONError, line: Int, column: Int)

    /// The node of a text that can be stored and holds no server value.
    static func node(_ text: [UInt8]) -> Node? {
        do throws(JSONError) { return try Node(json: text) } catch { return nil }
    }

    static func whole(_ text: [UInt8]) -> JSONOutcome {
        do throws(JSONError) {
            return .draft(try Draft(json: text))
        } catch {
            let (line, column) = text.withBytes { error.lineAndColumn(in: $0) }
            return .refused(error, line: line, column: column)
        }
    }

    static func assembled(_ parts: [[UInt8]], window: Int) -> JSONOutcome {
        var assembly = JSONAssembly(windowByteCount: window)
        do throws(JSONError) {
            for part in parts { try assembly.append(part) }
            return .draft(try assembly.finish())
        } catch {
            let place = assembly.faultPosition ?? (0, 0)
            return .refused(error, line: place.line, column: place.column)
        }
    }

    /// The tree that the writes make, one after the other.
    static func written(_ parts: [[UInt8]], byteCount: Int, now: Timestamp) throws -> Node {
        var cutter = JSONPieces(byteCount: byteCount)
        var root = Node.absent
        for part in parts {
            cutter.append(part)
            while let piece = try cutter.next() { try root.apply(piece, now) }
        }
        cutter.end()
        while let piece = try cutter.next() { try root.apply(piece, now) }
        return root
    }
}

/// What reading a text as an update, as a PATCH carries it, came to.
private enum UpdateOutcome: Equatable {
    case entries([WriteTarget], [Draft])
    case refused(MergeError)

    init(_ entries: [MergeEntry]) {
        self = .entries(entries.map(\.target), entries.map(\.draft))
    }

    static func whole(_ text: [UInt8]) -> UpdateOutcome {
        do throws(MergeError) {
            return UpdateOutcome(try MergeEntry.parse(text, base: .root))
        } catch {
            return .refused(error)
        }
    }

    static func assembled(_ parts: [[UInt8]], window: Int) -> UpdateOutcome {
        var assembly = JSONAssembly(windowByteCount: window, isUpdate: true)
        let members: [(path: String, draft: Draft)]
        do throws(JSONError) {
            for part in parts { try assembly.append(part) }
            members = try assembly.finishUpdate()
        } catch {
            return .refused(.value(error))
        }
        do throws(WriteFault) {
            return UpdateOutcome(try MergeEntry.ofMembers(members, base: .root))
        } catch {
            return .refused(.target(error))
        }
    }
}

extension Node {
    fileprivate mutating func apply(_ piece: JSONPieces.Piece, _ now: Timestamp) throws {
        if piece.isWhole {
            let value = try Draft(json: piece.json).resolved(existing: .absent, now: now)
            if piece.target.isPriority {
                setPriority(value, at: piece.target.path)
            } else {
                set(value, at: piece.target.path)
            }
            return
        }
        let members = try piece.json.withBytes { bytes in
            var scanner = JSONScanner(bytes)
            var members: [(Key, Draft)] = []
            try scanner.enterObject()
            while let name = try scanner.nextMember() {
                members.append((try Key(name), try scanner.readDraft()))
            }
            try scanner.expectEnd()
            return members
        }
        for (key, draft) in members {
            let child = draft.resolved(existing: .absent, now: now)
            set(child, at: piece.target.path.appending(key))
        }
    }
}
