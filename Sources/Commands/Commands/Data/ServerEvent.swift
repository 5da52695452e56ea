struct ServerEvent: Equatable {
    /// `put`, `patch`, `keep-alive`, `cancel`, `auth_revoked`.
    var name = ""
    var data: [UInt8] = []
}

/// Reads an event stream as it arrives.
///
/// Lines end in LF, CR or CRLF; an event ends at an empty line. `id:`, `retry:` and comments are skipped. Source:
/// https://html.spec.whatwg.org/multipage/server-sent-events.html
struct ServerEventReader {
    /// The stream has an event longer than the limit.
    struct TooLong: Error, Equatable {}

    private let byteLimit: Int
    private var line: [UInt8] = []
    private var event = ServerEvent()
    private var hasData = false
    private var endsInReturn = false

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// Takes the next bytes and hands on the events that they complete.
    mutating func read(
        _ bytes: UnsafeRawBufferPointer,
        _ found: (ServerEvent) throws -> Void,
    ) throws {
        var rest = bytes[...]
        if endsInReturn, rest.first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
        if !bytes.isEmpty { endsInReturn = bytes.last == UInt8(ascii: "\r") }
        while let end = rest.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
            try keep(rest[..<end])
            let isReturn = rest[end] == 0x0D
            rest = rest[(end + 1)...]
            if isReturn, rest.first == 0x0A { rest = rest.dropFirst() }
            try take(found)
        }
        try keep(rest)
    }

    private mutating func keep(_ part: Slice<UnsafeRawBufferPointer>) throws {
        guard line.count + event.data.count + part.count <= byteLimit else { throw TooLong() }
        line += part
    }

    private mutating func take(_ found: (ServerEvent) throws -> Void) throws {
        defer { line.removeAll(keepingCapacity: line.capacity <= 1 << 20) }
        guard !line.isEmpty else {
            defer {
                event = ServerEvent()
                hasData = false
            }
            if hasData { try found(event) }
            return
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": event.name = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { event.data.append(UInt8(ascii: "\n")) }
            event.data += value
            hasData = true
        default: break
        }
    }
}
