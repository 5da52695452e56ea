import WriteAheadLog

/// One entry of a replicated log: what its writer built on, and a batch of commits.
///
///     offset size
///      0     4   magic "RTCL"
///      4     1   format, 1
///      5     1   kind: 1 batch, 2 claim, 3 part
///      6     2   flags, 0
///      8     8   epoch of the writer
///     16     8   base: commits of the group before this entry, all databases together
///     24     4   count of commits; 0 for claim and part
///     28     4   payload byte count
///     32     8   node of the writer
///     40     8   incarnation of the writer
///     48     8   number of the entry, counted by its writer
///     56     8   0
///     64    32   chain: SHA-256 of (chain of the valid entry before, bytes 0..<64, payload)
///     96     4   CRC-32C of bytes 0..<96 and the payload
///    100         payload
///
/// Little-endian. Any later format keeps magic, format, payload byte count and checksum where they are, so that an old
/// reader can distinguish an entry of a newer one from a damaged one.
package struct LogEntry: Sendable, Equatable {
    /// What an entry is for.
    package enum Kind: UInt8, Sendable {
        /// Commits: what the parts before it left open, and its payload.
        case batch = 1
        /// Its writer begins the next epoch, in which it alone writes.
        case claim = 2
        /// The beginning, or a middle part, of a commit that is too large for one entry.
        case part = 3
    }

    /// Bytes before the payload.
    package static let headerByteCount = 100
    private static let magic = Array("RTCL".utf8)
    private static let format: UInt8 = 1
    private static let chainOffset = 64
    private static let checksumOffset = 96

    /// What it is for.
    package let kind: Kind
    /// The epoch that its writer owns, or claims.
    package let epoch: UInt64
    /// Commits of the group before it.
    package let base: UInt64
    /// Commits that end in it.
    package let count: UInt32
    /// Who wrote it.
    package let writer: Incarnation
    /// Distinguishes it from other entries of its writer.
    package let number: UInt64
    /// A part of a list of commits (`CommitCoder`); empty for a claim.
    package let payload: [UInt8]

    /// Puts an entry together.
    package init(
        _ kind: Kind,
        epoch: UInt64,
        base: UInt64,
        count: UInt32 = 0,
        writer: Incarnation,
        number: UInt64,
        payload: [UInt8] = []
    ) {
        self.kind = kind
        self.epoch = epoch
        self.base = base
        self.count = count
        self.writer = writer
        self.number = number
        self.payload = payload
    }

    /// Its bytes, and the chain after it, when it follows the valid entry with the chain `chain`.
    package func encoded(after chain: LogChain) -> (bytes: [UInt8], chain: LogChain) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headerByteCount + payload.count)
        bytes += Self.magic
        bytes += [Self.format, kind.rawValue, 0, 0]
        bytes.append(littleEndian: epoch)
        bytes.append(littleEndian: base)
        bytes.append(littleEndian: count)
        bytes.append(littleEndian: UInt32(payload.count))
        bytes.append(littleEndian: writer.node.value)
        bytes.append(littleEndian: writer.number)
        bytes.append(littleEndian: number)
        bytes.append(littleEndian: UInt64(0))
        let next = chain.extended(by: bytes[...], payload[...])
        bytes += next.bytes
        bytes.append(littleEndian: CRC32C.sum(bytes[...], payload[...]))
        bytes += payload
        return (bytes, next)
    }

    /// Decodes an entry.
    ///
    /// - Throws: what is wrong with the bytes: damage, or a format that this server does not know.
    package init(decoding bytes: [UInt8]) throws(EntryFault) {
        var cursor = ByteCursor(bytes, at: Self.magic.count)
        guard bytes.count >= Self.headerByteCount else { throw .tooShort(byteCount: bytes.count) }
        guard bytes.starts(with: Self.magic) else { throw .noEntry }
        let payload = bytes[Self.headerByteCount...]
        func next<Integer: FixedWidthInteger>() -> Integer {
            guard let value = cursor.integer(Integer.self) else {
                preconditionFailure("the length of the header was checked")
            }
            return value
        }
        let (format, kind, flags): (UInt8, UInt8, UInt16) = (next(), next(), next())
        (epoch, base, count) = (next(), next(), next())
        let payloadByteCount: UInt32 = next()
        writer = Incarnation(node: NodeID(next()), number: next())
        number = next()
        let reserved: UInt64 = next()
        guard payloadByteCount == payload.count else {
            throw .otherLength(stated: Int(payloadByteCount), found: payload.count)
        }
        cursor = ByteCursor(bytes, at: Self.checksumOffset)
        guard next() == CRC32C.sum(bytes[..<Self.checksumOffset], payload) else {
            throw .checksum
        }
        guard format == Self.format else { throw .unknownFormat(format) }
        guard let kind = Kind(rawValue: kind) else { throw .unknownKind(kind) }
        guard flags == 0, reserved == 0 else { throw .unknownFlags(flags) }
        self.kind = kind
        self.payload = Array(payload)
        guard kind == .claim ? payload.isEmpty : !payload.isEmpty else {
            throw .impossible(kind, count: count, payloadByteCount: payload.count)
        }
        guard kind == .batch ? count > 0 : count == 0 else {
            throw .impossible(kind, count: count, payloadByteCount: payload.count)
        }
    }

    /// The chain that an entry's bytes say, which follows another chain only where it was written after it.
    static func chain(of bytes: [UInt8]) -> LogChain {
        LogChain(bytes[chainOffset..<checksumOffset])
    }

    /// The chain that an entry's bytes make after another.
    static func chain(of bytes: [UInt8], after chain: LogChain) -> LogChain {
        chain.extended(by: bytes[..<chainOffset], bytes[headerByteCount...])
    }
}

/// Why bytes are no entry that this server can read.
package enum EntryFault: Error, Sendable, Equatable {
    case tooShort(byteCount: Int)
    /// They do not begin as an entry does.
    case noEntry
    /// The payload has another length than the header says.
    case otherLength(stated: Int, found: Int)
    case checksum
    case unknownFormat(UInt8)
    case unknownKind(UInt8)
    case unknownFlags(UInt16)
    /// An intact entry that no server writes.
    case impossible(LogEntry.Kind, count: UInt32, payloadByteCount: Int)

    /// Whether a later version of the server may have written it.
    package var isOfAnotherVersion: Bool {
        switch self {
        case .unknownFormat, .unknownKind, .unknownFlags: true
        case .tooShort, .noEntry, .otherLength, .checksum, .impossible: false
        }
    }
}

extension EntryFault: CustomStringConvertible {
    /// The clause for people.
    package var description: String {
        switch self {
        case .tooShort(let byteCount):
            "it has \(byteCount) bytes, and an entry has at least \(LogEntry.headerByteCount)"
        case .noEntry: "it does not begin as an entry does"
        case .otherLength(let stated, let found):
            "its payload has \(found) bytes, and its header says \(stated)"
        case .checksum: "its checksum does not fit"
        case .unknownFormat(let format): "its format \(format) is not known to this server"
        case .unknownKind(let kind): "its kind \(kind) is not known to this server"
        case .unknownFlags(let flags): "its flags \(flags) are not known to this server"
        case .impossible(let kind, let count, let payloadByteCount):
            "a \(kind) with \(count) commits and \(payloadByteCount) bytes of payload is not possible"
        }
    }
}
