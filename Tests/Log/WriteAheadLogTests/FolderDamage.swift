import Glibc
import SimulatedStorage
import Testing

@testable import WriteAheadLog

/// One file of a followed folder with another content, and what must become of it.
struct FolderDamage {
    /// What must be found.
    enum Finding: Equatable {
        /// All data is there, and no file that is read was changed.
        case nothing
        /// A start is refused, with a fault of this file within this range.
        case refused(String, Range<Int>)
        /// A start cuts a torn end within this range and has so many commits.
        case torn(Int, Range<Int>)
        /// The folder is one that a crash leaves after so many commits: nothing can distinguish them.
        case earlier(Int)
        /// A start uses the checkpoint before, and verification has the fault.
        case checkpoint(String, Range<Int>)
        /// A start does not read the file, and verification has the fault.
        case verified(String, Range<Int>)
    }

    let folder: FollowedFolder
    let file: String
    let content: [UInt8]
    /// The first byte that is another one, or is missing.
    let first: Int

    /// Returns nil when the content is the one that the file has.
    init?(_ folder: FollowedFolder, _ file: String, _ content: [UInt8]) {
        guard let old = folder.files[file], old != content else { return nil }
        self.folder = folder
        self.file = file
        self.content = content
        // The longest beginning that is the same, by halves: loops over bytes are slow in tests.
        var range = 0...min(old.count, content.count)
        while range.lowerBound < range.upperBound {
            let middle = (range.lowerBound + range.upperBound + 1) / 2
            let isSame = memcmp(old, content, middle) == 0
            range = isSame ? middle...range.upperBound : range.lowerBound...middle - 1
        }
        first = range.lowerBound
    }

    // MARK: - What must be found

    var expected: Finding {
        let newest = folder.checkpoints.keys.max() ?? 0
        if file.hasPrefix("checkpoints/") {
            let name = FolderLayout.checkpoint(LogPosition(UInt64(newest)))
            let position = file.hasPrefix(name) ? newest : folder.checkpoints.keys.min() ?? 0
            let chunk = folder.chunks(of: position).first { $0.contains(first) }
            let range = file.hasSuffix("data") ? chunk ?? first..<first + 1 : 0..<1
            return position == newest ? .checkpoint(file, range) : .verified(file, range)
        }
        guard folder.segments.contains(file) else { return .refused(file, 0..<1) }
        let isRead = folder.segments.allSatisfy { other in
            let next = FolderLayout.segment(LogPosition(UInt64(newest + 1)))
            return other <= file || other > next
        }
        let finding = expectedOfSegment
        if !isRead, case .refused(let file, let range) = finding { return .verified(file, range) }
        return finding
    }

    private var expectedOfSegment: Finding {
        guard first >= SegmentHeader.byteCount else { return .refused(file, 0..<1) }
        let (count, part) = firstPart
        let isEmpty = content.dropFirst(part.lowerBound).allSatisfy { $0 == 0 }
        if let next = folder.segments.first(where: { $0 > file }) {
            // Without its last commits a segment looks whole by itself.
            if isEmpty || isEarlierSeal(count, at: part.lowerBound) {
                return isCommit(count) ? .refused(next, 0..<1) : .nothing
            }
            return .refused(file, part)
        }
        if folder.isClosed { return .refused(file, part) }
        let isShort = content.count < min(folder.files[file]?.count ?? 0, 1024)
        if isShort {
            let isSealed = folder.seal(of: file).map { first >= $0.upperBound } ?? false
            return isSealed ? .nothing : .refused(file, part)
        }
        if proves(count, from: part.lowerBound) || isWhole(at: part.lowerBound) {
            return .refused(file, part)
        }
        if isEmpty { return isCommit(count) ? .earlier(count) : .nothing }
        return isEarlierSeal(count, at: part.lowerBound) ? .earlier(count) : .torn(count, part)
    }

    /// What the first changed byte belongs to, and how many commits are before it.
    private var firstPart: (count: Int, range: Range<Int>) {
        for (index, location) in folder.locations.enumerated() where location.file == file {
            if location.range.upperBound > first { return (index, location.range) }
        }
        let count = folder.locations.lastIndex { $0.file <= file }.map { $0 + 1 } ?? 0
        let end = folder.seal(of: file)
        if let end, end.contains(first) { return (count, end) }
        return (count, (end?.upperBound ?? folder.end(of: file))..<first + 1)
    }

    /// Whether the commit after so many is in this file.
    private func isCommit(_ count: Int) -> Bool {
        folder.locations.indices.contains(count) && folder.locations[count].file == file
    }

    /// Whether a whole commit or seal from an offset on says that more than so many commits were durable.
    private func proves(_ count: Int, from offset: Int) -> Bool {
        stride(from: offset, to: content.count - 7, by: 8).contains { start in
            if let sealed = sealed(at: start), sealed > count { return true }
            guard let index = folder.heads[file]?[head(at: start)],
                folder.locations[index].provenCount > count
            else { return false }
            return isWhole(at: start)
        }
    }

    /// Whether a whole commit of the segment stands at an offset, its own or another one.
    private func isWhole(at start: Int) -> Bool {
        guard start + 8 <= content.count, let index = folder.heads[file]?[head(at: start)] else {
            return false
        }
        return hasOriginal(folder.locations[index].range, at: start)
    }

    /// The checksums at the begin of a record.
    private func head(at start: Int) -> UInt64 {
        content.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: UInt64.self) }
    }

    private func hasOriginal(_ range: Range<Int>, at start: Int) -> Bool {
        guard let old = folder.files[file], start + range.count <= content.count else {
            return false
        }
        return content[start..<start + range.count] == old[range]
    }

    /// How many commits the seal at an offset proves; nil without one that the file had at some time.
    private func sealed(at start: Int) -> Int? {
        guard start + sealByteCount <= content.count,
            content[start + 44] == RecordKind.seal.rawValue
        else { return nil }
        return folder.seals[file]?[Array(content[start..<start + sealByteCount])]
    }

    /// Whether the seal of an earlier end is there, with nothing behind it.
    private func isEarlierSeal(_ count: Int, at offset: Int) -> Bool {
        sealed(at: offset) == count
            && content.dropFirst(offset + sealByteCount).allSatisfy { $0 == 0 }
    }

    // MARK: - What is found

    /// The folder with the damage.
    var storage: SimulatedLogStorage {
        get throws {
            var files = folder.files
            files[file] = content
            return try SimulatedLogStorage.holding(files)
        }
    }

    /// Whether verification and a start find what is expected, and nothing is read that was never written.
    func isFound() throws -> Bool {
        let storage = try storage
        let verification = try verify(storage)
        let before = storage.copyFiles()
        let expected = expected
        switch try tryOpening(storage) {
        case .failure(.damage(let damage)):
            guard case .refused(let file, let range) = expected else { return false }
            return damage.file == file && range.contains(Int(damage.offset))
                && has(verification, file, range) && storage.copyFiles() == before
        case .failure(let other): throw other
        case .success(let log):
            return isExpected(log, verification, expected)
        }
    }

    private func isExpected(
        _ log: Recovered,
        _ verification: LogVerification?,
        _ expected: Finding
    ) -> Bool {
        guard let state = folder.state(log) else { return false }
        let isWhole = state == folder.entries
        let isPlain = log.report.torn == nil && log.report.damagedCheckpoints.isEmpty
        let isSound = verification?.isSound == true
        switch expected {
        case .refused: return false
        case .nothing: return isWhole && isPlain && isSound
        case .earlier(let count):
            return state == Array(folder.entries[..<count]) && isPlain && isSound
        case .torn(let count, let range):
            guard let torn = log.report.torn, state == Array(folder.entries[..<count]) else {
                return false
            }
            return isSound && torn.file == file && range.contains(Int(torn.offset))
                && torn.from == LogPosition(UInt64(count + 1))
                && verification?.notes.contains(torn.description) == true
        case .checkpoint(let file, let range):
            guard let damage = log.report.damagedCheckpoints.first else { return false }
            return isWhole && damage.file == file && range.contains(Int(damage.offset))
                && has(verification, file, range)
        case .verified(let file, let range):
            return isWhole && isPlain && has(verification, file, range)
        }
    }

    /// What verification says; nil where the folder's id cannot be read, which a start says too.
    private func verify(_ storage: SimulatedLogStorage) throws -> LogVerification? {
        try LogVerification.run(storage)
    }

    private func has(
        _ verification: LogVerification?,
        _ file: String,
        _ range: Range<Int>
    ) -> Bool {
        verification?.faults.contains { $0.file == file && range.contains(Int($0.offset)) } == true
    }

    // MARK: - What a salvage brings back

    /// What is wrong with a salvage: it leaves out a commit that is still there and proven, or has another one.
    func salvageFault() throws -> String? {
        let target = SimulatedLogStorage(seed: 91)
        let salvage = try LogSalvage.run(from: try storage, to: target, options: smallOptions)
        let copy = try openLog(target)
        guard let state = folder.state(copy) else { return "another checkpoint" }
        let commits = Set(state.map { "\($0.database) \($0.commit)" })
        let known = folder.entries.filter { commits.contains("\($0.database) \($0.commit)") }
        guard state == known else { return "a commit that was never written" }
        let kept = keptCount
        let covered = Int(copy.report.checkpoint?.position.value ?? 0)
        for (index, location) in folder.locations.enumerated() where index < kept {
            let isThere =
                location.file != file || index < covered
                || hasOriginal(location.range, at: location.range.lowerBound)
            let entry = folder.entries[index]
            guard isThere, !commits.contains("\(entry.database) \(entry.commit)") else { continue }
            return "without commit \(index + 1): \(salvage)"
        }
        // A hole that begins in what is proven does not end the log, and what a checkpoint covers is not behind it.
        let isEnd = kept == 0 || state.contains(folder.entries[kept - 1])
        let uncovered = folder.entries[max(kept, min(covered, folder.entries.count))...]
        if isEnd, isGone(kept), uncovered.contains(where: state.contains),
            !isWhole(at: firstPart.range.lowerBound)
        {
            return "with what is behind a hole in a batch that nothing proves: \(salvage)"
        }
        let isExplained =
            state.count == folder.entries.count || kept < folder.entries.count
            || !salvage.isComplete
        return isExplained ? nil : "says that nothing is lost: \(salvage)"
    }

    /// Whether a commit stands nowhere in the file.
    private func isGone(_ index: Int) -> Bool {
        !stride(from: 0, to: content.count - 7, by: 8).contains { start in
            folder.heads[file]?[head(at: start)] == index && isWhole(at: start)
        }
    }

    /// How many commits, from the first on, are not behind a hole in a batch that nothing proves.
    private var keptCount: Int {
        switch expected {
        case .torn(let count, _), .earlier(let count): return count
        default: break
        }
        guard file == folder.segments.last, !folder.isClosed else { return folder.entries.count }
        return folder.locations.indices.first { index in
            let location = folder.locations[index]
            return location.file == file
                && !hasOriginal(location.range, at: location.range.lowerBound)
                && !proves(index, from: SegmentHeader.byteCount)
        } ?? folder.entries.count
    }
}
