package import JSONTree
import WireProtocol

/// A message around one value that may be too large to hold as text.
///
/// The value is a snapshot, and its text is made piece by piece as the socket drains. The pieces
/// are fragments of one WebSocket message, so its length need not be known before it begins. A
/// server that limits it measures first: that makes the text once and drops it.
///
///     var message = StreamedEvent.event(.value(node), observer: 2, .value)
///     while try !message.measure(byteLimit: limit, atLeast: 65_536) {}
///     while let piece = message.next(atLeast: 16_384) { ... }       // isEnded tells the last one
package struct StreamedEvent: Sendable {
    /// Why a message cannot be sent.
    package struct TooBig: Error, Equatable, Sendable {
        /// Bytes known of when measuring stopped, more than the limit.
        package let byteCount: Int
    }

    private enum Stage: Sendable {
        case measuring(TextStream)
        case beginning
        case sending(TextStream)
        case ended
    }

    private let text: TextStream
    private var stage = Stage.beginning

    /// Bytes of the whole text; while measuring those known so far, 0 before.
    package private(set) var byteCount = 0

    /// The message to send instead when it is too big: the refusal of the request for the value.
    /// Nil for an event, which has no other form: the connection must close.
    package let refusal: [UInt8]?

    private init(_ pieces: [TextStream.Piece], _ form: Node.JSONForm, refusal: [UInt8]?) {
        text = TextStream(pieces, form)
        self.refusal = refusal
    }

    /// An event that carries a value, for one observer.
    package static func event(
        _ event: ObserverEvent,
        observer: Int64,
        _ form: Node.JSONForm
    ) -> StreamedEvent {
        guard let node = event.node else { preconditionFailure("only values are streamed") }
        var prefix: [UInt8] = []
        event.appendPrefix(to: &prefix)
        let suffix = Array("\(ObserverEvent.observerMember)\(observer)".utf8) + ObserverEvent.ending
        let pieces: [TextStream.Piece] = [.text(prefix), .node(node), .text(suffix)]
        return StreamedEvent(pieces, form, refusal: nil)
    }

    /// A reply that carries a value.
    package static func reply(_ id: Int64, _ reply: EventReply) -> StreamedEvent {
        let node: Node
        let form: Node.JSONForm
        switch reply {
        case .value(let found, _, let asked): (node, form) = (found, asked)
        case .mismatch(let found, _): (node, form) = (found, .value)
        case .done, .authenticated, .observing, .written, .key, .pong, .refused:
            preconditionFailure("only values are streamed")
        }
        var prefix: [UInt8] = []
        EventMessage.appendStart(id, reply, to: &prefix)
        let error = EventError(.tooBig, "The value is larger than this server sends at once.")
        return StreamedEvent(
            [.text(prefix), .node(node), .text(ObserverEvent.ending)],
            form,
            refusal: EventMessage.reply(id, .refused(error)).encoded()
        )
    }

    /// Measures the next part of the text, at least `stepByteCount` bytes unless the text ends before.
    ///
    /// - Returns: true when the whole text is measured and `next` returns pieces.
    /// - Throws: `TooBig` as soon as the text is longer than `byteLimit`.
    package mutating func measure(
        byteLimit: Int,
        atLeast stepByteCount: Int
    ) throws(TooBig) -> Bool {
        var stream: TextStream
        switch stage {
        case .beginning:
            if byteCount > 0 { return true }
            stream = text
        case .measuring(let begun): stream = begun
        case .sending, .ended: return true
        }
        var made: [UInt8] = []
        let isMore = stream.next(into: &made, atLeast: stepByteCount)
        byteCount += made.count
        if byteCount > byteLimit { throw TooBig(byteCount: byteCount) }
        stage = isMore ? .measuring(stream) : .beginning
        return !isMore
    }

    /// Whether the last piece has been handed out.
    package var isEnded: Bool {
        if case .ended = stage { true } else { false }
    }

    /// The next piece of the text, at least `byteCount` bytes unless it is the last; nil at the end.
    ///
    /// Pieces are cut between bytes of the text as it comes: a fragment of a WebSocket message need
    /// not end where a character does.
    ///
    /// - Precondition: measuring, if it has begun, has returned true.
    package mutating func next(atLeast byteCount: Int) -> [UInt8]? {
        var stream: TextStream
        switch stage {
        case .measuring: preconditionFailure("a message is measured before it is sent")
        case .ended: return nil
        case .beginning: stream = text
        case .sending(let begun): stream = begun
        }
        var piece: [UInt8] = []
        stage = stream.next(into: &piece, atLeast: byteCount) ? .sending(stream) : .ended
        return piece
    }
}
