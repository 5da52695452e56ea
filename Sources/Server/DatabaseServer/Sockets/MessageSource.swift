import Transport
import WireProtocol

/// The text of one streamed message, made as its receiver asks for it.
@LoopActor
final class MessageSource {
    /// Measured; nil until then.
    var message: StreamedMessage?
    /// The value cannot be sent: what waits behind it, the end of the connection, may go.
    var isEnded = false

    /// Whether it is known how it goes on.
    var isReady: Bool { isEnded || message != nil }

    /// The next frame of a WebSocket.
    func next() -> StreamStep<SharedFrame> {
        if isEnded { return .end }
        if message == nil { return .wait }
        guard let text = message?.nextFrame() else { return .end }
        return .next(SharedFrame(text: text))
    }

    /// The next part of the text, where messages are not cut into frames; nil at the end.
    ///
    /// - Precondition: it is ready.
    func nextText() -> [UInt8]? {
        precondition(isReady, "a message is measured before it is sent")
        return isEnded ? nil : message?.nextText()
    }
}
