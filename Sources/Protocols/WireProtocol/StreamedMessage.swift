package import JSONTree

/// A message around values that may be too large to hold as text.
///
/// The values are snapshots, and their text is made piece by piece, twice: once to learn how long
/// it is (the segment count goes out first), once to send it. Between steps only a few kilobytes
/// and the position in the values are held, for values of any size.
///
///     var message = StreamedMessage.put(target, node, tag: nil)
///     while try !message.measure(atLeast: 65_536) {}      // one step a tick
///     while let frame = message.nextFrame() { ... }       // as the socket drains
package struct StreamedMessage: Sendable {
    /// Why a message cannot be sent.
    package struct TooBig: Error, Equatable, Sendable {
        /// Bytes known of when measuring stopped, more than the limit.
        package let byteCount: Int
    }

    private enum Stage: Sendable {
        case measuring(TextStream)
        case sending(TextStream, segmentCount: Int)
        case sent
    }

    private let text: TextStream
    private let byteLimit: Int
    private var stage: Stage

    /// Bytes of the whole text. While measuring, those known so far.
    package private(set) var byteCount = 0

    /// Text made and not yet sent.
    private var pending: [UInt8] = []

    /// Where the part of `pending` that is not sent starts.
    private var pendingStart = 0

    /// Bytes of the text that earlier segments took.
    private var sentByteCount = 0

    /// Segments handed out.
    private var sentSegmentCount = 0

    /// Whether the count frame is out, or none is due.
    private var isCountSent = false

    private init(_ pieces: [TextStream.Piece], byteLimit: Int = WireLimits.sentMessageByteCount) {
        text = TextStream(pieces)
        self.byteLimit = min(byteLimit, WireLimits.sentMessageByteCount)
        stage = .measuring(text)
    }

    /// The push `ServerMessage.put`.
    package static func put(_ target: WriteTarget, _ node: Node, tag: Int64?) -> StreamedMessage {
        var prefix: [UInt8] = []
        ServerMessage.putPrefix(target, to: &prefix)
        var suffix: [UInt8] = []
        ServerMessage.pushSuffix(tag, to: &suffix)
        return StreamedMessage([.text(prefix), .node(node), .text(suffix)])
    }

    /// The push `ServerMessage.rangeMerge`.
    package static func rangeMerge(
        _ path: Path,
        _ merges: [RangeMerge],
        tag: Int64?
    ) -> StreamedMessage {
        StreamedMessage(ServerMessage.pieces(of: merges, at: path, tag: tag))
    }

    /// The reply `ReplyBody.value`.
    ///
    /// It may have `byteLimit` bytes, and never more than clients take.
    package static func reply(
        _ number: Int64,
        _ node: Node,
        byteLimit: Int = WireLimits.sentMessageByteCount,
    ) -> StreamedMessage {
        var prefix: [UInt8] = []
        ServerMessage.replyPrefix(number, to: &prefix)
        let suffix = Array("}}}".utf8)
        let pieces: [TextStream.Piece] = [.text(prefix), .node(node), .text(suffix)]
        return StreamedMessage(pieces, byteLimit: byteLimit)
    }

    /// Measures the next part of the text, at least `stepByteCount` bytes unless the text ends before.
    ///
    /// - Returns: true when the whole text is measured and `nextFrame` returns frames.
    /// - Throws: `TooBig` as soon as the text is longer than a message may be; do not use the
    ///   message then.
    package mutating func measure(atLeast stepByteCount: Int) throws(TooBig) -> Bool {
        guard case .measuring(var stream) = stage else { return true }
        // Not into `pending`: its room, megabytes, would be kept until a slow reader has the last frame.
        var made: [UInt8] = []
        let isMore = stream.next(into: &made, atLeast: stepByteCount)
        byteCount += made.count
        guard byteCount <= byteLimit, let segmentCount = Segments.count(byteCount: byteCount) else {
            throw TooBig(byteCount: byteCount)
        }
        guard !isMore else {
            stage = .measuring(stream)
            return false
        }
        isCountSent = segmentCount == 1
        stage = .sending(text, segmentCount: segmentCount)
        return true
    }

    /// The text of the next frame: the segment count if more than one is due, then the segments.
    ///
    /// - Precondition: `measure` has returned true.
    /// - Returns: nil when all frames have been handed out.
    package mutating func nextFrame() -> [UInt8]? {
        switch stage {
        case .measuring: preconditionFailure("a message is measured before it is sent")
        case .sent: return nil
        case .sending(var stream, let segmentCount):
            guard isCountSent else {
                isCountSent = true
                return Segments.countFrame(segmentCount)
            }
            stage = .sent
            sentSegmentCount += 1
            let isLast = sentSegmentCount == segmentCount
            let segment = nextSegment(&stream, isLast: isLast)
            if !isLast { stage = .sending(stream, segmentCount: segmentCount) }
            return segment
        }
    }

    /// The next part of the text, where it is not cut into frames: no count goes before it.
    ///
    /// - Precondition: `measure` has returned true.
    /// - Returns: nil when all of it has been handed out. Parts end between two scalars.
    package mutating func nextText() -> [UInt8]? {
        isCountSent = true
        return nextFrame()
    }

    private mutating func nextSegment(_ stream: inout TextStream, isLast: Bool) -> [UInt8] {
        let end = isLast ? byteCount : sentSegmentCount * WireLimits.segmentStride
        // The byte behind the cut shows whether it splits a scalar.
        fill(&stream, min(end + 1, byteCount) - sentByteCount)
        let cut = Segments.cut(pending, at: pendingStart + end - sentByteCount)
        let segment = Array(pending[pendingStart..<cut])
        sentByteCount += segment.count
        pendingStart = cut
        // A long string may have come in one piece: move the rest only when it is the smaller part.
        if pendingStart * 2 >= pending.count {
            pending.removeSubrange(..<pendingStart)
            pendingStart = 0
        }
        return segment
    }

    /// Makes at least `neededByteCount` bytes pending, and a segment more at a time.
    private mutating func fill(_ stream: inout TextStream, _ neededByteCount: Int) {
        while pending.count - pendingStart < neededByteCount {
            let isMore = stream.next(into: &pending, atLeast: WireLimits.segmentByteCount)
            if isMore { continue }
            let isEnough = pending.count - pendingStart >= neededByteCount
            precondition(isEnough, "a snapshot has the same text twice")
        }
    }
}
