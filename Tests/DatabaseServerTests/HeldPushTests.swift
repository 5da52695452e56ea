import DatabaseCore
import Testing
import Transport

@testable import DatabaseServer

@Suite("Held pushes")
struct HeldPushTests {
    private let receivers = [ConnectionID(1), ConnectionID(2)]

    private func frame(_ byteCount: Int) -> SharedFrame {
        SharedFrame(text: [UInt8](repeating: 0x78, count: byteCount))
    }

    @Test("pushes to the same receivers leave as one")
    func same() {
        var push = HeldPush(receivers: receivers, frame: frame(10))
        let isJoined = push.append(frame(20), to: receivers)
        #expect(isJoined)
        // A frame of less than 126 bytes has a header of 2.
        #expect(push.frame.byteCount == 34)
    }

    @Test("a push to others is not joined")
    func others() {
        var push = HeldPush(receivers: receivers, frame: frame(10))
        let isFewerJoined = push.append(frame(20), to: [ConnectionID(1)])
        let isReversedJoined = push.append(frame(20), to: receivers.reversed())
        #expect(!isFewerJoined)
        #expect(!isReversedJoined)
        #expect(push.frame.byteCount == 12)
    }

    @Test("what is held stays within what one send takes and one frame more")
    func bounded() {
        var push = HeldPush(receivers: receivers, frame: frame(10))
        while push.append(frame(16_384), to: receivers) {}
        #expect(push.frame.byteCount >= 64 * 1024)
        #expect(push.frame.byteCount < 64 * 1024 + 16_384 + 4)
    }
}
