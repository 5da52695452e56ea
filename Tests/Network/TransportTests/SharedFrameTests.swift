import Testing

@testable import Transport

@Suite("shared frames")
struct SharedFrameTests {
    @Test(
        "have the payloads they were made of, however long",
        arguments: [1, 125, 126, 127, 255, 256, 65_535, 65_536, 70_000]
    )
    func parts(byteCount: Int) {
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: byteCount)
        var frame = SharedFrame(text: text)
        frame.append(SharedFrame(text: "{}"))
        frame.append(SharedFrame(text: text, ending: text))
        frame.append(SharedFrame.beginning(text))
        frame.append(SharedFrame.middle(text))
        frame.append(SharedFrame.ending(text))
        let parts = frame.parts
        #expect(
            parts.map { Array($0.text) } == [text, Array("{}".utf8), text + text, text, text, text]
        )
        #expect(parts.map(\.beginsMessage) == [true, true, true, true, false, false])
    }
}
