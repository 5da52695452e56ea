import Transport

extension FuzzTarget {
    /// The head of a request: its end is found however it arrives, and its headers are those of a plain reading.
    static let httpHeads = FuzzTarget(name: "http-heads") { bytes in
        var input = FuzzInput(bytes)
        let lengths = input.lengths()
        let end = headEnd(input.rest, lengths)
        let whole = headEnd(input.rest, [max(1, input.rest.count)])
        try check(end == whole, "cut \(lengths) it ends at \(end), and whole at \(whole)")
        guard case .found(let count) = whole else { return }
        let head = Array(input.rest[..<count])
        do {
            let parts = try RequestHeadParser.parse(head, limits: TransportConfiguration().limits)
            let endpoint = Endpoint(address: "192.0.2.1", port: 1, network: 1)
            try checkHead(RequestHead(parts, peer: endpoint, isTLS: false), head)
        } catch is RequestFault {
            // Refused; every fault has its answer.
        }
    }

    private enum HeadEnd: Equatable {
        case open
        case found(Int)
        case refused(RequestFault)
    }

    private static func headEnd(_ bytes: [UInt8], _ lengths: [Int]) -> HeadEnd {
        var inbox: [UInt8] = []
        for piece in pieces(of: bytes, lengths) {
            let scanned = inbox.count
            inbox += piece
            do throws(RequestFault) {
                let end = try RequestHeadParser.findEnd(of: inbox, start: 0, from: scanned)
                if let end { return .found(end) }
            } catch {
                return .refused(error)
            }
        }
        return .open
    }

    /// What a line-by-line reading of the text says.
    private static func checkHead(_ head: RequestHead, _ bytes: [UInt8]) throws {
        let lines = bytes.split(separator: 0x0a).map { $0.dropLast() }
        let begin = "\(head.method) \(head.rawTarget) HTTP/1."
        try check(lines[0].starts(with: begin.utf8), "another line: \(begin)")
        var fields: [(name: String, value: String)] = []
        for line in lines.dropFirst() where !line.isEmpty {
            let colon = line.firstIndex(of: UInt8(ascii: ":"))
            guard let colon, colon > line.startIndex else {
                throw BrokenProperty(description: "no header: \(shown(Array(line)))")
            }
            var value = line[(colon + 1)...]
            while let byte = value.first, byte == 0x20 || byte == 0x09 { value.removeFirst() }
            while let byte = value.last, byte == 0x20 || byte == 0x09 { value.removeLast() }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            fields.append((name, String(decoding: value, as: UTF8.self)))
        }
        for (name, _) in fields {
            let first = fields.first { $0.name == name }?.value
            try check(
                head.header(name) == first,
                "the header \(name) is \(head.header(name) ?? "")"
            )
        }
        let lengths = fields.filter { $0.name == "content-length" }
        let codings = fields.filter { $0.name == "transfer-encoding" }
        switch head.framing {
        case .none:
            try check(codings.isEmpty && lengths.allSatisfy { Int($0.value) == 0 }, "no body")
        case .length(let count):
            try check(codings.isEmpty && lengths.map(\.value).map(Int.init) == [count], "\(count)")
        case .chunked: try check(lengths.isEmpty && codings.count == 1, "chunked")
        }
    }

    /// A chunked body: cut anywhere it decodes as whole, and as a plain reading says.
    static let httpBodies = FuzzTarget(name: "http-bodies") { bytes in
        var input = FuzzInput(bytes)
        let lengths = input.lengths()
        let limit = 64 * Int(input.byte())
        let parts = BodyOutcome(pieces(of: input.rest, lengths), limit: limit)
        let whole = BodyOutcome([input.rest], limit: limit)
        try check(parts == whole, "cut \(lengths) it is \(parts), and whole \(whole)")
        try check(whole.body.count <= limit, "\(whole.body.count) bytes pass a limit of \(limit)")
        guard whole.isDone else { return }
        try check(plainBody(input.rest) == whole.body, "it is another body than by lines")
    }

    /// The data of a body that is known to be well formed.
    private static func plainBody(_ bytes: [UInt8]) -> [UInt8] {
        var (body, left): ([UInt8], ArraySlice<UInt8>) = ([], bytes[...])
        while let end = left.firstIndex(of: 0x0d) {
            let size = Int(String(decoding: left[..<end], as: UTF8.self), radix: 16) ?? 0
            if size == 0 { break }
            body += left[(end + 2)...].prefix(size)
            left = left[(end + 2)...].dropFirst(size + 2)
        }
        return body
    }

    /// Frames of a WebSocket: cut anywhere they are the same events.
    static let webSocketFrames = FuzzTarget(name: "web-socket-frames") { bytes in
        var input = FuzzInput(bytes)
        let lengths = input.lengths()
        let limit = 16 * (1 + Int(input.byte()))
        let parts = try frameEvents(pieces(of: input.rest, lengths), limit: limit)
        let whole = try frameEvents([input.rest], limit: limit)
        try check(parts == whole, "cut \(lengths) they are \(parts), and whole \(whole)")
    }

    private static func frameEvents(_ parts: [[UInt8]], limit: Int) throws -> [String] {
        var reader = FrameReader(messageByteLimit: limit)
        var events: [String] = []
        for part in parts {
            var left = part[...]
            while !left.isEmpty {
                do throws(FrameFault) {
                    let (event, count) = try left.withUnsafeBufferPointer {
                        (buffer) throws(FrameFault) in try reader.read(buffer)
                    }
                    left = left.dropFirst(count)
                    switch event {
                    case .needsMore:
                        guard left.isEmpty else { return events + ["bytes were left"] }
                    case .message(let message):
                        guard message.count <= limit,
                            String(validating: message, as: UTF8.self) != nil
                        else { return events + ["too long, or no text: \(message)"] }
                        events.append("message \(message)")
                    case .ping(let bytes): events.append("ping \(bytes)")
                    case .pong: events.append("pong")
                    case .close(let code): events.append("close \(code ?? 0)")
                    }
                } catch {
                    return events + ["\(error)"]
                }
            }
            guard reader.heldByteCount <= limit else { return events + ["holds too much"] }
        }
        return events
    }
}

/// What a chunked body came to.
private struct BodyOutcome: Equatable {
    var body: [UInt8] = []
    var isDone = false
    var fault: RequestFault?
    var byteCount = 0

    init(_ parts: [[UInt8]], limit: Int) {
        var decoder = ChunkedBodyDecoder()
        for part in parts {
            do throws(RequestFault) {
                byteCount += try part.withUnsafeBufferPointer { (buffer) throws(RequestFault) in
                    try decoder.decode(buffer, into: &body, limit: limit)
                }
            } catch {
                fault = error
                // What came before a fault counts for nothing.
                (body, byteCount) = ([], 0)
                return
            }
        }
        isDone = decoder.isDone
    }
}
