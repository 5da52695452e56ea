import JSONTree
import WireProtocol

extension FuzzTarget {
    /// Frames and pieces of long polling: a message is joined as it was cut, and nothing holds more than its limit.
    static let wireFrames = FuzzTarget(name: "wire-frames") { bytes in
        var input = FuzzInput(bytes)
        let limit = 1 + 16 * Int(input.byte())
        try checkAnyFrames(input, limit: limit)
        try checkOwnFrames(input.rest)
        try checkPolling(input)
        try checkAnyPolling(input, limit: limit)
    }

    /// Frames of any content, each behind its length.
    private static func checkAnyFrames(_ input: FuzzInput, limit: Int) throws {
        var input = input
        var assembler = FrameAssembler(byteLimit: limit, drainedByteCount: limit)
        while !input.isEmpty {
            let frame = input.bytes(Int(input.byte()))
            do {
                if case .message(let message) = try assembler.receive(frame) {
                    try checkSize(message.count, limit)
                }
            } catch is FrameError {
                try check(assembler.heldByteCount == 0, "it holds bytes behind an error")
            }
            try checkSize(assembler.heldByteCount, limit)
        }
    }

    private static func checkSize(_ count: Int, _ limit: Int) throws(BrokenProperty) {
        try check(count <= limit, "\(count) bytes pass a limit of \(limit)")
    }

    /// What a client cuts, the server joins; the text is repeated so that there are several segments.
    private static func checkOwnFrames(_ bytes: [UInt8]) throws {
        guard let scalar = String(validating: bytes, as: UTF8.self), !bytes.isEmpty else { return }
        let message = Array(
            (#"{"x":""# + String(repeating: scalar, count: 40_000 / bytes.count)).utf8
        )
        guard let frames = ClientMessage.frames(of: message) else { return }
        var assembler = FrameAssembler(byteLimit: message.count)
        for (index, frame) in frames.enumerated() {
            let isText = String(validating: frame, as: UTF8.self) != nil
            try check(isText && !frame.isEmpty, "segment \(index) is cut inside a character")
            try checkSize(frame.count, WireLimits.segmentByteCount)
            let joined = try assembler.receive(frame)
            let isLast = index == frames.count - 1
            try check(joined == (isLast ? .message(message) : .incomplete), "segment \(index)")
        }
    }

    /// A message in base64 that arrives in pieces, each two in the wrong order.
    private static func checkPolling(_ input: FuzzInput) throws {
        var input = input
        let lengths = input.lengths()
        let message = input.rest
        guard !message.isEmpty else { return }
        let cut = pieces(of: Array(Base64.encode(message, .url).utf8), lengths)
        var query: [(name: String, value: String)] = []
        for (index, text) in cut.enumerated() {
            query += [
                ("seg\(index)", "\(index ^ 1 < cut.count ? index ^ 1 : index)"),
                ("ts\(index)", "\(cut.count)"),
                ("d\(index)", shown(index ^ 1 < cut.count ? cut[index ^ 1] : text)),
            ]
        }
        var assembler = PieceAssembler(byteLimit: message.count)
        var joined: [PieceAssembler.Joined] = []
        for piece in try PollPiece.pieces(in: query) {
            // A browser may repeat a request.
            try assembler.receive(piece, into: &joined)
            try assembler.receive(piece, into: &joined)
        }
        try check(joined == [.message(message)], "pieces of \(lengths) are joined to \(joined)")
    }

    /// Pieces of any numbers and text, by lines.
    private static func checkAnyPolling(_ input: FuzzInput, limit: Int) throws {
        var query: [(name: String, value: String)] = []
        for line in shown(input.rest).split(separator: "&") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            query.append((String(parts[0]), String(parts.last ?? "")))
        }
        var assembler = PieceAssembler(byteLimit: limit, drainedByteCount: limit)
        var joined: [PieceAssembler.Joined] = []
        do throws(PollError) {
            for piece in try PollPiece.pieces(in: query) {
                try assembler.receive(piece, into: &joined)
            }
        } catch {
            // Refused; the connection ends.
        }
        for case .message(let message) in joined { try checkSize(message.count, limit) }
    }

    /// Messages of clients and of servers: what is understood is written and understood again as the same.
    static let wireMessages = FuzzTarget(name: "wire-messages") { text in
        try checkClient(text)
        try checkServer(text)
    }

    private static func checkClient(_ text: [UInt8]) throws {
        guard let request = request(text) else { return }
        switch request.action {
        case .malformed, .tooBig: return
        case .listen(_, _, let hash): try checkHash(hash)
        case .merge(let base, let entries, _), .onDisconnectMerge(let base, let entries):
            let isBelow = entries.allSatisfy { base.isPrefix(of: $0.target.path) }
            try check(isBelow, "a merge writes above its base")
        default: break
        }
        let written = request.encoded()
        guard let again = self.request(written) else {
            throw BrokenProperty(description: "read back it is no request: \(shown(written))")
        }
        if case .malformed(let why) = again.action {
            throw BrokenProperty(description: "read back: \(why) in \(shown(written))")
        }
        try check(again.encoded() == written, "it changes when read back: \(shown(written))")
    }

    private static func request(_ text: [UInt8]) -> ClientRequest? {
        do throws(MessageError) {
            if case .request(let request) = try ClientMessage.parse(text) { return request }
        } catch {
            // The connection is closed.
        }
        return nil
    }

    /// The parts that differ from an empty node and from some data: never a trap.
    private static func checkHash(_ hash: ListenHash?) throws {
        guard let hash else { return }
        for text in ["null", #"{"a":{"b":1,"c":[1,2]},"d":"x"}"#] {
            _ = hash.compare(with: try Node(json: text))
        }
    }

    private static func checkServer(_ text: [UInt8]) throws {
        do {
            switch try ReceivedMessage.parse(text) {
            case .reply(_, let reply):
                _ = (reply.isOK, reply.text, reply.warnings)
                let node = try reply.node()
                try check(Node(json: node.json()) == node, "the data changes when it is printed")
            case .rangeMerge(_, let merges, _):
                for merge in merges { _ = merge.node.hash() }
            default: break
            }
        } catch is MessageError {
            // The connection is closed.
        }
    }
}
