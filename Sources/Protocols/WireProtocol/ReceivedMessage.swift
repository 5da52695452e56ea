package import JSONTree

/// One message from a server, as a client reads it from its JSON text.
///
///     {"t":"c","d":{"t":"h","d":{...}}}           control
///     {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}} reply
///     {"t":"d","d":{"a":"d","b":{"p":"a","d":1}}} push
///
/// Takes more than `ServerMessage` says: paths with and without a leading slash, arrays for maps,
/// members in any order, and actions that are not known.
package enum ReceivedMessage: Sendable {
    /// The first message of a session: the server's clock, where to connect from now on, the session's name.
    case hello(serverTime: Timestamp, host: String, session: String)
    /// Connect to this host instead.
    case reset(host: String)
    /// Close, and do not come back; the reason.
    case shutdown(String)
    /// The answer to a ping.
    case pong
    /// The answer to the request with this number.
    case reply(Int64, ReceivedReply)
    /// The new node (or priority) at a location.
    case put(WriteTarget, Node, tag: Int64?)
    /// The new nodes at these locations, relative to the root. May be empty.
    case merge(Path, [(target: WriteTarget, node: Node)], tag: Int64?)
    /// The leaves of these intervals, counted from the path, are now exactly those of their nodes.
    case rangeMerge(Path, [RangeMerge], tag: Int64?)
    /// These listens are no longer allowed.
    case cancel([ListenTarget])
    /// The credential is no longer valid: status and reason.
    case authRevoked(status: String, reason: String)
    /// A text for people.
    case securityDebug(String)
    /// Another message, which needs no action.
    case unknown
}

/// A reply, whose data is read once it is known what the request was.
package struct ReceivedReply: Sendable {
    /// `ok`, or why not.
    package let status: String

    /// The message that the data is part of; no copy.
    private let message: [UInt8]

    /// Where the data's JSON text lies in the message.
    private let data: Range<Int>?

    init(status: String, message: [UInt8], data: Range<Int>?) {
        self.status = status
        self.message = message
        self.data = data
    }

    /// Whether the request was carried out.
    package var isOK: Bool { status == "ok" }

    /// The data as a node, as a `get` is answered; absent when it is missing.
    ///
    /// Throws `MessageError` when it is not a node.
    package func node() throws(MessageError) -> Node {
        guard let data else { return .absent }
        return try MessageError.reading {
            () throws(ReadingStop) in
            try message.withBytes { (bytes) throws(ReadingStop) in
                var reader = MemberReader(bytes, data)
                return try reader.receivedNode()
            }
        }
    }

    /// The data as text; empty when it is none.
    package var text: String {
        guard let data else { return "" }
        return message.withBytes { bytes in
            var reader = MemberReader(bytes, data)
            do throws(ReadingStop) { return try reader.string() ?? "" } catch { return "" }
        }
    }

    /// The warnings in `{"w":["no_index"]}`, as a listen may be answered; none when the data is another.
    package var warnings: [String] {
        guard let data, data.count > 2 else { return [] }
        return message.withBytes { bytes in
            var reader = MemberReader(bytes, data)
            do throws(ReadingStop) { return try Self.warnings(&reader) } catch { return [] }
        }
    }

    private static func warnings(_ reader: inout MemberReader) throws(ReadingStop) -> [String] {
        var warnings: [String] = []
        guard try reader.enterObject() else { return [] }
        while let name = try reader.nextName() {
            guard name == "w", try reader.enterArray() else {
                _ = try reader.skip()
                continue
            }
            while try reader.nextElement() {
                if let warning = try reader.string() {
                    warnings.append(warning)
                } else {
                    _ = try reader.skip()
                }
            }
        }
        return warnings
    }
}

extension MessageError {
    /// Does a reading; why it stopped is the error.
    static func reading<T>(_ body: () throws(ReadingStop) -> T) throws(MessageError) -> T {
        do throws(ReadingStop) { return try body() } catch {
            switch error {
            case .json(let error): throw .notJSON(error)
            case .envelope(let error): throw error
            case .body: throw .wrongType(member: "b")
            }
        }
    }
}

extension MemberReader {
    /// Reads a value as servers send it, without server values.
    mutating func receivedNode() throws(ReadingStop) -> Node {
        let draft = try draft()
        guard draft.serverValues.isEmpty else { throw .envelope(.wrongType(member: "d")) }
        return draft.node
    }
}
