import HTTPClient
import JSONTree

/// Values written together, each at its own location, without replacing the data around them.
///
/// Becomes an update whose members are paths: at the longest path above all of them, of at most about `byteLimit`
/// bytes and `DataLimits.pathsPerPart` values. No location in it is inside another.
struct MergePart {
    /// One value without children, or a priority.
    struct Entry: Equatable {
        let target: WriteTarget
        let json: [UInt8]
        let endOffset: Int
        let mustFollow: Bool

        /// Bytes of it in an update, about.
        fileprivate var weight: Int { json.count + target.path.description.utf8.count + 4 }
    }

    let byteLimit: Int
    private(set) var entries: [Entry] = []
    private var byteCount = 0
    /// The path that all entries lie below.
    private var base = Path.root
    /// The locations of the entries, and all locations above them.
    private var locations: Set<Path> = []
    private var above: Set<Path> = []

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The entries of a piece; those that bring no data are left out, as they would take some away.
    static func entries(_ piece: JSONPieces.Piece) throws(JSONError) -> [Entry] {
        func entry(_ target: WriteTarget, _ json: [UInt8]) -> Entry {
            Entry(
                target: target,
                json: json,
                endOffset: piece.endOffset,
                mustFollow: piece.mustFollow
            )
        }
        if piece.isWhole { return piece.isNothing ? [] : [entry(piece.target, piece.json)] }
        var entries: [Entry] = []
        for (name, value) in try JSONParts.members(of: piece.json)
        where value.first != UInt8(ascii: "n") {
            let key = Key(unchecked: Array(name.utf8))
            entries.append(entry(WriteTarget(path: piece.target.path.appending(key)), value))
        }
        return entries
    }

    /// Whether an entry belongs into this part and not into the next.
    ///
    /// A priority is sent with the value before it, the last child of its location: priorities of locations without
    /// children are lost.
    func takes(_ entry: Entry) -> Bool {
        if entries.isEmpty || entry.target.isPriority { return true }
        if entry.mustFollow, touches(entry.target.path) { return false }
        return byteCount + entry.weight <= byteLimit && entries.count < DataLimits.pathsPerPart
    }

    /// Whether a location is one of the part's, or above or below one.
    private func touches(_ path: Path) -> Bool {
        above.contains(path) || (0...path.keyCount).contains { locations.contains(path.prefix($0)) }
    }

    mutating func append(_ entry: Entry) {
        let path = entry.target.path
        // An update needs a member's name; a priority has one of its own.
        let parent = entry.target.isPriority ? path : path.parent ?? path
        if entries.isEmpty { base = parent }
        while !base.isPrefix(of: parent) { base = base.parent ?? .root }
        if !entry.target.isPriority { locations.insert(path) }
        var next = path.parent
        while let location = next, above.insert(location).inserted { next = location.parent }
        byteCount += entry.weight
        entries.append(entry)
    }

    /// The request; nil for a part without entries.
    var part: ImportPart? {
        guard let first = entries.first, let last = entries.last else { return nil }
        let target = first.target
        let isRoot = target.path.isRoot && !target.isPriority
        return ImportPart(
            method: isRoot ? .put : .patch,
            path: base.keyTexts,
            body: isRoot ? first.json : update,
            firstPath: target.path.keyTexts + (target.isPriority ? [".priority"] : []),
            endOffset: last.endOffset,
            mustFollow: entries.contains { $0.mustFollow }
        )
    }

    private var update: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(byteCount + 2)
        out.append(UInt8(ascii: "{"))
        for entry in entries {
            if out.count > 1 { out.append(UInt8(ascii: ",")) }
            let location = WriteTarget(
                path: entry.target.path.dropFirst(base.keyCount),
                isPriority: entry.target.isPriority
            )
            appendJSONString(location.wireText, to: &out)
            out.append(UInt8(ascii: ":"))
            out += entry.json
        }
        out.append(UInt8(ascii: "}"))
        return out
    }
}
