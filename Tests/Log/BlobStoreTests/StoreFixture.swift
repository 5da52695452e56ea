import FileProtocol
import JSONTree
import SimulatedStorage
import TestSupport

@testable import BlobStore

/// Bytes of no pattern, the same for a number each time.
func noise(_ number: UInt64, _ count: Int) -> [UInt8] {
    var random = SeededGenerator(seed: number)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
        let word = random.next()
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> shift))
        }
    }
    bytes.removeLast(bytes.count - count)
    return bytes
}

/// The sums of bytes, made at once.
func sums(_ bytes: [UInt8]) -> BlobSums {
    let running = RunningSums()
    bytes.withUnsafeBytes { running.append($0) }
    return running.sums
}

/// A session that has received so many bytes.
func session(
    received: Int,
    state: String = "",
    created: Int64 = 0
) throws -> UploadSession {
    let text = """
        {"v":1,"dialect":"client","bucket":"bucket","name":"a.txt","limit":1099511627776,\
        "created":\(created),"received":\(received)\(state)}
        """
    return try UploadSession(json: Array(text.utf8))
}

let cancelled = #","state":"cancelled""#
let final = #","state":"final","status":200,"body":"{}""#

/// A store on a simulated disk.
struct Store {
    let disk: SimulatedLogStorage
    var folder: BlobFolder

    init(seed: UInt64 = 1, capacity: UInt64 = .max / 2) throws(BlobError) {
        disk = SimulatedLogStorage(seed: seed, capacity: capacity)
        folder = BlobFolder(disk)
        try folder.prepare()
    }

    var uploads: UploadFolder { folder.uploads }
    var blobs: LocalBlobs { folder.blobs }

    /// The server ends, and another begins.
    mutating func restart(afterPowerCut: Bool, now: Timestamp) throws(BlobError) -> LoadedUploads {
        if afterPowerCut { disk.restart() } else { disk.kill() }
        folder = BlobFolder(disk)
        try folder.prepare()
        return try folder.uploads.load(now: now)
    }

    /// A blob of its own, with no upload left.
    func keep(_ bytes: [UInt8]) throws(BlobError) -> BlobHash {
        let draft = try uploads.create(uploads.newID())
        try draft.append(bytes[...])
        let sums = try draft.seal()
        _ = try blobs.adopt(draft)
        try uploads.removeBytes(of: draft.id)
        return sums.hash
    }
}

/// A whole blob.
func read(_ hash: BlobHash, in blobs: any Blobs) throws(BlobError) -> [UInt8] {
    let reader = try blobs.open(hash)
    defer { reader.close() }
    return try reader.read(at: 0, count: Int(reader.byteCount) + 1)
}

extension Timestamp {
    static let start = Timestamp(milliseconds: 0)

    static func hours(_ count: Int64) -> Timestamp { Timestamp(milliseconds: count * 3_600_000) }
}
