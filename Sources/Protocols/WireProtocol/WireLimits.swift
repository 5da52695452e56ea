/// Hard limits of the wire protocol.
///
/// The limits of the data itself (depth, key and string sizes) are `JSONTree.Limits`.
package enum WireLimits {
    /// Bytes in one segment that Hearth sends.
    ///
    /// Clients measure segments in UTF-16 code units and accept at most 16384 of them; a UTF-8 text
    /// never has fewer bytes than code units, so counting bytes satisfies every client.
    package static let segmentByteCount = 16_384

    /// Distance between two nominal cut points of a message that Hearth sends in segments, in bytes.
    ///
    /// A cut moves back by at most 3 bytes to reach a scalar boundary, so a segment is never longer
    /// than `segmentByteCount`, and the number of segments follows from the byte count alone.
    package static let segmentStride = segmentByteCount - 3

    /// Segments in one message that Hearth sends: the iOS client takes a count of at most 4 digits.
    package static let sentSegmentCount = 9_999

    /// Bytes in one message that Hearth sends; a longer answer is refused with `too_big`.
    package static let sentMessageByteCount = sentSegmentCount * segmentStride

    /// Digits in a segment count that a client may announce.
    package static let receivedCountDigits = 6

    /// Bytes of a message beyond the server's limit that are read, and not kept, so that its request can be answered.
    package static let drainedByteCount = 256 << 20

    /// Bytes of a client's own text (an action's name, a path) that an error text repeats.
    package static let quotedByteCount = 64

    /// Paths in the compound hash of one listen.
    ///
    /// Clients cut what they have into parts of 10 times the square root of its bytes, at least 512:
    /// 1,600 for 256 MB, and a few times that where the hashed text is longer than the data.
    package static let compoundHashPaths = 10_000

    /// Bytes in the canonical text of one query object, which its listen keeps.
    ///
    /// iOS pads a bound to 786 characters of 3 bytes; the rest is room for long string bounds.
    package static let queryByteCount = 65_536

    /// Pieces of long-polling messages that may wait for an earlier one.
    ///
    /// Clients have two requests under way, a third after 25 s without an answer, with few pieces each.
    package static let earlyPieces = 256

    /// Bytes of those pieces, as they came.
    package static let earlyPieceByteCount = 512 * 1024

    /// Milliseconds since 1970 that a server may say it is: up to the end of the year 9999, so that sums of times
    /// are numbers.
    package static let serverTime: ClosedRange<Int64> = 0...253_402_300_799_999
}
