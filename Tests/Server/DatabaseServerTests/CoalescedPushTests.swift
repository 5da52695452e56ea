import DatabaseCore
import Testing
import Transport

@testable import DatabaseServer

@Suite("Coalesced pushes")
struct CoalescedPushTests {
    private let receivers = [ConnectionID(1), ConnectionID(2)]

    private func frame(_ byteCount: Int) -> SharedFrame {
        SharedFrame(text: [UInt8](repeating: 0x78, count: byteCount))
    }

    @Test("pushes to the same receivers leave as one")
    func same() {
        var push = CoalescedPush(receivers: receivers, frame: frame(10))
        let isJoined = push.append(frame(20), to: receivers)
        #expect(isJoined)
        // A frame of less than 126 bytes has a header of 2.
        #expect(push.frame.byteCount == 34)
    }

    @Test("a push to others is not joined")
    func others() {
        var push = CoalescedPush(receivers: receivers, frame: frame(10))
        let isFewerJoined = push.append(frame(20), to: [ConnectionID(1)])
        let isReversedJoined = push.append(frame(20), to: receivers.reversed())
        #expect(!isFewerJoined)
        #expect(!isReversedJoined)
        #expect(push.frame.byteCount == 12)
    }

    @Test("what is held stays within what one send takes and one frame more")
    func bounded() {
        var push = CoalescedPush(receivers: receivers, frame: frame(10))
        while push.append(frame(16_384), to: receivers) {}
        #expect(push.frame.byteCount >= 64 * 1024)
        #expect(push.frame.byteCount < 64 * 1024 + 16_384 + 4)
    }

    @Test("events of the same streams leave as one chunk, and others are not among them")
    func events() {
        var held = CoalescedPushes.serverSent(
            CoalescedEvents(receivers: receivers, text: Array("a\n\n".utf8))
        )
        let isJoined = held.appendEvents(Array("b\n\n".utf8), to: receivers)
        let isFewerJoined = held.appendEvents(Array("c\n\n".utf8), to: [ConnectionID(1)])
        let isFrameJoined = held.appendFrame(frame(1), to: receivers)
        #expect(isJoined)
        #expect(!isFewerJoined)
        #expect(!isFrameJoined)
        #expect(held.contains(ConnectionID(2)))
        guard case .serverSent(let events) = held else {
            Issue.record("the events are gone")
            return
        }
        #expect(events.text == Array("a\n\nb\n\n".utf8))
    }
}
