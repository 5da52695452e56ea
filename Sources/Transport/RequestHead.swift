/// The request line and headers of one request, as they arrived.
///
/// Holds the bytes once and the places of the parts. A class, since a head is handed on many times and counting one
/// reference is cheaper than counting those of all its parts.
package final class RequestHead: Sendable {
    /// One header line: `name ":" value`, whitespace around the value left out.
    struct Field: Sendable {
        let name: Range<Int>
        let value: Range<Int>
    }

    /// The method as sent, one of `GET HEAD POST PUT PATCH DELETE OPTIONS`.
    package let method: String
    /// The target exactly as sent: nothing decoded, nothing normalised.
    package var rawTarget: String { text(target.raw) }
    /// The target up to `?`, still encoded. `*` for `OPTIONS *`.
    package var rawPath: String { text(target.path) }
    /// The pieces of the path, split at `/` and then percent-decoded; empty pieces are dropped.
    ///
    /// `+` stays `+` and `%2F` is a slash inside its piece. Always valid UTF-8.
    package let pathSegments: [String]
    /// The target after `?`, still encoded; nil without a `?`.
    package var rawQuery: String? { target.query.map(text) }
    /// The parameters of the query in the order sent; `+` reads as a space here.
    package let query: [(name: String, value: String)]
    /// The Host header, or without one the authority of an absolute target; empty when HTTP/1.0 sent neither.
    package let host: String
    /// The other end: a numeric address.
    package let peerAddress: String
    /// The port of the other end.
    package let peerPort: Int
    /// Whether the connection is encrypted.
    package let isTLS: Bool
    /// Whether this asks for a WebSocket; its other handshake headers may still be wrong.
    package let isWebSocketUpgrade: Bool

    let isHTTP10: Bool
    /// Whether the connection goes on after the answer, as the peer wishes.
    let keepsAlive: Bool
    /// How the body is delimited.
    let framing: BodyFraming
    let expectsContinue: Bool
    private let target: RequestTarget
    private let bytes: [UInt8]
    private let fields: [Field]

    init(_ parts: RequestHeadParser.Parts, peer: Endpoint, isTLS: Bool) {
        method = parts.line.method
        target = parts.target
        pathSegments = parts.target.segments
        query = parts.target.parameters
        host = parts.host
        peerAddress = peer.address
        peerPort = peer.port
        self.isTLS = isTLS
        isWebSocketUpgrade = parts.isWebSocketUpgrade
        isHTTP10 = parts.line.isHTTP10
        keepsAlive = parts.keepsAlive
        framing = parts.framing
        expectsContinue = parts.expectsContinue
        bytes = parts.bytes
        fields = parts.fields
    }

    /// Bytes of a body that is short.
    private static let shortBodyByteCount = 64 * 1024

    /// Whether the body, if there is one, is short, tells its length, and comes without being asked for.
    package var hasShortBody: Bool {
        if expectsContinue { return false }
        return switch framing {
        case .none: true
        case .length(let byteCount): byteCount <= Self.shortBodyByteCount
        case .chunked: false
        }
    }

    /// Bytes of the body as the head tells them, 0 without a body; nil for one that comes in chunks.
    package var bodyByteCount: Int? {
        switch framing {
        case .none: 0
        case .length(let byteCount): Int(exactly: byteCount) ?? .max
        case .chunked: nil
        }
    }

    /// The value of the first header of this name, which is written in lower case; nil without one.
    package func header(_ lowercasedName: String) -> String? {
        fields.first { isNamed($0, lowercasedName) }.map { text($0.value) }
    }

    /// The values of every header of this name, which is written in lower case, in order.
    package func headers(_ lowercasedName: String) -> [String] {
        fields.filter { isNamed($0, lowercasedName) }.map { text($0.value) }
    }

    /// Whether there is a header of this name, which is written in lower case.
    package func hasHeader(_ lowercasedName: String) -> Bool {
        fields.contains { isNamed($0, lowercasedName) }
    }

    /// The value of the first query parameter of this name; nil without one.
    package func queryValue(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    private func isNamed(_ field: Field, _ lowercasedName: String) -> Bool {
        equalsIgnoringCase(bytes, field.name, lowercasedName)
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

/// How the length of a request body is told.
enum BodyFraming: Sendable, Equatable {
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
