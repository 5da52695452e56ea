/// Cuts messages to clients into WebSocket text frames.
///
/// A message of at most 16384 bytes is one frame. A longer one is a frame holding the segment count followed by the
/// segments, each of at most 16384 bytes and cut between Unicode scalars. The nominal cut points lie
/// `WireLimits.segmentStride` apart and each moves back to the start of the scalar it would split, so the count depends
/// on the message's byte count alone: a message that is produced piece by piece needs only its length beforehand.
package enum Segments {
    /// The segments of a message of `byteCount` bytes; 1 means that it goes out bare.
    ///
    /// - Returns: nil when the message is too long to be sent at all (`too_big`).
    package static func count(byteCount: Int) -> Int? {
        precondition(byteCount > 0, "an empty frame would stop JavaScript clients")
        if byteCount <= WireLimits.segmentByteCount { return 1 }
        let count = (byteCount + WireLimits.segmentStride - 1) / WireLimits.segmentStride
        return count <= WireLimits.sentSegmentCount ? count : nil
    }

    /// The text of the frame that goes before `count` segments.
    package static func countFrame(_ count: Int) -> [UInt8] {
        precondition(
            count > 1,
            "one segment goes out bare, and a count of 0 stops JavaScript clients"
        )
        precondition(count <= WireLimits.sentSegmentCount, "the iOS client takes 4 digits")
        return Array(String(count).utf8)
    }

    /// The byte ranges of the message's segments, in order; one range means that it goes out bare.
    ///
    /// - Parameter message: a whole message in valid UTF-8, not empty.
    /// - Returns: nil when the message is too long to be sent at all (`too_big`).
    package static func frames(of message: [UInt8]) -> [Range<Int>]? {
        guard let count = count(byteCount: message.count) else { return nil }
        if count == 1 { return [0..<message.count] }
        var ranges: [Range<Int>] = []
        ranges.reserveCapacity(count)
        var start = 0
        for index in 1...count {
            let end = cut(message, at: min(index * WireLimits.segmentStride, message.count))
            ranges.append(start..<end)
            start = end
        }
        return ranges
    }

    /// The start of the scalar that the byte at `offset` belongs to; `offset` itself at the end.
    static func cut(_ bytes: [UInt8], at offset: Int) -> Int {
        var offset = offset
        var stepCount = 0
        while offset < bytes.count, bytes[offset] & 0b1100_0000 == 0b1000_0000, stepCount < 3 {
            offset -= 1
            stepCount += 1
        }
        return offset
    }
}
