/// The request line and headers of one request, as they arrived.
///
/// Holds the bytes once and the places of the parts; texts are made when asked for.
package struct RequestHead: Sendable {
    /// One header line: `name ":" value`, whitespace around the value left out.
    struct Field: Sendable {
        let name: Range<Int>
        let value: Range<Int>
    }

    /// The method as sent, one of `GET HEAD POST PUT PATCH DELETE OPTIONS`.
    package let method: String
    /// The target exactly as sent: nothing decoded, nothing normalised.
    package let rawTarget: String
    /// The target up to `?`, still encoded. `*` for `OPTIONS *`.
    package let rawPath: String
    /// The pieces of the path, split at `/` and then percent-decoded; empty pieces are dropped.
    ///
    /// `+` stays `+` and `%2F` is a slash inside its piece. Always valid UTF-8.
    package let pathSegments: [String]
    /// The target after `?`, still encoded; nil without a `?`.
    package let rawQuery: String?
    /// The parameters of the query in the order sent; `+` reads as a space here.
    package let query: [(name: String, value: String)]
    /// The Host header, or the authority of an absolute target; empty when HTTP/1.0 sent none.
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
    private let bytes: [UInt8]
    private let fields: [Field]

    init(_ parts: RequestHeadParser.Parts, peer: Endpoint, isTLS: Bool) {
        method = parts.line.method
        rawTarget = parts.target.raw
        rawPath = parts.target.path
        pathSegments = parts.target.segments
        rawQuery = parts.target.query
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

    /// The value of the first header of this name, which is written in lower case; nil without one.
    package func header(_ lowercasedName: String) -> String? {
        let name = Array(lowercasedName.utf8)
        return fields.first { equalsIgnoringCase(bytes[$0.name], name) }.map(value)
    }

    /// The values of every header of this name, which is written in lower case, in order.
    package func headers(_ lowercasedName: String) -> [String] {
        let name = Array(lowercasedName.utf8)
        return fields.filter { equalsIgnoringCase(bytes[$0.name], name) }.map(value)
    }

    /// The value of the first query parameter of this name; nil without one.
    package func queryValue(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    private func value(_ field: Field) -> String {
        String(decoding: bytes[field.value], as: UTF8.self)
    }
}

/// How the length of a request body is told.
enum BodyFraming: Sendable, Equatable {
    case none
    case length(Int)
    case chunked
}

/// Compares with a text that is in lower case already.
func equalsIgnoringCase(_ bytes: ArraySlice<UInt8>, _ lowercased: [UInt8]) -> Bool {
    guard bytes.count == lowercased.count else { return false }
    for (byte, wanted) in zip(bytes, lowercased) where lowercase(byte) != wanted { return false }
    return true
}

func lowercase(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}
