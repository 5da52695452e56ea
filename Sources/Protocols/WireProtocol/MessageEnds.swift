/// The first and the last bytes of a message that is too long to be kept, by which its request can be answered.
///
/// Clients write the members of a request in an order of their own, so its number stands before its body or behind it:
///
///     {"t":"d","d":{"r":3,"a":"p","b":{"p":"/big","d":"xxx...      the head
///                       ...xxx"}, "r":3,"a":"p"},"t":"d"}          the tail
struct MessageEnds: Sendable {
    /// Bytes kept of each end; the text around a body takes about 50.
    private static let byteLimit = 512

    /// Bytes of the whole message so far.
    private(set) var byteCount = 0
    private var head: [UInt8] = []
    private var tail: [UInt8] = []

    mutating func append(_ bytes: [UInt8]) {
        byteCount += bytes.count
        head += bytes.prefix(Self.byteLimit - head.count)
        tail = (tail + bytes.suffix(Self.byteLimit)).suffix(Self.byteLimit)
    }

    /// The number of the request; nil when neither end shows it.
    var requestNumber: Int64? {
        RequestNumberReader.number(in: head, isBackwards: false)
            ?? RequestNumberReader.number(in: tail.reversed(), isBackwards: true)
    }
}

/// Looks for `"r":NUMBER` two objects down, forwards or backwards, as far as no deeper one begins.
private struct RequestNumberReader {
    private enum Token: Equatable {
        case string([UInt8])
        /// A number or a word.
        case bare([UInt8])
        case mark(UInt8)
    }

    /// In the order of reading.
    private let bytes: [UInt8]
    private let isBackwards: Bool
    private var index = 0

    static func number(in bytes: [UInt8], isBackwards: Bool) -> Int64? {
        var reader = RequestNumberReader(bytes: bytes, isBackwards: isBackwards)
        return reader.read()
    }

    private init(bytes: [UInt8], isBackwards: Bool) {
        self.bytes = bytes
        self.isBackwards = isBackwards
    }

    private mutating func read() -> Int64? {
        let opening = UInt8(ascii: isBackwards ? "}" : "{")
        let closing = UInt8(ascii: isBackwards ? "{" : "}")
        var depth = 0
        var member: [Token] = []
        while let token = next() {
            switch token {
            case .mark(opening):
                depth += 1
                if depth > 2 { return nil }
                member = []
            case .mark(closing):
                depth -= 1
                if depth < 1 { return nil }
                member = []
            case .mark(UInt8(ascii: ",")): member = []
            default: member.append(token)
            }
            if depth == 2, let number = number(of: member) { return number }
        }
        return nil
    }

    /// The number, if these three tokens are the member `r`.
    private func number(of member: [Token]) -> Int64? {
        let parts = isBackwards ? member.reversed() : member
        guard parts.count == 3, parts[0] == .string([UInt8(ascii: "r")]),
            parts[1] == .mark(UInt8(ascii: ":")), case .bare(let digits) = parts[2]
        else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }

    /// The next token; nil at the end, and where a token is cut or holds an escape.
    private mutating func next() -> Token? {
        while index < bytes.count, Self.isSpace(bytes[index]) { index += 1 }
        guard index < bytes.count else { return nil }
        let first = bytes[index]
        if Self.isMark(first) {
            index += 1
            return .mark(first)
        }
        if first == Self.quote {
            let start = index + 1
            guard let end = bytes[start...].firstIndex(of: Self.quote) else { return nil }
            index = end + 1
            let text = inOrder(bytes[start..<end])
            return text.contains(UInt8(ascii: "\\")) ? nil : .string(text)
        }
        let start = index
        while index < bytes.count, !Self.isMark(bytes[index]), !Self.isSpace(bytes[index]),
            bytes[index] != Self.quote
        {
            index += 1
        }
        return index < bytes.count ? .bare(inOrder(bytes[start..<index])) : nil
    }

    private func inOrder(_ part: ArraySlice<UInt8>) -> [UInt8] {
        isBackwards ? part.reversed() : Array(part)
    }

    private static let quote = UInt8(ascii: "\"")

    private static func isMark(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ":"), UInt8(ascii: ","): true
        default: false
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}
