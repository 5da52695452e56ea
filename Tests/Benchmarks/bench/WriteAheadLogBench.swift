import Glibc
import WriteAheadLog

/// The log against the disk it lies on: appends held against bare write + fdatasync in the same run,
/// recovery and checksum on their own.
///
/// Rounds of all cases alternate and the median of each counts, so that a disk that changes its mood
/// does so for everybody. The folder is `HEARTH_BENCH_DIR`, else the working directory.
enum WriteAheadLogBench {
    private static let payload = [UInt8](repeating: 0x78, count: 150)
    private static let roundCount = 7
    private static let roundDuration = Duration.milliseconds(400)

    /// Runs all cases and reports their figures.
    static func run(_ figures: Figures) throws {
        checksum(figures, byteCount: 200)
        checksum(figures, byteCount: 1 << 20)
        let parent = getenv("HEARTH_BENCH_DIR").map { String(cString: $0) } ?? "."
        let folder = "\(parent)/log-bench-\(getpid())"
        guard mkdir(folder, 0o700) == 0 else {
            return print("bench: cannot create \(folder): \(String(cString: strerror(errno)))")
        }
        defer { clear(folder) }
        for batch in [1, 64] { try append(figures, batch: batch, in: folder) }
        try recover(figures, recordCount: 1_000_000, in: folder)
    }

    private static func checksum(_ figures: Figures, byteCount: Int) {
        let bytes = [UInt8](repeating: 7, count: byteCount)
        var crc: UInt32 = 0
        let rounds = (1 << 28) / byteCount
        let start = Figures.threadTime()
        for _ in 0..<rounds { crc = bytes.withUnsafeBytes { CRC32C.update(crc, $0) } }
        let rate = Double(rounds * byteCount) / (Figures.threadTime() - start)
        figures.report("checksum of \(byteCount) bytes (\(crc))", rate, "GB/s")
    }

    // MARK: - Append

    private static func append(_ figures: Figures, batch: Int, in folder: String) throws {
        var bare: [Double] = []
        var reserved: [Double] = []
        var log: [Double] = []
        for round in 0..<roundCount {
            bare.append(bareRate("\(folder)/bare", batch: batch, preallocates: false))
            reserved.append(bareRate("\(folder)/bare", batch: batch, preallocates: true))
            log.append(try logRate("\(folder)/log-\(batch)-\(round)", batch: batch))
        }
        let cases = [
            ("bare write + fdatasync", bare), ("the same, preallocated", reserved),
            ("the log", log),
        ]
        for (name, rates) in cases {
            let median = rates.sorted()[roundCount / 2]
            figures.report("commits in batches of \(batch), \(name)", median, "1/s")
        }
    }

    /// Commits per second that the disk allows: the payloads alone, written and synced by batch.
    private static func bareRate(_ path: String, batch: Int, preallocates: Bool) -> Double {
        let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return .nan }
        defer { close(descriptor) }
        if preallocates {
            guard posix_fallocate(descriptor, 0, 64 << 20) == 0 else { return .nan }
            fsync(descriptor)
        }
        let bytes = [UInt8](repeating: 0x78, count: payload.count * batch)
        var offset: off_t = 0
        let rate = repeatedly {
            guard pwrite(descriptor, bytes, bytes.count, offset) == bytes.count else {
                return false
            }
            offset += off_t(bytes.count)
            return fdatasync(descriptor) == 0
        }
        return rate * Double(batch)
    }

    private static func logRate(_ path: String, batch: Int) throws -> Double {
        let folder = try DataFolder.open(FileLogStorage(path: path))
        let writer = try folder.recover { _ in }.writer
        let name = try LogDatabaseName("default")
        var commit: UInt64 = 0
        var failure: (any Error)?
        let rate = repeatedly {
            let records = (0..<batch).map { index in
                LogRecord(
                    database: name,
                    commit: commit + UInt64(index) + 1,
                    time: 1_700_000_000_000,
                    payload: .bytes(payload),
                )
            }
            commit += UInt64(batch)
            do {
                _ = try writer.append(records)
                try writer.maintain()
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        try writer.close()
        folder.close()
        clear(path)
        return rate * Double(batch)
    }

    // MARK: - Recovery

    private static func recover(
        _ figures: Figures,
        recordCount: Int,
        in parent: String
    ) throws {
        let path = "\(parent)/recover"
        var options = LogOptions()
        options.syncPolicy = .onRequest
        let folder = try DataFolder.open(FileLogStorage(path: path), options: options)
        let writer = try folder.recover { _ in }.writer
        let name = try LogDatabaseName("default")
        for start in stride(from: 0, to: recordCount, by: 1000) {
            let records = (1...1000).map { index in
                LogRecord(
                    database: name,
                    commit: UInt64(start + index),
                    time: 0,
                    payload: .bytes(payload),
                )
            }
            _ = try writer.append(records)
        }
        try writer.sync()
        folder.close()
        let again = try DataFolder.open(FileLogStorage(path: path), options: options)
        var count = 0
        var failure: (any Error)?
        let start = Figures.threadTime()
        let time = ContinuousClock().measure {
            do {
                _ = try again.recover { step in
                    if case .record = step { count += 1 }
                }
            } catch { failure = error }
        }
        if let failure { throw failure }
        again.close()
        let processor = (Figures.threadTime() - start) / Double(count)
        figures.report("recover a record", processor, "ns")
        figures.report("recover \(count) records, by the clock", seconds(time) * 1_000, "ms")
    }

    // MARK: - Measuring

    /// Calls per second over one round; not a number when a call failed.
    private static func repeatedly(_ call: () -> Bool) -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        var count = 0
        while start.duration(to: clock.now) < roundDuration {
            guard call() else { return .nan }
            count += 1
        }
        return Double(count) / seconds(start.duration(to: clock.now))
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    /// Removes a folder with everything in it.
    private static func clear(_ path: String) {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name != ".", name != ".." else { continue }
            if unlink("\(path)/\(name)") != 0 { clear("\(path)/\(name)") }
        }
        closedir(folder)
        rmdir(path)
    }
}
