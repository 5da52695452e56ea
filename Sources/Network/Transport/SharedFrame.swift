/// One WebSocket text frame, or several in a row, encoded once and shared by the queues of all receivers.
///
/// A struct around one immutable array, so that a copy is a reference.
///
///     0x81 | length (7 bits; 126: 16 bits follow; 127: 64 bits follow) | payload, unmasked
///
/// A message that differs only at its end between receivers may be two fragments (RFC 6455, section 5.4): a
/// `beginning` (0x01), the same for all, and each receiver's `ending` (0x80) right behind it.
package struct SharedFrame: Sendable {
    private(set) var bytes: [UInt8]
    /// Text messages that end in `bytes`.
    private(set) var frameCount = 1

    /// Frames `text`, which must be valid UTF-8 and not empty: some clients read an empty frame as a segment count of
    /// 0 and drop the next frames.
    package init(text: [UInt8]) {
        precondition(!text.isEmpty, "a text frame has a payload")
        bytes = Self.frame(.text, text)
    }

    /// Frames `text`, which must not be empty.
    package init(text: String) {
        self.init(text: Array(text.utf8))
    }

    /// Frames `text` and `ending` as one text.
    package init(text: [UInt8], ending: [UInt8]) {
        precondition(!text.isEmpty, "a text frame has a payload")
        bytes = Self.frame(.text, text, ending)
    }

    private init(fragment bytes: [UInt8], endingCount: Int) {
        self.bytes = bytes
        frameCount = endingCount
    }

    /// The first part of a message. Nothing but `middle` parts and an `ending` may be sent after it.
    package static func beginning(_ text: [UInt8]) -> SharedFrame {
        precondition(!text.isEmpty, "a text frame has a payload")
        return SharedFrame(fragment: frame(.text, text, isFinal: false), endingCount: 0)
    }

    /// A part of a message between its `beginning` and its `ending`; text may be cut anywhere.
    package static func middle(_ text: [UInt8]) -> SharedFrame {
        SharedFrame(fragment: frame(.continuation, text, isFinal: false), endingCount: 0)
    }

    /// The last part of a message, behind its `beginning`; text may be cut anywhere.
    package static func ending(_ text: [UInt8]) -> SharedFrame {
        SharedFrame(fragment: frame(.continuation, text), endingCount: 1)
    }

    /// Adds another frame behind, for receivers that get both.
    package mutating func append(_ next: SharedFrame) {
        bytes += next.bytes
        frameCount += next.frameCount
    }

    /// Bytes on the wire, header included.
    package var byteCount: Int { bytes.count }

    /// A frame of `operation` as a server sends it; its payload is `payload` and `rest`.
    static func frame(
        _ operation: FrameOperation,
        _ payload: [UInt8],
        _ rest: [UInt8] = [],
        isFinal: Bool = true
    ) -> [UInt8] {
        let byteCount = payload.count + rest.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount + 10)
        bytes.append((isFinal ? 0x80 : 0) | operation.rawValue)
        switch byteCount {
        case ..<126:
            bytes.append(UInt8(byteCount))
        case ..<65536:
            bytes.append(126)
            bytes.append(UInt8(byteCount >> 8))
            bytes.append(UInt8(byteCount & 0xff))
        default:
            bytes.append(127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8((byteCount >> shift) & 0xff))
            }
        }
        bytes += payload
        bytes += rest
        return bytes
    }

    /// A Close frame. `reason` is cut to the 123 bytes a control frame has room for.
    static func close(code: UInt16, reason: String) -> [UInt8] {
        var payload = [UInt8(code >> 8), UInt8(code & 0xff)]
        for scalar in reason.unicodeScalars {
            let encoded = UTF8.encode(scalar).map { Array($0) } ?? []
            guard payload.count + encoded.count <= 125 else { break }
            payload += encoded
        }
        return frame(.close, payload)
    }

    /// The payload of one frame.
    package struct Part: Sendable {
        /// The payload where it lies in the frame; not copied.
        package let text: ArraySlice<UInt8>
        /// Whether a message begins here; otherwise this continues the one before.
        package let beginsMessage: Bool
    }

    /// The payloads of all frames in order, for a client that is reached in another way than by a WebSocket.
    package var parts: [Part] {
        var parts: [Part] = []
        var offset = 0
        while offset < bytes.count {
            let operation = bytes[offset] & 0x0f
            var byteCount = Int(bytes[offset + 1])
            offset += 2
            // 126 and 127 announce a length of 2 or 8 bytes; a server's frames have no mask.
            let lengthByteCount = byteCount == 126 ? 2 : byteCount == 127 ? 8 : 0
            if lengthByteCount > 0 {
                byteCount = bytes[offset..<offset + lengthByteCount].reduce(0) {
                    $0 << 8 | Int($1)
                }
            }
            offset += lengthByteCount
            let text = bytes[offset..<offset + byteCount]
            let isBegin = operation == FrameOperation.text.rawValue
            parts.append(Part(text: text, beginsMessage: isBegin))
            offset += byteCount
        }
        return parts
    }
}

/// The operation codes of RFC 6455, section 5.2.
enum FrameOperation: UInt8 {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10
}
