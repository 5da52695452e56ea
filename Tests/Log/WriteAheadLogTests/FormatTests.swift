import Foundation
import SimulatedStorage
import TestSupport
import Testing

@testable import WriteAheadLog

/// Bytes computed by another program from the drawing in docs/internals/LOG_FORMAT.md.
private struct FormatSpec: Decodable {
    struct Record: Decodable, CustomTestStringConvertible {
        let what: String
        let folderID: String
        let first: UInt64
        let kind: String
        let position: UInt64
        let durableThrough: UInt64
        let commit: UInt64
        let time: Int64
        let name: String
        let payload: String
        let bytes: String
        var testDescription: String { what }

        var header: RecordHeader? {
            let kinds = ["commit": RecordKind.commit, "seal": .seal, "skip": .skip]
            return kinds[kind].map { kind in
                RecordHeader(
                    kind: kind,
                    position: LogPosition(position),
                    durableThrough: LogPosition(durableThrough),
                    commit: commit,
                    time: time,
                    nameByteCount: name.utf8.count / 2,
                    payloadByteCount: payload.utf8.count / 2,
                )
            }
        }

        var salt: UInt32 { checksumSalt(folderID: id(folderID), position: LogPosition(first)) }
    }

    struct SegmentHeader: Decodable {
        let folderID: String
        let first: UInt64
        /// Missing in headers of older servers.
        let preallocatedByteCount: UInt64?
        let bytes: String
    }

    struct ClosedEnd: Decodable {
        let folderID: String
        let segment: UInt64
        let byteCount: UInt64
        let position: UInt64
        let text: String
    }

    struct Chunk: Decodable {
        let folderID: String
        let position: UInt64
        let index: UInt64
        let payload: String
        let bytes: String
    }

    struct Manifest: Decodable {
        struct Head: Decodable {
            let database: String
            let commit: UInt64
        }
        let folderID: String
        let position: UInt64
        let chunkCount: UInt64
        let byteCount: UInt64
        let heads: [Head]
        let bytes: String
    }

    struct FormatFile: Decodable {
        let folderID: String
        let text: String
    }

    let records: [Record]
    let segmentHeaders: [SegmentHeader]
    let closedEnds: [ClosedEnd]
    let chunks: [Chunk]
    let manifests: [Manifest]
    let formatFiles: [FormatFile]

    static func load() throws -> FormatSpec {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Specs/format.json")
        return try JSONDecoder().decode(FormatSpec.self, from: Data(contentsOf: file))
    }
}

private func id(_ hex: String) -> UInt64 { UInt64(hex, radix: 16) ?? 0 }

private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
    }
}

private let checksumVectors: [([UInt8], UInt32)] = [
    (Array("123456789".utf8), 0xE306_9283),
    ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
    ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
    ([UInt8](0..<32), 0x46DD_794E),
    ([UInt8]((0..<32).reversed()), 0x113F_DB5C),
    ([], 0),
]

@Suite("the formats are byte for byte what is drawn")
struct FormatTests {
    @Test("a record has exactly the drawn bytes and reads back")
    func records() throws {
        let spec = try FormatSpec.load()
        #expect(spec.records.count == 7)
        for record in spec.records {
            let header = try #require(record.header)
            let buffer = ByteBuffer(capacity: 16)
            bytes(record.payload).withUnsafeBytes { payload in
                RecordFormat.append(
                    header,
                    name: bytes(record.name),
                    payload: payload,
                    salt: record.salt,
                    to: buffer,
                )
            }
            #expect(Array(buffer.bytes) == bytes(record.bytes), "\(record.what)")
            let reading = RecordFormat.readHeader(buffer.bytes, salt: record.salt)
            #expect(reading == .header(header), "\(record.what)")
            #expect(RecordFormat.isBodyIntact(buffer.bytes), "\(record.what)")
        }
    }

    @Test("a record under another salt is broken")
    func salt() throws {
        let record = try #require(try FormatSpec.load().records.first)
        bytes(record.bytes).withUnsafeBytes { bytes in
            #expect(RecordFormat.readHeader(bytes, salt: record.salt ^ 1) == .broken)
        }
    }

    @Test("every flipped bit of a record is noticed")
    func flippedBits() throws {
        let record = try #require(try FormatSpec.load().records.first)
        let header = try #require(record.header)
        let whole = bytes(record.bytes)
        for bit in 0..<whole.count * 8 {
            var flipped = whole
            flipped[bit / 8] ^= 1 << (bit % 8)
            flipped.withUnsafeBytes { bytes in
                let reading = RecordFormat.readHeader(bytes, salt: record.salt)
                let isTaken = reading == .header(header) && RecordFormat.isBodyIntact(bytes)
                #expect(!isTaken, "bit \(bit)")
            }
        }
    }

    @Test("a segment header has exactly the drawn bytes and reads back")
    func segmentHeaders() throws {
        for spec in try FormatSpec.load().segmentHeaders {
            let header = SegmentHeader(
                folderID: id(spec.folderID),
                first: LogPosition(spec.first),
                preallocatedByteCount: spec.preallocatedByteCount ?? 0,
            )
            let buffer = ByteBuffer()
            header.append(to: buffer)
            #expect(Array(buffer.bytes) == bytes(spec.bytes))
            #expect(try SegmentHeader.read(buffer.bytes, file: "x") == header)
        }
    }

    @Test("the end of a closed log has exactly the drawn text, and no other text is one")
    func closedEnds() throws {
        for spec in try FormatSpec.load().closedEnds {
            let end = ClosedEnd(
                segment: LogPosition(spec.segment),
                byteCount: spec.byteCount,
                position: LogPosition(spec.position),
            )
            let text = Array(spec.text.utf8)
            #expect(end.text(folderID: id(spec.folderID)) == text)
            func read(_ text: [UInt8], _ folderID: UInt64) throws -> ClosedEnd? {
                let storage = try SimulatedLogStorage.holding(["log/closed": text])
                return try ClosedEnd.read(LogFolder(storage: storage, id: folderID))
            }
            #expect(try read(text, id(spec.folderID)) == end)
            #expect(throws: LogError.self) { try read(text, id(spec.folderID) ^ 1) }
            for place in text.indices {
                var changed = text
                changed[place] ^= 1
                #expect(throws: LogError.self) { try read(changed, id(spec.folderID)) }
                #expect(throws: LogError.self) {
                    try read(Array(text[..<place]), id(spec.folderID))
                }
            }
        }
    }

    @Test("a checkpoint's chunk has exactly the drawn bytes")
    func chunks() throws {
        for spec in try FormatSpec.load().chunks {
            let buffer = ByteBuffer()
            let position = LogPosition(spec.position)
            bytes(spec.payload).withUnsafeBytes { payload in
                CheckpointChunk.append(
                    payload,
                    index: spec.index,
                    salt: checksumSalt(folderID: id(spec.folderID), position: position),
                    to: buffer,
                )
            }
            #expect(Array(buffer.bytes) == bytes(spec.bytes))
        }
    }

    @Test("a manifest has exactly the drawn bytes and reads back")
    func manifests() throws {
        for spec in try FormatSpec.load().manifests {
            let info = CheckpointInfo(
                position: LogPosition(spec.position),
                heads: try spec.heads.map {
                    LogHead(database: try LogDatabaseName($0.database), commit: $0.commit)
                },
                chunkCount: spec.chunkCount,
                byteCount: spec.byteCount,
            )
            let buffer = CheckpointManifest.encode(info, folderID: id(spec.folderID))
            #expect(Array(buffer.bytes) == bytes(spec.bytes))
            let decoded = try CheckpointManifest.decode(
                buffer.bytes,
                file: "x",
                folderID: id(spec.folderID),
                position: info.position,
            )
            #expect(decoded == info)
        }
    }

    @Test("a FORMAT file has exactly the drawn text and reads back")
    func formatFiles() throws {
        for spec in try FormatSpec.load().formatFiles {
            #expect(FormatFile.text(id: id(spec.folderID)) == Array(spec.text.utf8))
            #expect(try FormatFile.id(in: Array(spec.text.utf8)) == id(spec.folderID))
        }
    }

    @Test("the checksum is CRC-32C as RFC 3720 has it", arguments: checksumVectors)
    func checksumVector(input: [UInt8], expected: UInt32) {
        #expect(input.withUnsafeBytes { CRC32C.update(0, $0) } == expected)
    }

    @Test("a checksum continued at any place is the checksum of the whole")
    func checksumComposes() {
        var random = TestSeed.generator(3)
        let input = (0..<100).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        input.withUnsafeBytes { input in
            let whole = CRC32C.update(0, input)
            for cut in 0...input.count {
                let first = UnsafeRawBufferPointer(rebasing: input[..<cut])
                let rest = UnsafeRawBufferPointer(rebasing: input[cut...])
                #expect(CRC32C.update(CRC32C.update(0, first), rest) == whole, "cut at \(cut)")
            }
        }
    }
}
