extension SharedFrame {
    /// The payload of one frame.
    package struct Part: Sendable {
        /// The payload where it lies in the frame; not copied.
        package let text: ArraySlice<UInt8>
        /// Whether a message begins here. Otherwise this goes on with the one before.
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
            // 126 and 127 announce a length of so many bytes; a server's frames have no mask.
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
