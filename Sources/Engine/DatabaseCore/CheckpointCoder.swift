import JSONTree
import SecurityRules

/// Writes snapshots as the content of a checkpoint, piece by piece.
///
///     checkpoint := database* end
///     database   := length:u32 head  (length:u32 piece)*  0:u32      pieces: the root, by `NodeEncoder`
///     end        := 0:u32
///     head       := version name number:varint time:varint rules settings session*
///     version    := 01, without settings | 02
///     rules      := 00 | 01 text
///     settings   := count:varint (text text)*                          names and texts, as in `CommitOperation`
///     session    := text identity count:varint (target draft)*         as in `CommitOperation`
///
/// Numbers are little-endian. A piece is about as large as the caller asks for, so memory stays small
/// however large a tree is.
package struct CheckpointEncoder: Sendable {
    private var remaining: ArraySlice<DatabaseSnapshot>
    private var root: NodeEncoder?
    private var isEnded = false

    package init(_ snapshots: [DatabaseSnapshot]) {
        remaining = snapshots[...]
    }

    /// Appends the next part of the content to `bytes`; false when there is none.
    package mutating func next(into bytes: inout [UInt8], atLeast byteCount: Int) -> Bool {
        if root != nil {
            appendPiece(&bytes, atLeast: byteCount)
            return true
        }
        if let snapshot = remaining.popFirst() {
            appendFramed(CheckpointEncoder.head(of: snapshot), to: &bytes)
            root = NodeEncoder(snapshot.root)
            return true
        }
        if isEnded { return false }
        isEnded = true
        append(length: 0, to: &bytes)
        return true
    }

    private mutating func appendPiece(_ bytes: inout [UInt8], atLeast byteCount: Int) {
        var piece: [UInt8] = []
        if root?.next(into: &piece, atLeast: byteCount) != true { root = nil }
        if !piece.isEmpty { appendFramed(piece, to: &bytes) }
        if root == nil { append(length: 0, to: &bytes) }
    }

    private static func head(of snapshot: DatabaseSnapshot) -> [UInt8] {
        let settings = snapshot.settings.entries
        var encoder = CommitEncoder(version: settings.isEmpty ? 1 : 2)
        encoder.append(snapshot.database.name)
        encoder.append(varint: Int(snapshot.number.value))
        // A record may have an earlier time, of a clock that was wrong; a count is not negative.
        encoder.append(varint: Int(max(0, snapshot.time.milliseconds)))
        if let rules = snapshot.rules {
            encoder.append(varint: 1)
            encoder.append(rules)
        } else {
            encoder.append(varint: 0)
        }
        if !settings.isEmpty {
            encoder.append(varint: settings.count)
            for (name, text) in settings {
                encoder.append(name)
                encoder.append(text)
            }
        }
        for (session, state) in snapshot.disconnects {
            encoder.append(session.text)
            encoder.append(state.identity)
            encoder.append(varint: state.writes.writes.count)
            for (target, draft) in state.writes.writes {
                encoder.append(target)
                encoder.append(draft)
            }
        }
        return encoder.bytes
    }

    private func appendFramed(_ part: [UInt8], to bytes: inout [UInt8]) {
        append(length: part.count, to: &bytes)
        bytes.append(contentsOf: part)
    }

    private func append(length: Int, to bytes: inout [UInt8]) {
        bytes.append(littleEndian: Int(UInt32(length)), byteCount: 4)
    }
}

/// Reads the content of a checkpoint in pieces of any size.
package struct CheckpointDecoder {
    private enum State { case head, pieces, end }

    private var state = State.head
    private var pending: [UInt8] = []
    private var head: DatabaseSnapshot?
    private var root: NodeDecoder
    private let use: DataUse

    /// The use of the data of the databases. Unless it is kept, they are handed over without it, and it takes no
    /// memory.
    package enum DataUse {
        case keeping
        case checking
        /// It is not looked at.
        case passingOver
    }

    /// Begins at the start.
    package init(_ use: DataUse = .keeping) {
        self.use = use
        root = NodeDecoder(isCheckOnly: use != .keeping)
    }

    /// Whether the next part of the content, which begins with these bytes, must be fed. A part that is only data need
    /// not be where data is passed over.
    package func needs(_ start: [UInt8], byteCount: Int) -> Bool {
        guard use == .passingOver, state == .pieces, pending.isEmpty, start.count >= 4 else {
            return true
        }
        let length = CheckpointDecoder.length(start[..<4])
        return length == 0 || 4 + length != byteCount
    }

    /// Takes the next bytes and hands each database to `body` when it is whole.
    package mutating func feed(
        _ bytes: [UInt8],
        _ body: (DatabaseSnapshot) throws(CommitDecodingError) -> Void
    ) throws(CommitDecodingError) {
        pending.append(contentsOf: bytes)
        var offset = 0
        while pending.count - offset >= 4 {
            if state == .end { throw .truncated(offset: offset) }
            let length = CheckpointDecoder.length(pending[offset..<offset + 4])
            if pending.count - offset - 4 < length { break }
            let part = Array(pending[offset + 4..<offset + 4 + length])
            offset += 4 + length
            if let snapshot = try take(part) { try body(snapshot) }
        }
        pending.removeFirst(offset)
    }

    /// Checks that nothing is missing at the end.
    package func finish() throws(CommitDecodingError) {
        guard state == .end, pending.isEmpty else { throw .truncated(offset: pending.count) }
    }

    private static func length(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func take(_ part: [UInt8]) throws(CommitDecodingError) -> DatabaseSnapshot? {
        switch state {
        case .head:
            if part.isEmpty {
                state = .end
                return nil
            }
            head = try CheckpointDecoder.readHead(part)
            root = NodeDecoder(isCheckOnly: use != .keeping)
            state = .pieces
            return nil
        case .pieces:
            guard var head else { throw .truncated(offset: 0) }
            do throws(NodeDecodingError) {
                if !part.isEmpty, use == .passingOver { return nil }
                if !part.isEmpty {
                    try part.withBytes { bytes throws(NodeDecodingError) in try root.feed(bytes) }
                    return nil
                }
                state = .head
                if use != .passingOver { head.root = try root.finish() }
                return head
            } catch {
                throw .badNode(offset: 0)
            }
        case .end:
            throw .truncated(offset: 0)
        }
    }

    private static func readHead(_ part: [UInt8]) throws(CommitDecodingError) -> DatabaseSnapshot {
        var decoder = try CommitDecoder(checking: part, versions: 1...2)
        let name = try decoder.readText()
        let number = try decoder.readCount()
        let time = try decoder.readCount()
        let rules = try decoder.readCount() == 1 ? try decoder.readText() : nil
        let settings = try readSettings(&decoder)
        var disconnects: [(session: SessionID, state: Database.DisconnectState)] = []
        while !decoder.isAtEnd {
            let session = try decoder.readSession()
            var state = Database.DisconnectState(identity: try decoder.readIdentity())
            for _ in 0..<(try decoder.readCount()) {
                let target = try decoder.readTarget()
                state.writes.store(try decoder.readDraft(), at: target)
            }
            disconnects.append((session, state))
        }
        return DatabaseSnapshot(
            database: DatabaseID(name),
            number: CommitNumber(UInt64(number)),
            time: Timestamp(milliseconds: Int64(time)),
            root: .absent,
            rules: rules,
            settings: settings,
            disconnects: disconnects,
        )
    }

    private static func readSettings(
        _ decoder: inout CommitDecoder
    ) throws(CommitDecodingError) -> DatabaseSettings {
        var settings = DatabaseSettings()
        if decoder.version == 1 { return settings }
        for _ in 0..<(try decoder.readCount()) {
            let name = try decoder.readText()
            let text = try decoder.readText()
            guard settings.take((name, text)) else { throw .badSetting(name: name) }
        }
        return settings
    }
}
