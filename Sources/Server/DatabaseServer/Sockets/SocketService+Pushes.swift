import DatabaseCore
import Transport
import WireProtocol

/// Messages on their way from effects to the queues of sockets.
extension SocketService {
    /// Sends a message, or keeps it to be joined with the next ones for the same receivers.
    func coalesce(
        _ message: OutgoingMessage,
        to receivers: [ConnectionID],
        _ held: inout CoalescedPushes
    ) {
        if case .serverSent(let text) = message {
            if held.appendEvents(text, to: receivers) { return }
            sendCoalesced(&held)
            held = .serverSent(CoalescedEvents(receivers: receivers, text: text))
            return
        }
        guard case .text(let text) = message, text.count <= WireLimits.segmentByteCount else {
            sendCoalesced(&held)
            return send(message, to: receivers)
        }
        let frame = SharedFrame(text: text)
        if held.appendFrame(frame, to: receivers) { return }
        if let receiver = receivers.first, receivers.count == 1 {
            // Nothing overtakes what waits for the same connection.
            if held.contains(receiver) { sendCoalesced(&held) }
            connections[receiver]?.send(frame)
        } else {
            sendCoalesced(&held)
            held = .plain(CoalescedPush(receivers: receivers, frame: frame))
        }
    }

    /// Sends a numbered text, or keeps it to be joined with the next ones for the same receivers.
    func coalesceNumbered(
        _ text: NumberedText,
        to receivers: [NumberedReceiver],
        _ held: inout CoalescedPushes
    ) {
        // With the longest of numbers.
        let byteCount = text.text.count + 20 + text.ending.count
        guard byteCount <= NumberedFrames.copiedByteCount else {
            sendCoalesced(&held)
            sendNumbered(text, to: receivers)
            return
        }
        if held.appendNumbered(text, to: receivers) { return }
        sendCoalesced(&held)
        held = .numbered(CoalescedNumberedPush(receivers: receivers, text: text))
    }

    /// Queues what has waited for all its receivers.
    func sendCoalesced(_ held: inout CoalescedPushes) {
        // Read once: sending does not open or close a connection before the tick ends.
        let connections = connections
        switch held {
        case .none: return
        case .plain(let push):
            for receiver in push.receivers { connections[receiver]?.send(push.frame) }
        case .serverSent(let events): server.data.sendEvents(events.text, to: events.receivers)
        case .numbered(let push):
            for (receiver, index) in zip(push.receivers, push.indices) {
                connections[receiver.connection]?.send(push.frames[index])
            }
        }
        held = .none
    }

    func sendNumbered(_ text: NumberedText, to receivers: [NumberedReceiver]) {
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
