import WriteAheadLog

/// What a node says of itself twice a second. For liveness alone: a beat may be lost, late or wrong, and no commit
/// depends on it.
///
///     offset size
///      0     4   magic "RTBT"
///      4     1   format, 1
///      5     1   role: 1 following, 2 owning, 3 leaving, 4 stopped
///      6     1   byte count of the address for clients
///      7     1   byte count of the address for nodes
///      8     8   id of the log
///     16     8   node
///     24     8   incarnation
///     32     8   epoch
///     40     8   commit
///     48     8   sequence
///     56     8   checkpointed sequence
///     64     8   digest of the configured rules
///     72     n   address for clients
///     72+n   m   address for nodes
///     end    4   CRC-32C of everything before
///
/// Little-endian.
package struct Beat: Sendable, Equatable {
    /// What a node does.
    package enum Role: UInt8, Sendable {
        /// It applies what the log holds.
        case following = 1
        /// It decides writes.
        case owning = 2
        /// It owned the group, has written everything, and waits for the next owner.
        case leaving = 3
        /// It cannot follow the log any further.
        case stopped = 4
    }

    /// What a node says of itself beside its state: fixed by its configuration.
    package struct Details: Sendable, Equatable {
        /// Where clients reach it; at most 255 bytes.
        package var clientAddress: String
        /// Where other nodes reach it; at most 255 bytes.
        package var nodeAddress: String
        /// Nodes whose configured rules differ say different digests.
        package var rulesDigest: UInt64

        /// Puts details together.
        package init(clientAddress: String, nodeAddress: String, rulesDigest: UInt64) {
            precondition(clientAddress.utf8.count <= 255, "an address has at most 255 bytes")
            precondition(nodeAddress.utf8.count <= 255, "an address has at most 255 bytes")
            self.clientAddress = clientAddress
            self.nodeAddress = nodeAddress
            self.rulesDigest = rulesDigest
        }
    }

    /// What it does.
    package let role: Role
    /// Who says it.
    package let sender: Incarnation
    /// Names the log that it follows; 0 when it knows of none.
    package let logID: UInt64
    /// How far it is.
    package let progress: LogProgress
    /// The last entry that it has read.
    package let sequence: UInt64
    /// The entry whose mark its last checkpoint covers; 0 without a checkpoint.
    package let checkpointed: UInt64
    /// What its configuration says.
    package let details: Details

    private static let magic = Array("RTBT".utf8)
    private static let format: UInt8 = 1
    private static let checksumByteCount = 4

    /// Puts a beat together.
    package init(
        _ role: Role,
        of sender: Incarnation,
        logID: UInt64,
        progress: LogProgress,
        sequence: UInt64,
        checkpointed: UInt64,
        details: Details
    ) {
        self.role = role
        self.sender = sender
        self.logID = logID
        self.progress = progress
        self.sequence = sequence
        self.checkpointed = checkpointed
        self.details = details
    }

    /// Its bytes.
    package var encoded: [UInt8] {
        var bytes = Self.magic
        let addresses = [details.clientAddress.utf8, details.nodeAddress.utf8]
        bytes += [Self.format, role.rawValue]
        bytes += addresses.map { UInt8($0.count) }
        let words = [
            logID, sender.node.value, sender.number, progress.epoch, progress.commit, sequence,
            checkpointed, details.rulesDigest,
        ]
        for word in words { bytes.append(littleEndian: word) }
        for address in addresses { bytes += address }
        bytes.append(littleEndian: CRC32C.sum(bytes[...]))
        return bytes
    }

    /// Decodes a beat; nil for anything else, which a node ignores as a beat that was lost.
    package init?(decoding bytes: [UInt8]) {
        guard bytes.count >= Self.magic.count + Self.checksumByteCount else { return nil }
        let body = bytes.dropLast(Self.checksumByteCount)
        var end = ByteCursor(bytes, at: body.count)
        guard end.integer(UInt32.self) == CRC32C.sum(body) else { return nil }
        var cursor = ByteCursor(Array(body))
        guard cursor.run(Self.magic.count).map({ Array($0) }) == Self.magic,
            cursor.integer(UInt8.self) == Self.format,
            let role = cursor.integer(UInt8.self).flatMap({ Role(rawValue: $0) }),
            let clientByteCount = cursor.integer(UInt8.self),
            let nodeByteCount = cursor.integer(UInt8.self),
            let logID = cursor.integer(UInt64.self),
            let node = cursor.integer(UInt64.self),
            let incarnation = cursor.integer(UInt64.self),
            let epoch = cursor.integer(UInt64.self),
            let commit = cursor.integer(UInt64.self),
            let sequence = cursor.integer(UInt64.self),
            let checkpointed = cursor.integer(UInt64.self),
            let rulesDigest = cursor.integer(UInt64.self),
            let clientAddress = cursor.run(Int(clientByteCount)),
            let nodeAddress = cursor.run(Int(nodeByteCount)),
            cursor.isAtEnd
        else { return nil }
        self.init(
            role,
            of: Incarnation(node: NodeID(node), number: incarnation),
            logID: logID,
            progress: LogProgress(epoch: epoch, commit: commit),
            sequence: sequence,
            checkpointed: checkpointed,
            details: Details(
                clientAddress: String(decoding: clientAddress, as: UTF8.self),
                nodeAddress: String(decoding: nodeAddress, as: UTF8.self),
                rulesDigest: rulesDigest
            )
        )
    }
}
