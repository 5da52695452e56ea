/// Cuts the JSON text of one value, which arrives in parts, into writes that together make the value.
///
/// Done in their order they leave the value that the whole text has: of equal members the last one counts, `.value`,
/// `.priority` and server values stay whole. Several may be in progress at a time, except that pieces with `mustFollow`
/// wait for all before them. A piece has at most about `byteCount` bytes of text, unless one scalar is longer; which
/// pieces there are follows from the text and `byteCount` alone, not from how the text arrives. Keeps no more than
/// `byteCount` bytes and one scalar. Usage:
///
///     pieces.append(part); while let piece = try pieces.next() { … }     for each part
///     pieces.end(); while let piece = try pieces.next() { … }            behind the last
package struct JSONPieces {
    /// One write.
    package struct Piece: Equatable, Sendable {
        /// The location, relative to that of the whole value.
        package let target: WriteTarget
        /// Whether `json` replaces the value at `target`. Else it is an object, each of whose members
        /// replaces the child of that name there; no name occurs twice.
        package let isWhole: Bool
        /// JSON text.
        package let json: [UInt8]
        /// Bytes of the whole text up to the part behind this piece; larger with every piece.
        package let endOffset: Int
        /// Whether all earlier pieces must be done before this one begins. Others may be done in any order: they write
        /// locations that no earlier piece writes.
        package let mustFollow: Bool

        /// Makes a piece of its parts.
        package init(
            target: WriteTarget,
            isWhole: Bool,
            json: [UInt8],
            endOffset: Int,
            mustFollow: Bool = false
        ) {
            self.target = target
            self.isWhole = isWhole
            self.json = json
            self.endOffset = endOffset
            self.mustFollow = mustFollow
        }
    }

    /// An object or array that is split into several pieces.
    private struct Open {
        /// Empty for the outermost.
        let key: [UInt8]
        /// The greatest key so far.
        var lastKey: [UInt8]?
        /// Whether some member had a value, even if a later one of its name took it away.
        var hadValue = false
        /// Whether there was a server value in some member, even if a later one of its name took it away.
        var hadServerValue = false
        /// Members that have a value, while they are at most `aliveCount`.
        private var alive: Set<[UInt8]> = []
        /// Whether there were more.
        private(set) var hasMany = false

        init(key: [UInt8]) { self.key = key }

        /// How many names of members are kept. An object with more has a value, also where later members of the same
        /// names take each of them away.
        static let aliveCount = 1_000

        /// Whether some member has a value.
        var isAlive: Bool { hasMany || !alive.isEmpty }

        /// Takes note of whether a member has a value: the last one of a name counts.
        mutating func note(_ key: [UInt8], isAlive: Bool) {
            if isAlive { hadValue = true }
            if hasMany { return }
            if isAlive { alive.insert(key) } else { alive.remove(key) }
            if alive.count > Self.aliveCount {
                alive = []
                hasMany = true
            }
        }

        /// Takes note of keys; returns whether all of them come after those so far.
        mutating func note(_ first: [UInt8], _ last: [UInt8]) -> Bool {
            guard let known = lastKey else {
                lastKey = last
                return true
            }
            if isKey(known, before: last) { lastKey = last }
            return isKey(known, before: first)
        }
    }

    private var cutter: JSONCutter
    private var open: [Open] = []
    /// Whether the piece before took something away that the next one may write again.
    private var isBehindRemoval = false

    /// Makes a cutter of pieces of about `byteCount` bytes.
    package init(byteCount: Int) {
        cutter = JSONCutter(windowByteCount: byteCount, keepsText: true)
    }

    /// Takes the next part of the text.
    package mutating func append(_ text: [UInt8]) { text.withBytes { cutter.append($0) } }

    /// Says that the text is complete.
    package mutating func end() { cutter.end() }

    /// The position of the last thrown error: line, and byte in the line, both from 1.
    package var faultPosition: (line: Int, column: Int)? {
        cutter.fault.map { ($0.line, $0.column) }
    }

    /// The next piece; nil when more text is needed or at the end.
    ///
    /// - Throws: `JSONError` as reading the whole text does.
    package mutating func next() throws(JSONError) -> Piece? {
        while let event = try cutter.next() {
            switch event {
            case .whole(_, let text):
                return piece(WriteTarget(path: .root), isWhole: true, text)
            case .opened(let container):
                if let piece = begin(container) { return piece }
            case .run(let run):
                return try members(run)
            case .closed(let container):
                if let piece = try end(container) { return piece }
            case .entries: preconditionFailure("only updates have entries")
            }
        }
        return nil
    }

    private mutating func piece(
        _ target: WriteTarget,
        isWhole: Bool,
        _ json: [UInt8],
        mustFollow: Bool = false
    ) -> Piece {
        defer { isBehindRemoval = false }
        return Piece(
            target: target,
            isWhole: isWhole,
            json: json,
            endOffset: cutter.consumedOffset,
            mustFollow: mustFollow || isBehindRemoval
        )
    }

    /// Of equal members the last one counts: the value of an earlier one is removed.
    private mutating func begin(_ container: JSONCutter.Container) -> Piece? {
        defer { open.append(Open(key: container.key)) }
        guard let last = open.indices.last else { return nil }
        if open[last].note(container.key, container.key) { return nil }
        open[last].note(container.key, isAlive: false)
        let json = [0x7B] + MemberRun.text(container.key) + Array("null}".utf8)
        let removal = piece(WriteTarget(path: path), isWhole: false, json, mustFollow: true)
        isBehindRemoval = true
        return removal
    }

    private mutating func members(_ run: MemberRun) throws(JSONError) -> Piece {
        let last = open.count - 1
        let isNew = open[last].note(run.firstKey, run.lastKey)
        if run.isAlive { open[last].hadValue = true }
        if !run.serverValues.isEmpty { open[last].hadServerValue = true }
        for absence in run.absences {
            open[last].note(absence.key, isAlive: !absence.serverValues.isEmpty)
        }
        run.node.visitChildren { key, _ in
            open[last].note(key.array, isAlive: true)
            return !open[last].hasMany
        }
        var json = [0x7B] + run.text + [0x7D]
        if !run.isInOrder { json = try Self.withoutRepeats(json) }
        return piece(WriteTarget(path: path), isWhole: false, json, mustFollow: !isNew)
    }

    /// An object with only the last member of each name.
    private static func withoutRepeats(_ json: [UInt8]) throws(JSONError) -> [UInt8] {
        var members: [(name: [UInt8], value: Range<Int>)] = []
        var last: [[UInt8]: Int] = [:]
        try json.withBytes { bytes throws(JSONError) in
            var scanner = JSONScanner(bytes)
            try scanner.enterObject()
            while let name = try scanner.nextMember() {
                last[Array(name.utf8)] = members.count
                members.append((Array(name.utf8), try scanner.skipValue()))
            }
        }
        if last.count == members.count { return json }
        var text: [UInt8] = [0x7B]
        for (index, member) in members.enumerated() where last[member.name] == index {
            if text.count > 1 { text.append(0x2C) }
            text += MemberRun.text(member.name) + json[member.value]
        }
        return text + [0x7D]
    }

    private mutating func end(_ container: JSONCutter.Container) throws(JSONError) -> Piece? {
        let path = path
        let ended = open.removeLast()
        let dots = container.dots
        if let fault = dots.fault(
            memberCount: container.memberCount,
            isAlive: ended.hadValue || ended.hadServerValue
        ) {
            throw cutter.refuse(fault, container)
        }
        let isLeaf = dots.isLeaf
        if let last = open.indices.last {
            if ended.isAlive || isLeaf { open[last].note(container.key, isAlive: true) }
            if ended.hadServerValue || dots.hasServerValue { open[last].hadServerValue = true }
        }
        if isLeaf {
            // Its members, if any, are all null.
            let mustFollow = container.memberCount > 0
            return piece(WriteTarget(path: path), isWhole: true, dots.json, mustFollow: mustFollow)
        }
        guard let priority = dots.priority, !priority.isNull else { return nil }
        // Only a node with children can have a priority.
        let target = WriteTarget(path: path, isPriority: true)
        return piece(target, isWhole: true, priority.json, mustFollow: true)
    }

    /// The location of the innermost object or array that is open.
    private var path: Path { Path(open.dropFirst().map { Key(unchecked: $0.key) }) }
}

/// Whether a key comes before another one in key order.
func isKey(_ a: [UInt8], before b: [UInt8]) -> Bool {
    a.withBytes { a in b.withBytes { Key.compare(a, $0) < 0 } }
}

extension DotMembers {
    fileprivate var hasServerValue: Bool {
        serverValue != nil || value?.serverValue != nil || priority?.serverValue != nil
    }

    /// Whether they say what the value is, and it has no children.
    var isLeaf: Bool { serverValue != nil || value.map { !$0.isNull } ?? false }

    /// The fault that results beside `memberCount` members; `isAlive` says whether one had a value.
    func fault(memberCount: Int, isAlive: @autoclosure () -> Bool) -> JSONError.Reason? {
        if serverValue != nil {
            return memberCount > 0 || value != nil || priority != nil ? .badServerValue : nil
        }
        return isLeaf && isAlive() ? .valueBesideChildren : nil
    }

    /// The object of only these members.
    fileprivate var json: [UInt8] {
        if let serverValue { return serverValue.json }
        var text = Array("{\".value\":".utf8) + (value?.json ?? Array("null".utf8))
        if let priority { text += Array(",\".priority\":".utf8) + priority.json }
        return text + [0x7D]
    }
}

extension DotValue {
    fileprivate var json: [UInt8] { serverValue?.json ?? node.json(.export) }
}

extension ServerValue {
    fileprivate var json: [UInt8] {
        switch self {
        case .timestamp: Array(#"{".sv":"timestamp"}"#.utf8)
        case .increment(let step):
            Array(#"{".sv":{"increment":"#.utf8) + step.json(.export) + Array("}}".utf8)
        }
    }
}
