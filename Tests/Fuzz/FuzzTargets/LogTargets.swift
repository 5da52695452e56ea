import DatabaseCore
import SimulatedStorage
import StateRecovery
import WriteAheadLog

extension FuzzTarget {
    /// A segment of any bytes: a start gives records with right checksums alone, the same ones each time, and a salvage
    /// leaves a folder that starts.
    static let logRecords = FuzzTarget(name: "log-records") { bytes in
        var input = FuzzInput(bytes)
        let repair = RecordRepair(rawValue: input.choice(RecordRepair.allCases.count)) ?? .none
        let unrepaired = input.byte()
        let disk = SimulatedLogStorage(seed: 1)
        let folder = try DataFolder.open(disk, options: FuzzFolder.options)
        let salt = LogFormat.salt(folderID: folder.id, position: 1)
        let records = repair.records(input.rest, salt: salt, butFor: Int(unrepaired))
        let segment = LogFormat.segmentHeader(folderID: folder.id) + records
        try FuzzFolder.write(segment, "log/00000000000000000001.log", disk)
        folder.close()
        try FuzzFolder.checkTools(disk)
        try FuzzFolder.checkStart(disk, segment, salt: salt)
    }

    /// A checkpoint of any content: it is given as it was written, or not at all.
    static let checkpoints = FuzzTarget(name: "checkpoints") { bytes in
        var input = FuzzInput(bytes)
        let isRaw = input.choice(2) == 1
        let damage = Damage(&input)
        let disk = SimulatedLogStorage(seed: 1)
        let folder = try DataFolder.open(disk, options: FuzzFolder.options)
        let archive = try FuzzArchive(&input, id: folder.id)
        var data = archive.chunks
        if isRaw {
            data = input.rest
        } else {
            damage.apply(to: &data)
        }
        try disk.createFolder(FuzzArchive.folder)
        try FuzzFolder.write(data, FuzzArchive.folder + "/data", disk)
        try FuzzFolder.write(archive.manifest, FuzzArchive.folder + "/manifest", disk)
        folder.close()
        try FuzzFolder.checkTools(disk)
        var content: [UInt8] = []
        let isWhole = FuzzFolder.accepts(disk) { step in
            if case .chunk(let chunk) = step { content += chunk }
        }
        if isWhole {
            try check(content == archive.content, "it gives what was not written")
            try check(data == archive.chunks, "it takes a damaged file")
        } else if !isRaw {
            try check(!damage.isNone, "it refuses what was written")
        }
        try FuzzFolder.checkReaders(disk)
    }

    /// An archive in any pieces: whole, as it was written, or an error.
    static let backups = FuzzTarget(name: "backups") { bytes in
        var input = FuzzInput(bytes)
        let isRaw = input.choice(2) == 1
        let damage = Damage(&input)
        let lengths = input.lengths()
        let archive = try FuzzArchive(&input, id: 7)
        var file = archive.bytes
        if isRaw {
            file = input.rest
        } else {
            damage.apply(to: &file)
        }
        let whole = ArchiveOutcome([file])
        let parts = ArchiveOutcome(pieces(of: file, lengths))
        try check(parts == whole, "cut \(lengths) it is \(parts), and whole \(whole)")
        if whole.fault == nil {
            try check(file == archive.bytes || isRaw, "it takes a damaged archive")
            if !isRaw {
                try check(whole.content == archive.content, "it gives what was not written")
            }
        } else if !isRaw {
            try check(file != archive.bytes, "it refuses what was written: \(whole)")
        }
    }
}

/// What the harness puts right in the records of an input.
private enum RecordRepair: Int, CaseIterable {
    case none
    case checksums
    /// Positions and commit numbers too, one after the other.
    case everything

    /// The records, with all put right but for the one of this index.
    func records(_ input: [UInt8], salt: UInt32, butFor left: Int) -> [UInt8] {
        var bytes = input
        guard self != .none else { return bytes }
        var commits: [[UInt8]: UInt64] = [:]
        var (offset, index) = (0, 0)
        while offset + 48 <= bytes.count {
            if self == .everything { number(&bytes, offset, index, &commits) }
            let byteCount = LogFormat.recordByteCount(bytes, at: offset)
            let whole = byteCount ?? bytes.count - offset
            let right = LogFormat.checksums(bytes, at: offset, byteCount: whole, salt: salt)
            if index != left {
                bytes.store(right.header, at: offset)
                bytes.store(right.body, at: offset + 4)
            }
            guard byteCount != nil else { break }
            (offset, index) = (offset + whole, index + 1)
        }
        return bytes
    }

    private func number(
        _ bytes: inout [UInt8],
        _ offset: Int,
        _ index: Int,
        _ commits: inout [[UInt8]: UInt64]
    ) {
        // Lengths that fit the input, and a commit.
        let room = bytes.count - offset - 48
        bytes[offset + 44] = 1
        bytes[offset + 45] = UInt8(1 + Int(bytes[offset + 45]) % 3)
        bytes.store(UInt16(0), at: offset + 46)
        let name = min(Int(bytes[offset + 45]), room)
        let payload = Int(LogFormat.number(bytes, at: offset + 40, count: 4))
        bytes.store(UInt32(payload % (room - name + 1)), at: offset + 40)
        for place in 0..<name { bytes[offset + 48 + place] = 0x61 + bytes[offset + 48 + place] % 2 }
        bytes.store(UInt64(index + 1), at: offset + 8)
        bytes.store(UInt64(index), at: offset + 16)
        let key = Array(bytes[offset + 48..<offset + 48 + name])
        commits[key, default: 0] += 1
        bytes.store(commits[key, default: 0], at: offset + 24)
    }
}

/// One byte of a file that is not as it was written.
private struct Damage {
    private let place: Int
    private let change: UInt8

    init(_ input: inout FuzzInput) {
        place = Int(input.byte()) << 8 | Int(input.byte())
        change = input.byte()
    }

    var isNone: Bool { change == 0 }

    func apply(to bytes: inout [UInt8]) {
        if !bytes.isEmpty { bytes[place % bytes.count] ^= change }
    }
}

/// An archive of content that the input chooses, and the checkpoint of the same.
private struct FuzzArchive {
    static let folder = "checkpoints/00000000000000000005"

    let content: [UInt8]
    let bytes: [UInt8]
    let chunks: [UInt8]
    let manifest: [UInt8]

    init(_ input: inout FuzzInput, id: UInt64) throws {
        let length = 1 + Int(input.byte())
        var heads: [LogHead] = []
        for name in ["demo", "other"].prefix(input.choice(3)) {
            let database = try LogDatabaseName(name)
            heads.append(LogHead(database: database, commit: UInt64(input.byte())))
        }
        content = input.rest
        let header = ArchiveHeader(id: id, time: 5, position: LogPosition(5))
        var writer = try ArchiveWriter(header, heads: heads)
        var (begin, chunks, end): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
        writer.appendHeader(to: &begin)
        for piece in pieces(of: content, [length]) { writer.append(piece[...], to: &chunks) }
        writer.appendTrailer(to: &end)
        bytes = begin + chunks + end
        self.chunks = chunks
        // In front of the trailer stands a chunk without payload.
        manifest = Array(end.dropFirst(16))
    }
}

/// What reading an archive came to.
private struct ArchiveOutcome: Equatable {
    var content: [UInt8] = []
    var events: [String] = []
    var fault: ArchiveError?

    init(_ parts: [[UInt8]]) {
        var reader = ArchiveReader()
        for part in parts {
            let fault = part.withUnsafeBytes { bytes in
                reader.feed(bytes) { event in
                    switch event {
                    case .header(let header): events.append("\(header)")
                    case .chunk(let chunk): content += chunk
                    case .trailer(let info): events.append("\(info)")
                    }
                }
            }
            if let fault {
                self.fault = fault
                return
            }
        }
        fault = reader.finish()
    }
}
