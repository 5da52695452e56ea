import JSONTree

/// A message around one value that may be too large to hold as text.
///
/// The value is a snapshot, and its text is made piece by piece as the socket drains. The pieces
/// are fragments of one WebSocket message, so nobody need know its length before it begins; a
/// server that limits it measures first, which makes the text once and drops it.
///
///     var message = StreamedEvent.event(.value(node), observer: 2, isExport: false)
///     while try !message.measure(byteLimit: limit, atLeast: 65_536) {}
///     while let piece = message.next(atLeast: 16_384) { ... }       // isEnded tells the last one
package struct StreamedEvent: Sendable {
    /// Why a message cannot be sent.
    package struct TooBig: Error, Equatable, Sendable {
        /// Bytes known of when measuring stopped, more than the limit.
        package let byteCount: Int
    }

    private enum Stage: Sendable {
        case measuring(JSONStream)
        case beginning
        case sending(JSONStream)
        case ended
    }

    private let prefix: [UInt8]
    private let node: Node
    private let form: Node.JSONForm
    private let suffix: [UInt8]
    private var stage = Stage.beginning

    /// Bytes of the whole text; while measuring those known so far, 0 before.
    package private(set) var byteCount = 0

    /// What to send in its place when it is too big: the refusal of the request that asked for the
    /// value. Nil for an event, which has no other form: the connection cannot go on.
    package let refusal: [UInt8]?

    private init(
        prefix: [UInt8],
        node: Node,
        form: Node.JSONForm,
        suffix: [UInt8],
        refusal: [UInt8]?,
    ) {
        self.prefix = prefix
        self.node = node
        self.form = form
        self.suffix = suffix
        self.refusal = refusal
    }

    /// An event that carries a value, for one observer.
    package static func event(
        _ event: ObserverEvent,
        observer: Int64,
        isExport: Bool,
    ) -> StreamedEvent {
        guard let node = event.node else { preconditionFailure("only values are streamed") }
        var prefix: [UInt8] = []
        event.appendPrefix(to: &prefix)
        var suffix: [UInt8] = []
        suffix.append(ObserverEvent.observerMember)
        suffix.append(String(observer))
        suffix.append(contentsOf: ObserverEvent.ending)
        return StreamedEvent(
            prefix: prefix,
            node: node,
            form: isExport ? .export : .value,
            suffix: suffix,
            refusal: nil,
        )
    }

    /// A reply that carries a value.
    package static func reply(_ id: Int64, _ reply: EventReply) -> StreamedEvent {
        let node: Node
        let form: Node.JSONForm
        switch reply {
        case .value(let found, _, let isExport): (node, form) = (found, isExport ? .export : .value)
        case .mismatch(let found, _): (node, form) = (found, .value)
        case .done, .authenticated, .observing, .written, .pushed, .pong, .refused:
            preconditionFailure("only values are streamed")
        }
        var prefix: [UInt8] = []
        EventMessage.appendStart(id, reply, to: &prefix)
        let error = EventError(.tooBig, "The value is larger than this server sends at once.")
        return StreamedEvent(
            prefix: prefix,
            node: node,
            form: form,
            suffix: ObserverEvent.ending,
            refusal: EventMessage.reply(id, .refused(error)).encoded(),
        )
    }

    /// Measures the next part of the text, at least `stepByteCount` bytes if so many are left.
    ///
    /// - Returns: true when the whole text is measured and pieces can be had.
    /// - Throws: `TooBig` as soon as the text is longer than `byteLimit`.
    package mutating func measure(
        byteLimit: Int,
        atLeast stepByteCount: Int,
    ) throws(TooBig) -> Bool {
        var stream: JSONStream
        switch stage {
        case .beginning:
            if byteCount > 0 { return true }
            byteCount = prefix.count + suffix.count
            stream = JSONStream(node, form)
        case .measuring(let begun): stream = begun
        case .sending, .ended: return true
        }
        var text: [UInt8] = []
        let isMore = stream.next(into: &text, atLeast: stepByteCount)
        byteCount += text.count
        if byteCount > byteLimit { throw TooBig(byteCount: byteCount) }
        stage = isMore ? .measuring(stream) : .beginning
        return !isMore
    }

    /// Whether the last piece has been handed out.
    package var isEnded: Bool {
        if case .ended = stage { return true }
        return false
    }

    /// The next piece of the text, at least `byteCount` bytes unless it is the last; nil at the end.
    ///
    /// Pieces are cut between bytes of the text as it comes: a fragment of a WebSocket message need
    /// not end where a character does.
    ///
    /// - Precondition: measuring, if it has begun, has returned true.
    package mutating func next(atLeast byteCount: Int) -> [UInt8]? {
        var piece: [UInt8] = []
        var stream: JSONStream
        switch stage {
        case .measuring: preconditionFailure("a message is measured before it is sent")
        case .ended: return nil
        case .beginning:
            piece = prefix
            stream = JSONStream(node, form)
        case .sending(let begun): stream = begun
        }
        if stream.next(into: &piece, atLeast: byteCount) {
            stage = .sending(stream)
        } else {
            piece.append(contentsOf: suffix)
            stage = .ended
        }
        return piece
    }
}
