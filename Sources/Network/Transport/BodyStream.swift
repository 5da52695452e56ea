/// A pulled body with the framing it needs on the wire.
struct BodyStream {
    enum Step {
        case next([UInt8])
        case wait
        case end
        /// More or fewer bytes came than were promised; the peer must not take them for whole.
        case broken
    }

    private let isChunked: Bool
    /// Bytes still promised; nil when none were.
    private var dueByteCount: Int?
    private var isOver = false
    private let pull: @LoopActor () -> StreamStep<[UInt8]>

    init(body: ResponseEncoder.Body, pull: @escaping @LoopActor () -> StreamStep<[UInt8]>) {
        isChunked = body == .chunked
        if case .length(let byteCount) = body { dueByteCount = byteCount }
        self.pull = pull
    }

    @LoopActor
    mutating func next() -> Step {
        guard !isOver, dueByteCount != 0 else { return .end }
        switch pull() {
        case .wait: return .wait
        case .next(let bytes): return take(bytes)
        case .end:
            isOver = true
            if dueByteCount != nil { return .broken }
            return isChunked ? .next(SharedChunk.end) : .end
        }
    }

    private mutating func take(_ bytes: [UInt8]) -> Step {
        if let due = dueByteCount {
            guard bytes.count <= due else { return .broken }
            dueByteCount = due - bytes.count
        }
        // An empty chunk would end the body.
        guard isChunked, !bytes.isEmpty else { return .next(bytes) }
        return .next(SharedChunk(text: bytes).bytes)
    }
}
