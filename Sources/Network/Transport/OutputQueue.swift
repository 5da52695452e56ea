/// Bytes on their way to one socket, in order: arrays shared with other queues, and sources that are pulled when
/// everything before them is sent.
///
/// The limit counts only what waits behind the message being sent. So one message may have any size, and a slow
/// reader is still bounded.
struct OutputQueue {
    private enum Item {
        case bytes([UInt8])
        case source(OutputSource)

        var byteCount: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .source: 0
            }
        }
    }

    /// The next thing to send.
    enum Next {
        case nothing
        /// At most `byteCount` bytes of `bytes[offset...]`.
        case slice([UInt8], offset: Int, byteCount: Int)
        /// The first `byteCount` bytes of the scratch buffer, joined from several items.
        case joined(byteCount: Int)
        case source(OutputSource)
    }

    /// Invariant: items before `head` are spent; `head == items.count` only when both are 0.
    private var items: [Item] = []
    private var head = 0
    /// Bytes of the head item that are sent.
    private var headOffset = 0
    /// Bytes queued and not sent, sources not counted.
    private(set) var byteCount = 0
    /// Sources queued and not ended.
    private var sourceCount = 0

    /// The size that a waiting source counts as: about its memory, with the path of the snapshot it keeps.
    static let sourceByteCount = 1_024

    var isEmpty: Bool { items.isEmpty }

    /// Bytes that wait behind the item being sent, with `sourceByteCount` for each source that waits.
    var waitingByteCount: Int {
        if isEmpty { return 0 }
        let sent = items[head].byteCount - headOffset
        // A source stays in the queue behind its chunk.
        return byteCount - sent + max(0, sourceCount - 1) * Self.sourceByteCount
    }

    /// Returns the bytes queued now.
    @discardableResult
    mutating func append(_ bytes: [UInt8]) -> Int {
        guard !bytes.isEmpty else { return byteCount }
        items.append(.bytes(bytes))
        byteCount += bytes.count
        return byteCount
    }

    mutating func appendSource(_ source: OutputSource) {
        items.append(.source(source))
        sourceCount += 1
    }

    /// Inserts a chunk of the source at the head before the source.
    mutating func prepend(_ bytes: [UInt8]) {
        precondition(headOffset == 0, "a source gives bytes only when nothing is half sent")
        guard !bytes.isEmpty else { return }
        byteCount += bytes.count
        if head > 0 {
            head -= 1
            items[head] = .bytes(bytes)
        } else {
            items.insert(.bytes(bytes), at: 0)
        }
    }

    /// Drops the source at the head, which has ended.
    mutating func removeSource() {
        guard !isEmpty, case .source = items[head] else {
            preconditionFailure("the head is a source")
        }
        sourceCount -= 1
        removeHead()
    }

    /// Whether the item behind the one at the head copies its bytes, so that they leave in the same packets.
    var isBeforeCopies: Bool {
        guard head + 1 < items.count, case .source(let source) = items[head + 1] else {
            return false
        }
        return source.copies
    }

    /// Returns the bytes to send, joining small items into `scratch`.
    ///
    /// They always begin with the first unsent byte, and include all unsent bytes of the previous answer: TLS may
    /// already hold the start of them.
    func next(joiningInto scratch: UnsafeMutableBufferPointer<UInt8>) -> Next {
        guard !isEmpty else { return .nothing }
        guard case .bytes(let first) = items[head] else {
            if case .source(let source) = items[head] { return .source(source) }
            return .nothing
        }
        let firstCount = min(first.count - headOffset, scratch.count)
        guard firstCount < scratch.count, head + 1 < items.count,
            case .bytes = items[head + 1]
        else { return .slice(first, offset: headOffset, byteCount: firstCount) }
        return .joined(byteCount: join(into: scratch))
    }

    /// Notes that `count` bytes of the last answer were taken by the socket.
    mutating func advance(_ count: Int) {
        precondition(count <= byteCount, "only queued bytes are sent")
        byteCount -= count
        var left = count
        while left > 0 {
            let rest = items[head].byteCount - headOffset
            guard left >= rest else {
                headOffset += left
                return
            }
            left -= rest
            removeHead()
        }
    }

    mutating func removeAll() {
        self = OutputQueue()
    }

    private func join(into scratch: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var filled = 0
        var index = head
        var offset = headOffset
        while filled < scratch.count, index < items.count, case .bytes(let bytes) = items[index] {
            let count = min(bytes.count - offset, scratch.count - filled)
            bytes.withUnsafeBufferPointer { source in
                let from = UnsafeBufferPointer(rebasing: source[offset..<offset + count])
                _ = UnsafeMutableBufferPointer(rebasing: scratch[filled...]).update(
                    fromContentsOf: from
                )
            }
            filled += count
            offset = 0
            index += 1
        }
        return filled
    }

    private mutating func removeHead() {
        headOffset = 0
        items[head] = .bytes([])
        head += 1
        guard head < items.count else {
            // A queue that was long gives its memory back: idle connections are many.
            items.removeAll(keepingCapacity: items.count <= 4)
            head = 0
            return
        }
        guard head >= 64, head * 2 >= items.count else { return }
        items.removeSubrange(..<head)
        head = 0
    }
}

/// A producer of bytes, pulled when the socket has room.
@LoopActor
final class OutputSource {
    /// Makes arrays of bytes.
    typealias Maker = @LoopActor () -> StreamStep<[UInt8]>
    /// Copies bytes that the application keeps; see `HTTPExchange.respondCopying`.
    typealias Copier = @LoopActor (UnsafeMutableRawBufferPointer) -> StreamStep<Int>

    private var make: Maker?
    private var copy: Copier?
    private var taken: (@LoopActor (Int) -> Void)?
    /// Whether it copies bytes.
    nonisolated let copies: Bool

    init(_ make: @escaping Maker) {
        self.make = make
        copies = false
    }

    init(copying copy: @escaping Copier, taken: @escaping @LoopActor (Int) -> Void) {
        self.copy = copy
        self.taken = taken
        copies = true
    }

    /// The next bytes that are made. After `.end` the closure and what it captures are released.
    func next() -> StreamStep<[UInt8]> {
        guard let make else { return .end }
        let step = make()
        if case .end = step { self.make = nil }
        return step
    }

    /// Copies the next bytes. After `.end` the closures and what they capture are released.
    func copy(into room: UnsafeMutableRawBufferPointer) -> StreamStep<Int> {
        guard let copy else { return .end }
        let step = copy(room)
        if case .end = step {
            self.copy = nil
            taken = nil
        }
        return step
    }

    /// Notes that the socket took so many of the bytes that were copied last.
    func advance(_ byteCount: Int) { taken?(byteCount) }
}
