/// Why a WebSocket is closed by the transport. The raw values are Close codes of RFC 6455, 7.4.1.
package enum FrameFault: UInt16, Error {
    case protocolError = 1002
    case binaryFrame = 1003
    case invalidUTF8 = 1007
    case messageTooBig = 1009
    case overloaded = 1013

    var text: String {
        switch self {
        case .protocolError: "protocol error"
        case .binaryFrame: "only text frames are spoken here"
        case .invalidUTF8: "text is not UTF-8"
        case .messageTooBig: "message too big"
        case .overloaded: "too many unfinished messages; try again later"
        }
    }
}

/// Reads the frames that a client sends (RFC 6455, section 5), however they are cut into pieces.
///
///     FIN RSV(3) opcode(4) | MASK(1)=1 length(7) | [length 16 or 64] | mask(32) | masked payload
///
/// Joins the fragments of a text message; reports control frames between them at once.
package struct FrameReader {
    /// The result of reading a piece of input.
    package enum Event {
        /// The input is used up.
        case needsMore
        /// A whole text message.
        case message([UInt8])
        case ping([UInt8])
        case pong
        /// The peer closes; the code is nil when it gave none.
        case close(code: UInt16?)
    }

    private enum State {
        case header
        case payload
    }

    private static let maximumHeaderByteCount = 14

    private let messageByteLimit: Int
    private var state = State.header
    /// The part of a frame header that has arrived.
    private var header: [UInt8] = []
    private var isFinal = false
    private var operation = FrameOperation.continuation
    private var payloadByteCount = 0
    private var payloadOffset = 0
    /// The masking key, its first byte lowest.
    private var mask: UInt32 = 0
    /// The message being joined; nil between messages.
    private var message: [UInt8]?
    private var control: [UInt8] = []
    private var validator = UTF8Validator()

    /// Buffered bytes of an unfinished message.
    package var heldByteCount: Int { message?.count ?? 0 }

    /// Begins between two messages, of at most so many bytes.
    package init(messageByteLimit: Int) {
        self.messageByteLimit = messageByteLimit
    }

    /// Reads up to the next event. Call again with the rest until it is `.needsMore`.
    ///
    /// - Returns: the event and the number of bytes consumed.
    package mutating func read(
        _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(FrameFault) -> (Event, consumed: Int) {
        var index = 0
        while true {
            if case .header = state {
                guard try readHeader(bytes, &index) else { return (.needsMore, index) }
            }
            try readPayload(bytes, &index)
            guard payloadOffset == payloadByteCount else { return (.needsMore, index) }
            state = .header
            if let event = try finishFrame() { return (event, index) }
        }
    }

    // MARK: Header

    /// Collects a header. Returns whether it is whole.
    private mutating func readHeader(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ index: inout Int
    ) throws(FrameFault) -> Bool {
        while index < bytes.count {
            header.append(bytes[index])
            index += 1
            guard header.count >= 2 else { continue }
            if header.count == 2 { try checkFirstBytes() }
            guard header.count == headerByteCount else { continue }
            try beginFrame()
            return true
        }
        return false
    }

    private var headerByteCount: Int {
        switch header[1] & 0x7f {
        case 127: Self.maximumHeaderByteCount
        case 126: 8
        default: 6
        }
    }

    private mutating func checkFirstBytes() throws(FrameFault) {
        guard header[0] & 0x70 == 0, header[1] & 0x80 != 0,
            let operation = FrameOperation(rawValue: header[0] & 0x0f)
        else { throw .protocolError }
        self.operation = operation
        isFinal = header[0] & 0x80 != 0
        switch operation {
        case .close, .ping, .pong:
            guard isFinal, header[1] & 0x7f <= 125 else { throw .protocolError }
        case .continuation:
            guard message != nil else { throw .protocolError }
        case .text:
            guard message == nil else { throw .protocolError }
        case .binary:
            throw message == nil ? .binaryFrame : .protocolError
        }
    }

    private mutating func beginFrame() throws(FrameFault) {
        let lengthByteCount = header.count - 6
        var length = UInt64(header[1] & 0x7f)
        if lengthByteCount > 0 {
            length = header[2..<(2 + lengthByteCount)].reduce(0) { $0 << 8 | UInt64($1) }
            // The shortest form is the only one allowed.
            guard length >= (lengthByteCount == 2 ? 126 : 65536), length >> 63 == 0 else {
                throw .protocolError
            }
        }
        mask = header.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        header.removeAll(keepingCapacity: true)
        state = .payload
        payloadOffset = 0
        switch operation {
        case .text, .continuation, .binary:
            guard length <= UInt64(messageByteLimit - heldByteCount) else { throw .messageTooBig }
            if operation == .text {
                message = []
                validator = UTF8Validator()
            }
        case .close, .ping, .pong:
            control.removeAll(keepingCapacity: true)
        }
        payloadByteCount = Int(length)
    }

    // MARK: Payload

    private mutating func readPayload(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ index: inout Int
    ) throws(FrameFault) {
        let count = min(payloadByteCount - payloadOffset, bytes.count - index)
        guard count > 0 else { return }
        let piece = UnsafeBufferPointer(rebasing: bytes[index..<index + count])
        index += count
        switch operation {
        case .close, .ping, .pong:
            appendUnmasked(piece, to: &control)
            payloadOffset += count
        case .text, .continuation, .binary:
            var joined = message ?? []
            message = nil
            let start = joined.count
            appendUnmasked(piece, to: &joined)
            payloadOffset += count
            let isText = joined.withUnsafeBufferPointer { buffer in
                validator.accept(UnsafeBufferPointer(rebasing: buffer[start...]))
            }
            message = joined
            guard isText else { throw .invalidUTF8 }
        }
    }

    /// Appends the piece with the mask taken off, eight bytes at a time.
    private func appendUnmasked(_ piece: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        let rotation = UInt32(payloadOffset & 3) * 8
        let key = rotation == 0 ? mask : mask >> rotation | mask << (32 - rotation)
        let wideKey = UInt64(key) << 32 | UInt64(key)
        let start = bytes.count
        bytes.append(contentsOf: piece)
        bytes.withUnsafeMutableBytes { buffer in
            var at = start
            while at + 8 <= buffer.count {
                let value = buffer.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                buffer.storeBytes(
                    of: value ^ wideKey.littleEndian,
                    toByteOffset: at,
                    as: UInt64.self
                )
                at += 8
            }
            while at < buffer.count {
                buffer[at] ^= UInt8(truncatingIfNeeded: key >> (UInt32((at - start) & 3) * 8))
                at += 1
            }
        }
    }

    // MARK: Events

    /// The event of a whole frame; nil for a fragment that is not the last.
    private mutating func finishFrame() throws(FrameFault) -> Event? {
        switch operation {
        case .text, .continuation, .binary:
            guard isFinal else { return nil }
            guard validator.isAtBoundary else { throw .invalidUTF8 }
            defer { message = nil }
            return .message(message ?? [])
        case .ping: return .ping(control)
        case .pong: return .pong
        case .close: return .close(code: try closeCode())
        }
    }

    private func closeCode() throws(FrameFault) -> UInt16? {
        guard !control.isEmpty else { return nil }
        guard control.count >= 2 else { throw .protocolError }
        let code = UInt16(control[0]) << 8 | UInt16(control[1])
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: break
        default: throw .protocolError
        }
        var validator = UTF8Validator()
        let isText = control.withUnsafeBufferPointer { buffer in
            validator.accept(UnsafeBufferPointer(rebasing: buffer[2...]))
        }
        guard isText && validator.isAtBoundary else { throw .invalidUTF8 }
        return code
    }
}
