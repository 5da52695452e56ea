import SimulatedStorage
import TestSupport

@testable import WriteAheadLog

/// A data folder of which a test knows what each byte belongs to, and every earlier version of each file.
struct FollowedFolder {
    /// Where a commit stands.
    struct Location {
        let file: String
        let range: Range<Int>
        /// How many commits came before the batch of this one: those that it proves durable.
        let provenCount: Int
    }

    let files: [String: [UInt8]]
    let entries: [Entry]
    let locations: [Location]
    /// The checkpoints, by their position, with the chunks that were written.
    let checkpoints: [Int: [[UInt8]]]
    /// Contents that each file had, oldest first.
    let versions: [String: [[UInt8]]]
    /// The seals that each segment had, with how many commits they prove.
    let seals: [String: [[UInt8]: Int]]
    /// The commits of each segment by the first 8 bytes of their records, which are checksums.
    let heads: [String: [UInt64: Int]]

    /// The segments in their order.
    var segments: [String] { files.keys.filter { $0.hasSuffix(".log") }.sorted() }
    var isClosed: Bool { files["log/closed"] != nil }

    /// What a recovery gave, as commits; nil when a checkpoint has other chunks than it was given.
    func state(_ log: Recovered) -> [Entry]? {
        guard let position = log.report.checkpoint?.position.value else { return log.entries }
        guard log.chunks == checkpoints[Int(position)] else { return nil }
        return Array(entries[..<Int(position)]) + log.entries
    }

    /// Where the commits of a segment end.
    func end(of segment: String) -> Int {
        locations.last { $0.file == segment }?.range.upperBound ?? SegmentHeader.byteCount
    }

    /// The seal of a segment, if it has one.
    func seal(of segment: String) -> Range<Int>? {
        let range = end(of: segment)..<end(of: segment) + sealByteCount
        guard let content = files[segment], range.upperBound <= content.count else { return nil }
        return content[range].contains { $0 != 0 } ? range : nil
    }

    /// The byte ranges of a checkpoint's chunks.
    func chunks(of position: Int) -> [Range<Int>] {
        var start = 0
        return (checkpoints[position] ?? []).map { payload in
            defer { start += CheckpointChunk.byteCount(payload: payload.count) }
            return start..<start + CheckpointChunk.byteCount(payload: payload.count)
        }
    }
}

/// Writes a data folder and follows what it writes.
final class FolderAuthor {
    private let storage = SimulatedLogStorage(seed: 90)
    private let options: LogOptions
    private var log: Recovered
    private var batches: [[Entry]] = []
    private var checkpoints: [Int: [[UInt8]]] = [:]
    private var versions: [String: [[UInt8]]] = [:]

    init(segmentByteCount: Int = 1024) throws {
        options = LogOptions(segmentByteCount: segmentByteCount, reserveByteCount: 0)
        log = try openLog(storage, options)
    }

    /// Appends one batch: a commit of some database for each size, in pieces where their size is given.
    func append(_ sizes: [(database: String, byteCount: Int)], piecesOf pieces: Int? = nil) throws {
        var batch: [Entry] = []
        for (database, byteCount) in sizes {
            let commit = (batches + [batch]).joined().count { $0.database == database } + 1
            batch += entries([byteCount], of: database, after: UInt64(commit - 1))
        }
        _ = try log.writer.append(batch.map { try $0.record(piecesOf: pieces) })
        batches.append(batch)
        keep()
    }

    func seal() throws {
        try log.writer.maintain()
        try log.writer.seal()
        keep()
    }

    func checkpoint(_ chunks: [[UInt8]]) throws {
        try WriteAheadLogTests.checkpoint(chunks, log)
        checkpoints[Int(log.writer.position.value)] = chunks
    }

    func close() throws {
        try log.writer.close()
    }

    /// Starts again, after a kill or after `close`.
    func restart() throws {
        log.folder.close()
        log = try openLog(storage, options)
    }

    /// The folder as it is now; what is done later does not reach it.
    func folder() -> FollowedFolder {
        var files = storage.copyFiles()
        // A start writes both anew.
        files["LOCK"] = nil
        files["log/spare"] = nil
        let starts = files.keys.filter { $0.hasSuffix(".log") }.sorted()
        var locations: [FollowedFolder.Location] = []
        var ends: [String: Int] = [:]
        for batch in batches {
            let provenCount = locations.count
            for entry in batch {
                let name = FolderLayout.segment(LogPosition(UInt64(locations.count + 1)))
                let file = starts.last { $0 <= name } ?? "gone"
                let start = ends[file] ?? SegmentHeader.byteCount
                let end =
                    start
                    + RecordHeader.recordByteCount(
                        name: entry.database.utf8.count,
                        payload: entry.payload.count,
                    )
                ends[file] = end
                locations.append(.init(file: file, range: start..<end, provenCount: provenCount))
            }
        }
        return FollowedFolder(
            files: files,
            entries: Array(batches.joined()),
            locations: locations,
            checkpoints: checkpoints,
            versions: versions,
            seals: seals(locations),
            heads: heads(locations, files),
        )
    }

    private func heads(
        _ locations: [FollowedFolder.Location],
        _ files: [String: [UInt8]]
    ) -> [String: [UInt64: Int]] {
        var heads: [String: [UInt64: Int]] = [:]
        for (index, location) in locations.enumerated() {
            let head = files[location.file]?.withUnsafeBytes { bytes in
                bytes.loadUnaligned(fromByteOffset: location.range.lowerBound, as: UInt64.self)
            }
            if let head { heads[location.file, default: [:]][head] = index }
        }
        return heads
    }

    private func seals(_ locations: [FollowedFolder.Location]) -> [String: [[UInt8]: Int]] {
        var seals: [String: [[UInt8]: Int]] = [:]
        for (index, location) in locations.enumerated() {
            let range = location.range.upperBound..<location.range.upperBound + sealByteCount
            for version in versions[location.file] ?? [] where version.count >= range.upperBound {
                guard version[range.lowerBound + 44] == RecordKind.seal.rawValue else { continue }
                seals[location.file, default: [:]][Array(version[range])] = index + 1
            }
        }
        return seals
    }

    private func keep() {
        for (file, content) in storage.copyFiles() where versions[file]?.last != content {
            versions[file, default: []].append(content)
        }
    }
}

extension FollowedFolder {
    /// Small folders, for every bit and every cut: how their log ends, and what is before that.
    enum Small: CaseIterable {
        /// Batches of one and of many commits of three databases, one in pieces, closed in good order.
        case closed
        /// The same, killed while no batch waited.
        case sealed
        /// The same, killed during a batch of several commits.
        case unsealed
        /// The last batch fills a segment, and nothing follows.
        case full
        /// The last batch fills a segment, and the next segment is there.
        case fullAndProven
        /// Two checkpoints of several chunks, and segments before, between and behind.
        case checkpoints
        /// Killed, started, closed, started and written again: a segment for each run.
        case runs

        func make() throws -> FollowedFolder {
            let author = try FolderAuthor()
            try author.append([("a", 5)])
            if self == .checkpoints {
                try author.append([("b", 300), ("a", 300)])
                try author.checkpoint([[1], Array(0...40), [], [UInt8](repeating: 7, count: 60)])
                try author.append([("b", 20), ("a", 500), ("b", 0)])
                try author.checkpoint([[UInt8](repeating: 9, count: 33), [2, 3]])
            }
            try author.append([("a", 0), ("name-of-another", 40), ("a", 33)])
            try author.seal()
            if self == .runs {
                try author.restart()
                try author.append([("b", 8)])
                try author.close()
                try author.restart()
            }
            try author.append([("b", 70)], piecesOf: 16)
            if self == .full || self == .fullAndProven {
                try author.append([("a", 400), ("b", 700)])
            } else {
                try author.append([("b", 1), ("a", 60), ("b", 2)])
            }
            if self == .sealed || self == .fullAndProven { try author.seal() }
            if self == .closed { try author.close() }
            return author.folder()
        }
    }

    /// Larger ones, of several blocks in each file, whose sizes the seed of the run draws.
    static func large(_ number: UInt64, isClosed: Bool, isSealed: Bool) throws -> FollowedFolder {
        var random = TestSeed.generator(number)
        let author = try FolderAuthor(segmentByteCount: 6 * 4096)
        for step in 0..<40 {
            let count = random.index(4) == 0 ? 5 : 1
            try author.append(
                (0..<count).map { _ in
                    (["a", "b", "c"][random.index(3)], random.index(random.index(3000) + 1))
                },
                piecesOf: random.index(3) == 0 ? 700 : nil,
            )
            if random.index(2) == 0 { try author.seal() }
            if step == 20 || step == 30 {
                try author.checkpoint(
                    (0..<6).map { index in
                        (0..<random.index(6000)).map {
                            UInt8(truncatingIfNeeded: $0 &* 31 &+ index)
                        }
                    }
                )
            }
        }
        if isSealed { try author.seal() }
        if isClosed { try author.close() }
        return author.folder()
    }
}
