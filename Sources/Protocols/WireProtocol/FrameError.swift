/// Why a sequence of WebSocket text frames is not a message. The connection must be closed, unless there is a request
/// that can be answered.
package enum FrameError: Error, Equatable, Sendable {
    /// A frame with no bytes where a message or a segment count is due.
    case emptyFrame
    /// A frame that starts like a number where a message is due, but is not a count of 1 to 999999.
    ///
    /// - Parameter byteCount: the bytes of that frame.
    case malformedCount(byteCount: Int)
    /// A segment with no bytes.
    ///
    /// - Parameters:
    ///   - index: the segment's index in its message, from 0.
    ///   - count: the segments the client announced.
    case emptySegment(index: Int, count: Int)
    /// A message longer than the connection takes.
    ///
    /// - Parameters:
    ///   - byteCount: the bytes seen so far, the offending frame included.
    ///   - limit: the most that is taken.
    ///   - request: the number of the request in it, when all of it was read; nil when the connection must be closed.
    case messageTooBig(byteCount: Int, limit: Int, request: Int64? = nil)
}

extension FrameError: CustomStringConvertible {
    /// What is wrong, for the log and the close reason.
    package var description: String {
        switch self {
        case .emptyFrame:
            "empty frame where a message or a segment count was expected"
        case .malformedCount(let byteCount):
            "a frame of \(byteCount) bytes is neither a message nor a segment count of 1 to 999999"
        case .emptySegment(let index, let count):
            "segment \(index + 1) of \(count) is empty"
        case .messageTooBig(let byteCount, let limit, _):
            "message of at least \(byteCount) bytes is over the limit of \(limit)"
        }
    }

    /// The RFC 6455 close code to end the connection with.
    package var closeCode: UInt16 {
        switch self {
        case .emptyFrame, .malformedCount, .emptySegment: 1003
        case .messageTooBig: 1009
        }
    }
}
