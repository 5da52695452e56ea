import DatabaseCore
import Transport
import WireProtocol

/// Messages on their way from effects to the queues of sockets.
extension Server {
    /// Sends a message, or holds it to be joined with the next ones for the same receivers.
    func send(
        _ message: OutgoingMessage,
        to receivers: [ConnectionID],
        _ held: inout HeldPushes
    ) {
        if case .serverSent(let text) = message {
            if held.append(text, to: receivers) { return }
            send(&held)
            held = .serverSent(HeldEvents(receivers: receivers, text: text))
            return
        }
        guard case .text(let text) = message, text.count <= WireLimits.segmentByteCount else {
            send(&held)
            send(message, to: receivers)
            return
        }
        let frame = SharedFrame(text: text)
        if held.append(frame, to: receivers) { return }
        if let receiver = receivers.first, receivers.count == 1 {
            // Nothing overtakes what is held for the same connection.
            if held.contains(receiver) { send(&held) }
            connections[receiver]?.send(frame)
        } else {
            send(&held)
            held = .plain(HeldPush(receivers: receivers, frame: frame))
        }
    }

    /// Sends a numbered text, or holds it to be joined with the next ones for the same receivers.
    func send(
        _ text: NumberedText,
        to receivers: [NumberedReceiver],
        _ held: inout HeldPushes
    ) {
        // With the longest of numbers.
        let byteCount = text.text.count + 20 + text.ending.count
        guard byteCount <= NumberedFrames.copiedByteCount else {
            send(&held)
            send(text, to: receivers)
            return
        }
        if held.append(text, to: receivers) { return }
        send(&held)
        held = .numbered(HeldNumberedPush(receivers: receivers, text: text))
    }

    /// Queues what is held for all its receivers.
    func send(_ held: inout HeldPushes) {
        // Read once: sending does not open or close a connection before the turn ends.
        let connections = connections
        switch held {
        case .none: return
        case .plain(let push):
            for receiver in push.receivers { connections[receiver]?.send(push.frame) }
        case .serverSent(let events): sendEvents(events.text, to: events.receivers)
        case .numbered(let push):
            for (receiver, place) in zip(push.receivers, push.places) {
                connections[receiver.connection]?.send(push.frames[place])
            }
        }
        held = .none
    }

    /// Queues a numbered text for all its receivers.
    func send(_ text: NumberedText, to receivers: [NumberedReceiver]) {
        var frames = NumberedFrames(text)
        for receiver in receivers {
            guard let connection = connections[receiver.connection] else { continue }
            let inSegments = connection.takesSegments
            guard let pair = frames.frames(for: receiver.number, inSegments: inSegments) else {
                connection.close(code: 1009, reason: "The message is too large")
                continue
            }
            if let shared = pair.shared { connection.send(shared) }
            connection.send(pair.own)
        }
    }
}
