/// The request line and headers of one request, as they arrived.
///
/// Holds the bytes once, and the ranges of the parts. A class: a head is passed on often, and one reference count is
/// cheaper than one for each part.
package final class RequestHead: Sendable {
    /// One header line: `name ":" value`, whitespace around the value left out.
    struct Field: Sendable {
        let name: Range<Int>
        let value: Range<Int>
    }

    /// The method as sent, one of `GET HEAD POST PUT PATCH DELETE OPTIONS`.
    package var method: String { parts.line.method }
    /// The target exactly as sent: nothing decoded, nothing normalised.
    package var rawTarget: String { text(parts.target.raw) }
    /// The pieces of the path, split at `/` and then percent-decoded; empty pieces are dropped.
    ///
    /// `+` stays `+` and `%2F` is a slash inside its piece. Always valid UTF-8.
    package var pathSegments: [String] { parts.target.segments }
    /// The parameters of the query in the order sent; `+` reads as a space here.
    package var query: [(name: String, value: String)] { parts.target.parameters }
    /// The Host header, or without one the authority of an absolute target; empty when HTTP/1.0 sent neither.
    package var host: String { parts.host }
    /// The other end: a numeric address.
    package var peerAddress: String { peer.address }
    /// The port of the other end.
    package var peerPort: Int { peer.port }
    /// Whether the connection is encrypted.
    package let isTLS: Bool
    /// Whether this asks for a WebSocket; its other handshake headers may still be wrong.
    package var isWebSocketUpgrade: Bool { parts.isWebSocketUpgrade }

    var isHTTP10: Bool { parts.line.isHTTP10 }
    /// Whether the peer asks to keep the connection open after the answer.
    var keepsAlive: Bool { parts.keepsAlive }
    /// How the body is delimited.
    package var framing: BodyFraming { parts.framing }
    var expectsContinue: Bool { parts.expectsContinue }
    private let parts: RequestHeadParser.Parts
    private let peer: Endpoint

    /// The head of these parts, which came from the other end `peer`.
    package init(_ parts: RequestHeadParser.Parts, peer: Endpoint, isTLS: Bool) {
        self.parts = parts
        self.peer = peer
        self.isTLS = isTLS
    }

    /// Bytes of a body that is short.
    private static let shortBodyByteCount = 64 * 1024

    /// Whether the body, if any, is short, has a known length and comes without `100 Continue`.
    package var hasShortBody: Bool {
        if expectsContinue { return false }
        return switch framing {
        case .none: true
        case .length(let byteCount): byteCount <= Self.shortBodyByteCount
        case .chunked: false
        }
    }

    /// The length of the body by the head, 0 without a body; nil for a chunked one.
    package var bodyByteCount: Int? {
        switch framing {
        case .none: 0
        case .length(let byteCount): Int(exactly: byteCount) ?? .max
        case .chunked: nil
        }
    }

    /// Every header in the order sent, its name as sent.
    package var fields: HTTPHeaders {
        parts.fields.map { (name: text($0.name), value: text($0.value)) }
    }

    /// The value of the first header of this name, which is written in lower case; nil without one.
    package func header(_ lowercasedName: String) -> String? {
        parts.fields.first { isNamed($0, lowercasedName) }.map { text($0.value) }
    }

    /// The values of every header of this name, which is written in lower case, in order.
    package func headers(_ lowercasedName: String) -> [String] {
        parts.fields.filter { isNamed($0, lowercasedName) }.map { text($0.value) }
    }

    /// Whether there is a header of this name, which is written in lower case.
    package func hasHeader(_ lowercasedName: String) -> Bool {
        parts.fields.contains { isNamed($0, lowercasedName) }
    }

    /// The value of the first query parameter of this name; nil without one.
    package func queryValue(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    private func isNamed(_ field: Field, _ lowercasedName: String) -> Bool {
        equalsIgnoringCase(parts.bytes, field.name, lowercasedName)
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: parts.bytes[range], as: UTF8.self)
    }
}

/// How the length of a request body is given.
package enum BodyFraming: Sendable, Equatable {
    case none
    case length(Int)
    case chunked
}

/// Compares a part of `bytes` with a text that is in lower case already.
func equalsIgnoringCase(_ bytes: [UInt8], _ range: Range<Int>, _ lowercased: String) -> Bool {
    guard range.count == lowercased.utf8.count else { return false }
    var index = range.lowerBound
    for wanted in lowercased.utf8 {
        if lowercase(bytes[index]) != wanted { return false }
        index += 1
    }
    return true
}

func lowercase(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}
