package import JSONTree
import SecurityRules

/// One commit as the log keeps it: the change of the database, never the request.
package struct CommitRecord: Sendable {
    package let database: DatabaseID
    package let number: CommitNumber
    package let time: Timestamp
    private let contents: CommitPayload

    package init(database: DatabaseID, number: CommitNumber, time: Timestamp, payload: [UInt8]) {
        self.init(database, number, time, .bytes(payload))
    }

    init(
        _ database: DatabaseID,
        _ number: CommitNumber,
        _ time: Timestamp,
        _ contents: CommitPayload
    ) {
        self.database = database
        self.number = number
        self.time = time
        self.contents = contents
    }

    /// The operations, encoded by `CommitOperation`. Any thread; a large commit is encoded here and
    /// now, at about a gigabyte a second, into memory of its own.
    package var payload: [UInt8] { contents.encoded() }

    /// The payload of a large commit, to be made while it is written; nil where it is encoded already.
    package var pieces: CommitPieces? { contents.pieces }

    /// Bytes that a record of the log has beside the payload, at most: 48, the database's name, padding.
    static let overheadByteCount = 120

    /// Bytes of the payload.
    package var payloadByteCount: Int { contents.byteCount }
}

/// The operations of a commit on their way to the log: encoded, or in pieces where encoding them at once would
/// block the loop.
enum CommitPayload: Sendable {
    case bytes([UInt8])
    case pieces(CommitPieces)

    /// Bytes up to which operations are encoded at once: a fraction of a millisecond.
    private static let encodedAtOnce = 256 * 1024

    init(_ operations: [CommitOperation]) {
        let pieces = CommitPieces(operations)
        if let pieces, pieces.byteCount > CommitPayload.encodedAtOnce {
            self = .pieces(pieces)
        } else {
            self = .bytes(CommitEncoder.encode(operations))
        }
    }

    /// Bytes of the encoding.
    var byteCount: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .pieces(let pieces): pieces.byteCount
        }
    }

    var pieces: CommitPieces? {
        guard case .pieces(let pieces) = self else { return nil }
        return pieces
    }

    func encoded() -> [UInt8] {
        switch self {
        case .bytes(let bytes): return bytes
        case .pieces(var pieces):
            var bytes: [UInt8] = []
            bytes.reserveCapacity(pieces.byteCount)
            while pieces.next(into: &bytes) {}
            return bytes
        }
    }
}

/// One change of a database's durable state. A commit is a list of these, applied in order.
///
///     payload   := 01 operation*                       01 is the version
///     operation := 01 target node                      the node there is now exactly this
///                | 02 text                             rules of its own
///                | 03                                  the default rules again
///                | 04 session identity                 on whose behalf its on-disconnect writes run
///                | 05 session target draft             an on-disconnect write
///                | 06 session target                   forgets those at and below the target
///                | 07 session                          the session has ended
///                | 08 text text                        a setting: its name, its text; none takes it back
///     session, text := length:varint utf8
///     target    := 00 | 01 (priority) then text, the path
///     node      := length:varint encoding              nothing when absent
///     draft     := node count:varint (target node value)*   the node is the priority beside the value
///                  count:varint (target node)*         priorities of maps of server values alone
///     value     := 00 timestamp | 01 node, an increment
///     identity  := 00 admin | 01 signed out | 02 node        the node's keys may be any text: claims
///
/// A varint holds seven bits a byte, lowest first; the last byte is below 80.
enum CommitOperation: Sendable {
    case write(WriteTarget, Node)
    case setRules(String)
    case detachRules
    case identify(SessionID, Identity)
    case onDisconnect(SessionID, WriteTarget, Draft)
    case cancelOnDisconnect(SessionID, WriteTarget)
    case endSession(SessionID)
    case setting(name: String, text: String)
}

/// Why a commit from the log cannot be read; the log's checksums rule out damage.
package enum CommitDecodingError: Error, Sendable, Equatable {
    case unknownVersion(UInt8)
    case unknownOperation(UInt8, offset: Int)
    case truncated(offset: Int)
    case badText(offset: Int)
    case badPath(offset: Int)
    case badNode(offset: Int)
    case badRules
    /// A setting that this server does not know.
    case badSetting(name: String)
    /// A commit does not follow the one before it.
    case gap(expected: CommitNumber, found: CommitNumber)

    /// Whether a later version of the server may have written it.
    package var isOfAnotherVersion: Bool {
        switch self {
        case .unknownVersion, .unknownOperation, .badSetting: true
        case .truncated, .badText, .badPath, .badNode, .badRules, .gap: false
        }
    }
}

extension CommitDecodingError: CustomStringConvertible {
    /// The clause for people; offsets count from the start of the payload.
    package var description: String {
        switch self {
        case .unknownVersion(let version): "version \(version) is not known to this server"
        case .unknownOperation(let number, let offset):
            "operation \(number) at byte \(offset) is not known to this server"
        case .truncated(let offset): "it ends too early, at byte \(offset)"
        case .badText(let offset): "the text at byte \(offset) is not UTF-8"
        case .badPath(let offset): "the path at byte \(offset) is not one"
        case .badNode(let offset): "the value at byte \(offset) is not well formed"
        case .badRules: "its rules do not load"
        case .badSetting(let name):
            "the setting '\(name)' does not follow those before it, or is not known to this server"
        case .gap(let expected, let found):
            "commit \(found.value) stands where commit \(expected.value) belongs"
        }
    }
}

/// Writes operations as a payload.
struct CommitEncoder {
    /// The version of a payload.
    static let version: UInt8 = 1

    private(set) var bytes: [UInt8] = []

    init(version: UInt8 = CommitEncoder.version) {
        // Enough for most commits.
        bytes.reserveCapacity(256)
        bytes.append(version)
    }

    /// Takes the bytes of a payload that was begun, to be given back with more.
    init(continuing bytes: inout [UInt8]) {
        swap(&self.bytes, &bytes)
    }

    mutating func giveBack(to bytes: inout [UInt8]) {
        swap(&self.bytes, &bytes)
    }

    static func encode(_ operations: [CommitOperation]) -> [UInt8] {
        var encoder = CommitEncoder()
        for operation in operations { encoder.append(operation) }
        return encoder.bytes
    }

    /// Bytes of a node in a payload, its length not counted.
    static func byteCount(of node: Node) -> Int { node.isAbsent ? 0 : node.encodingByteCount }

    static func varintByteCount(_ value: Int) -> Int {
        max(1, (Int.bitWidth - value.leadingZeroBitCount + 6) / 7)
    }

    /// Appends a write up to its node, whose bytes are to follow.
    mutating func appendWrite(_ target: WriteTarget, nodeByteCount: Int) {
        bytes.append(1)
        append(target)
        append(varint: nodeByteCount)
    }

    mutating func append(_ operation: CommitOperation) {
        switch operation {
        case .write(let target, let node):
            bytes.append(1)
            append(target)
            append(node)
        case .setRules(let text):
            bytes.append(2)
            append(text)
        case .detachRules:
            bytes.append(3)
        case .identify(let session, let identity):
            bytes.append(4)
            append(session.text)
            append(identity)
        case .onDisconnect(let session, let target, let draft):
            bytes.append(5)
            append(session.text)
            append(target)
            append(draft)
        case .cancelOnDisconnect(let session, let target):
            bytes.append(6)
            append(session.text)
            append(target)
        case .endSession(let session):
            bytes.append(7)
            append(session.text)
        case .setting(let name, let text):
            bytes.append(8)
            append(name)
            append(text)
        }
    }

    mutating func append(varint value: Int) {
        var rest = UInt64(value)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func append(_ text: String) {
        append(varint: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append(_ target: WriteTarget) {
        bytes.append(target.isPriority ? 1 : 0)
        append(varint: target.path.wireByteCount)
        target.path.appendWireText(to: &bytes)
    }

    private mutating func append(_ node: Node) {
        if node.isAbsent {
            append(varint: 0)
            return
        }
        let byteCount = node.encodingByteCount
        append(varint: byteCount)
        let start = bytes.count
        node.appendEncoding(to: &bytes)
        precondition(bytes.count - start == byteCount, "a node is as long as it says")
    }

    mutating func append(_ identity: Identity) {
        switch identity {
        case .admin: bytes.append(0)
        case .user(nil): bytes.append(1)
        case .user(let auth?):
            bytes.append(2)
            append(auth.value)
        }
    }

    mutating func append(_ draft: Draft) {
        append(draft.node)
        append(varint: draft.serverValues.count)
        for entry in draft.serverValues {
            append(entry.target)
            append(entry.priority)
            switch entry.value {
            case .timestamp: bytes.append(0)
            case .increment(let number):
                bytes.append(1)
                append(number)
            }
        }
        append(varint: draft.priorities.count)
        for entry in draft.priorities {
            append(WriteTarget(path: entry.path))
            append(entry.priority)
        }
    }
}

/// Reads a payload; checks every length, path and node.
struct CommitDecoder {
    private let bytes: [UInt8]
    private var offset = 1
    private let passesOverNodes: Bool
    let version: UInt8

    /// Begins behind the version, which must be known.
    init(
        checking bytes: [UInt8],
        versions: ClosedRange<UInt8> = 1...1,
        passesOverNodes: Bool = false
    ) throws(CommitDecodingError) {
        guard let version = bytes.first else { throw .truncated(offset: 0) }
        guard versions.contains(version) else { throw .unknownVersion(version) }
        self.bytes = bytes
        self.passesOverNodes = passesOverNodes
        self.version = version
    }

    var isAtEnd: Bool { offset == bytes.count }

    /// The operations; each node is absent where nodes are passed over.
    static func decode(
        _ bytes: [UInt8],
        passesOverNodes: Bool = false
    ) throws(CommitDecodingError) -> [CommitOperation] {
        var decoder = try CommitDecoder(checking: bytes, passesOverNodes: passesOverNodes)
        var operations: [CommitOperation] = []
        while !decoder.isAtEnd { operations.append(try decoder.readOperation()) }
        return operations
    }

    private mutating func readOperation() throws(CommitDecodingError) -> CommitOperation {
        let start = offset
        switch try readByte() {
        case 1: return .write(try readTarget(), try readNode())
        case 2: return .setRules(try readText())
        case 3: return .detachRules
        case 4: return .identify(try readSession(), try readIdentity())
        case 5: return .onDisconnect(try readSession(), try readTarget(), try readDraft())
        case 6: return .cancelOnDisconnect(try readSession(), try readTarget())
        case 7: return .endSession(try readSession())
        case 8: return .setting(name: try readText(), text: try readText())
        case let tag: throw .unknownOperation(tag, offset: start)
        }
    }

    private mutating func readByte() throws(CommitDecodingError) -> UInt8 {
        guard offset < bytes.count else { throw .truncated(offset: offset) }
        offset += 1
        return bytes[offset - 1]
    }

    mutating func readCount() throws(CommitDecodingError) -> Int {
        var value = 0
        for shift in stride(from: 0, to: 56, by: 7) {
            let byte = try readByte()
            value |= Int(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw .truncated(offset: offset)
    }

    private mutating func readSlice() throws(CommitDecodingError) -> ArraySlice<UInt8> {
        let count = try readCount()
        guard count <= bytes.count - offset else { throw .truncated(offset: offset) }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    mutating func readText() throws(CommitDecodingError) -> String {
        let start = offset
        guard let text = String(validating: try readSlice(), as: UTF8.self) else {
            throw .badText(offset: start)
        }
        return text
    }

    mutating func readSession() throws(CommitDecodingError) -> SessionID {
        SessionID(try readText())
    }

    mutating func readTarget() throws(CommitDecodingError) -> WriteTarget {
        let start = offset
        let isPriority = try readByte() == 1
        do throws(PathError) {
            return WriteTarget(
                path: try Path(utf8: Array(try readTargetPath())),
                isPriority: isPriority
            )
        } catch {
            throw .badPath(offset: start)
        }
    }

    /// The bytes of a path; a length beyond the payload reads as a key that no path can have.
    private mutating func readTargetPath() throws(PathError) -> ArraySlice<UInt8> {
        do throws(CommitDecodingError) { return try readSlice() } catch { throw .emptyKey }
    }

    private mutating func readNode(keys: KeyRule = .legal) throws(CommitDecodingError) -> Node {
        let start = offset
        let range = try readSlice().indices
        if range.isEmpty || passesOverNodes { return .absent }
        do throws(NodeDecodingError) {
            // In place: a node may be most of a large payload.
            return try bytes.withBytes { bytes throws(NodeDecodingError) in
                try Node(decoding: bytes.slice(range), keys: keys)
            }
        } catch {
            throw .badNode(offset: start)
        }
    }

    mutating func readIdentity() throws(CommitDecodingError) -> Identity {
        let start = offset
        switch try readByte() {
        case 0: return .admin
        case 1: return .nobody
        case 2: return .user(AuthVariable(try readNode(keys: .anyText)))
        case let tag: throw .unknownOperation(tag, offset: start)
        }
    }

    mutating func readDraft() throws(CommitDecodingError) -> Draft {
        var draft = Draft(try readNode())
        for _ in 0..<(try readCount()) {
            let target = try readTarget()
            let priority = try readNode()
            let start = offset
            let value: ServerValue
            switch try readByte() {
            case 0: value = .timestamp
            case 1: value = .increment(try readNode())
            case let tag: throw .unknownOperation(tag, offset: start)
            }
            draft.serverValues.append(
                DraftServerValue(target: target, value: value, priority: priority)
            )
        }
        for _ in 0..<(try readCount()) {
            let target = try readTarget()
            draft.priorities.append(DraftPriority(path: target.path, priority: try readNode()))
        }
        return draft
    }
}
