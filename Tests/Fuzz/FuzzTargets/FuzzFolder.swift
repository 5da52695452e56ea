import DatabaseCore
import SecurityRules
import SimulatedStorage
import StateRecovery
import WriteAheadLog

/// A data folder of any bytes, as all that reads one sees it.
enum FuzzFolder {
    static let options = LogOptions(segmentByteCount: 4096, reserveByteCount: 0)
    private static let policy = EnginePolicy(
        databases: [],
        createsDatabases: false,
        defaultRules: .closed
    )

    /// Puts a file there.
    static func write(_ bytes: [UInt8], _ path: String, _ disk: SimulatedLogStorage) throws {
        try disk.create(path).close()
        disk.overwrite(path, with: bytes)
    }

    /// Inspection, verification and salvage read any folder, and what is salvaged starts.
    static func checkTools(_ disk: SimulatedLogStorage) throws {
        _ = try LogInspection.run(disk).description
        _ = try LogVerification.run(disk, content: StateChecker().take).description
        let other = SimulatedLogStorage(seed: 2)
        do throws(LogError) {
            let content = StateChecker().take
            let salvage = try LogSalvage.run(
                from: disk,
                to: other,
                content: content,
                options: options
            )
            _ = salvage.description
        } catch .refused(let refusal, _, _) where refusal.isOfAnotherVersion {
            // Another version may read it, so nothing of it is given up.
            return
        } catch {
            throw BrokenProperty(description: "no salvage: \(error)")
        }
        do throws(LogError) {
            let folder = try DataFolder.open(other, options: options)
            try folder.recoverState(policy).writer.close()
            folder.close()
        } catch {
            throw BrokenProperty(description: "what was salvaged does not start: \(error)")
        }
    }

    /// A start gives the records of the segment that have right checksums, and a second one the same.
    static func checkStart(
        _ disk: SimulatedLogStorage,
        _ segment: [UInt8],
        salt: UInt32
    ) throws {
        var records: [String] = []
        guard let first = start(disk, &records) else { return }
        try check(
            Set(records).isSubset(of: intactRecords(segment, salt: salt)),
            "a start gives what is no intact record: \(records)"
        )
        var again: [String] = []
        let second = start(disk, &again)
        try check(second != nil, "a second start refuses what the first one took")
        try check(again == records, "a second start gives other records: \(again)")
        try check(second == first, "a second start has another state")
        let verified = try LogVerification.run(disk, content: StateChecker().take)
        try check(verified.isSound, "what started is not sound: \(verified)")
    }

    /// The records that a start gives, and the state that it makes of them; nil when it refuses.
    private static func start(_ disk: SimulatedLogStorage, _ records: inout [String]) -> [UInt8]? {
        let state = StateReader(policy)
        do throws(LogError) {
            let folder = try DataFolder.open(disk, options: options)
            defer { folder.close() }
            var found: [String] = []
            let recovered = try folder.recover { step throws(RecoveryRefusal) in
                if case .record(let record) = step {
                    found.append("\(record.database) \(record.commit) \(Array(record.payload))")
                }
                try state.take(step)
            }
            try recovered.writer.close()
            records = found
        } catch {
            return nil
        }
        return content(of: state.engine)
    }

    private static func content(of engine: DatabaseEngine) -> [UInt8] {
        var encoder = CheckpointEncoder(engine.snapshots())
        var bytes: [UInt8] = []
        while encoder.next(into: &bytes, atLeast: 1 << 20) {}
        return bytes
    }

    /// All commits at multiples of 8 whose checksums are right.
    private static func intactRecords(_ segment: [UInt8], salt: UInt32) -> Set<String> {
        var records: Set<String> = []
        for offset in stride(from: 64, to: segment.count, by: 8) {
            guard let count = LogFormat.recordByteCount(segment, at: offset) else { continue }
            let right = LogFormat.checksums(segment, at: offset, byteCount: count, salt: salt)
            guard UInt64(right.header) == LogFormat.number(segment, at: offset, count: 4),
                UInt64(right.body) == LogFormat.number(segment, at: offset + 4, count: 4)
            else { continue }
            let end = offset + 48 + Int(segment[offset + 45])
            let name = shown(Array(segment[offset + 48..<end]))
            let commit = LogFormat.number(segment, at: offset + 24, count: 8)
            let payload = Int(LogFormat.number(segment, at: offset + 40, count: 4))
            records.insert("\(name) \(commit) \(Array(segment[end..<end + payload]))")
        }
        return records
    }

    /// Whether a recovery passes the checkpoint to its end, and `reader` takes it; whether the log goes on does not matter.
    static func accepts(_ disk: SimulatedLogStorage, _ reader: RecoveryReader) -> Bool {
        var (isCheckpoint, isWhole) = (false, false)
        do throws(LogError) {
            try LogLook.run(disk, needs: { _, _ in true }) { step throws(RecoveryRefusal) in
                try reader(step)
                switch step {
                case .checkpointBegan(let info): isCheckpoint = info != nil
                case .checkpointEnded: isWhole = isCheckpoint
                case .chunk, .record, .skip: break
                }
            }
        } catch {
            return isWhole
        }
        return isWhole
    }

    /// What the check of a new checkpoint accepts, a start accepts, and what it makes of it is written as it was read.
    static func checkReaders(_ disk: SimulatedLogStorage) throws {
        let (checker, state) = (StateChecker(), StateReader(policy))
        guard accepts(disk, checker.take) else { return }
        try check(accepts(disk, state.take), "a start refuses what the check accepts")
        let written = content(of: state.engine)
        let other = DatabaseEngine(policy)
        var decoder = CheckpointDecoder()
        try decoder.feed(written) { snapshot throws(CommitDecodingError) in
            try other.restore(snapshot)
        }
        try decoder.finish()
        try check(content(of: other) == written, "its state changes when it is read back")
    }
}
