import JSONTree

/// Records the value of every sub-expression beside what a `Recorder` does.
///
/// A value is a slot of plain data; the bytes of strings and keys of one run lie in one array.
/// Texts are built on demand.
struct ValueRecorder: Probe {
    static var isRecording: Bool { true }
    static var isRecordingValues: Bool { true }

    private var recorder: Recorder
    private(set) var isObserving = false
    private(set) var observed: ObservedRun?
    /// Of the run under way.
    private var slots: [ObservedRun.Slot] = []
    private var bytes: [UInt8] = []
    private var slotsLeft = RulesLimits.tracedValueCount
    private var bytesLeft = RulesLimits.tracedByteCount
    private var hasLostValues = false
    private var isReplaying = false

    init(_ recording: Recording) {
        recorder = Recorder(recording)
    }

    var wantsPaths: Bool { recorder.wantsPaths }
    var hasRoomForPaths: Bool { recorder.hasRoomForPaths }

    mutating func looked(at path: Path) { recorder.looked(at: path) }
    mutating func lookedAtTime() { recorder.lookedAtTime() }
    mutating func lookedAtAuth() { recorder.lookedAtAuth() }
    mutating func wants(_ rule: Rule) -> Bool { recorder.wants(rule) }
    mutating func consulted(_ outcome: RuleOutcome) { recorder.consulted(outcome) }

    func complete(_ decision: UntracedDecision) -> Decision {
        Decision(decision, recorder, isCut: recorder.isCut || hasLostValues)
    }

    // MARK: Runs

    mutating func begin(_ program: Program) {
        isObserving = false
        // Once closed it stays closed, so that what is missing is the end of the trace.
        if (hasLostValues || recorder.isCut) && !isReplaying { return }
        let count = program.operations.count
        if count > slotsLeft {
            hasLostValues = true
            return
        }
        slotsLeft -= count
        isObserving = true
        slots = Array(repeating: .unevaluated, count: count)
        bytes = []
    }

    mutating func end(_ rule: Rule) {
        observed = isObserving ? ObservedRun(slots: slots, bytes: bytes) : nil
        isObserving = false
    }

    mutating func makeRoom(for program: Program) -> Bool {
        if program.operations.count > RulesLimits.replayStepCount { return false }
        isReplaying = true
        slotsLeft = max(slotsLeft, RulesLimits.replayStepCount)
        bytesLeft = max(bytesLeft, RulesLimits.replayByteCount)
        return true
    }

    // MARK: Values

    mutating func began(_ index: OperationIndex) { slots[Int(index.number)] = .begun }

    mutating func gave(_ value: Value, _ index: OperationIndex) {
        slots[Int(index.number)] = .value(leaf(value))
    }

    mutating func gave(
        snapshotOf node: BorrowedNode,
        isNew: Bool,
        prefix: Int,
        _ keys: ArraySlice<Key>,
        _ index: OperationIndex
    ) {
        let recorded = record(keys)
        slots[Int(index.number)] = .snapshot(
            isNew: isNew,
            prefix: Int16(prefix),
            keys: recorded,
            leaf(Value(node))
        )
    }

    private mutating func leaf(_ value: Value) -> ObservedRun.Leaf {
        switch value {
        case .null: .null
        case .boolean(let boolean): .boolean(boolean)
        case .number(let number): .number(number)
        case .object: .object
        case .text(let text): text.withBytes { string($0) }
        case .borrowed(let text): string(text)
        }
    }

    private mutating func string(_ text: Bytes) -> ObservedRun.Leaf {
        var count = min(text.count, RulesLimits.tracedStringByteCount)
        if count > bytesLeft {
            count = bytesLeft
            hasLostValues = true
        }
        let isCut = count < text.count
        // Not within a scalar.
        while isCut, count > 0, text[count] & 0xC0 == 0x80 { count -= 1 }
        return .string(append(text.slice(0..<count)), isCut: isCut)
    }

    /// Notes the keys, each after a slash.
    private mutating func record(_ keys: ArraySlice<Key>) -> ObservedRun.Keys {
        if keys.isEmpty { return .some(.empty) }
        var byteCount = 0
        for key in keys {
            if !isPossible(key) { return .impossible }
            byteCount += 1 + key.utf8.count
            if byteCount > RulesLimits.tracedKeyByteCount { return .unknown }
        }
        if byteCount > bytesLeft {
            hasLostValues = true
            return .unknown
        }
        let start = bytes.count
        for key in keys {
            bytes.append(UInt8(ascii: "/"))
            bytes.append(contentsOf: key.utf8)
        }
        bytesLeft -= byteCount
        return .some(ObservedRun.Piece(start: Int32(start), byteCount: Int32(byteCount)))
    }

    private mutating func append(_ text: Bytes) -> ObservedRun.Piece {
        let start = bytes.count
        bytes.append(contentsOf: text)
        bytesLeft -= text.count
        return ObservedRun.Piece(start: Int32(start), byteCount: Int32(text.count))
    }
}
