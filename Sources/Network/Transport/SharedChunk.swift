/// A part of a chunked body, framed once and then shared by the queues of all receivers.
///
/// A struct around one immutable array, so that a copy is a reference.
///
///     length in hexadecimal | CR LF | text | CR LF            (RFC 9112, section 7.1)
package struct SharedChunk: Sendable {
    /// The chunk with its framing.
    let bytes: [UInt8]
    private let textRange: Range<Int>

    /// Frames `text`, which must not be empty: an empty chunk would end the body.
    package init(text: [UInt8]) {
        precondition(!text.isEmpty, "a chunk has content")
        let size = String(text.count, radix: 16)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size.utf8.count + text.count + 4)
        bytes.append(contentsOf: size.utf8)
        bytes += [0x0d, 0x0a]
        textRange = bytes.count..<bytes.count + text.count
        bytes += text
        bytes += [0x0d, 0x0a]
        self.bytes = bytes
    }

    /// Bytes on the wire, framing included.
    package var byteCount: Int { bytes.count }

    /// The content alone, for a peer that does not know chunks.
    var text: [UInt8] { Array(bytes[textRange]) }

    /// The end of a chunked body.
    static let end = Array("0\r\n\r\n".utf8)
}
