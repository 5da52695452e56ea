import Transport
import WireProtocol

/// The script around one batch of messages, made piece by piece.
@LoopActor
struct PollBatch {
    /// What is batched: messages, or a large value that is made as it leaves.
    enum Item {
        case frame(SharedFrame)
        case stream(MessageSource)

        /// What it counts as while it waits.
        var byteCount: Int {
            switch self {
            case .frame(let frame): frame.byteCount
            case .stream: Item.streamByteCount
            }
        }

        /// A stream holds a snapshot and its own position in it.
        private static let streamByteCount = 1_024

        /// Whether it can leave.
        @LoopActor var isReady: Bool {
            switch self {
            case .frame: true
            case .stream(let source): source.isReady
            }
        }
    }

    private var head: [UInt8]
    private let tail: [UInt8]
    /// Not yet begun.
    private var items: ArraySlice<Item>
    /// The item at hand: frames that are left of it, the rest of the one before them, or its source.
    private var parts: ArraySlice<SharedFrame.Part> = []
    private var rest: ArraySlice<UInt8> = []
    private var source: MessageSource?
    /// Whether a comma goes before the next message.
    private var hasMessages = false
    private var isSourceBegun = false

    /// `items` are all ready.
    init(head: [UInt8], items: [Item], tail: [UInt8]) {
        self.head = head
        self.items = items[...]
        self.tail = tail
    }

    /// Whether some of it is made from snapshots.
    var hasStreams: Bool {
        items.contains { if case .stream = $0 { true } else { false } }
    }

    /// Appends at least `byteCount` bytes, unless the script ends before; returns whether there are more.
    mutating func next(into out: inout [UInt8], atLeast byteCount: Int) -> Bool {
        let end = out.count + byteCount
        out += head
        head = []
        while out.count < end {
            if !rest.isEmpty {
                appendRest(to: &out, upTo: end - out.count)
            } else if let part = parts.popFirst() {
                if part.beginsMessage { beginMessage(&out) }
                rest = part.text
            } else if let source {
                appendText(of: source, to: &out)
            } else if let item = items.popFirst() {
                begin(item)
            } else {
                out += tail
                return false
            }
        }
        return true
    }

    private mutating func begin(_ item: Item) {
        switch item {
        case .frame(let frame): parts = frame.parts[...]
        case .stream(let stream):
            source = stream
            isSourceBegun = false
        }
    }

    private mutating func beginMessage(_ out: inout [UInt8]) {
        if hasMessages { out.append(UInt8(ascii: ",")) }
        hasMessages = true
    }

    private mutating func appendText(of stream: MessageSource, to out: inout [UInt8]) {
        guard let text = stream.nextText() else {
            source = nil
            return
        }
        if !isSourceBegun { beginMessage(&out) }
        isSourceBegun = true
        PollScript.append(text[...], to: &out)
    }

    /// Appends some of the part at hand, cut between two scalars.
    private mutating func appendRest(to out: inout [UInt8], upTo byteCount: Int) {
        var end = min(rest.startIndex + max(byteCount, 4), rest.endIndex)
        while end < rest.endIndex, rest[end] & 0b1100_0000 == 0b1000_0000 { end -= 1 }
        PollScript.append(rest[..<end], to: &out)
        rest = rest[end...]
    }
}
