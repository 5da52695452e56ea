import JSONTree

/// The pieces of a JSON text that write the part of it at a path, with their locations counted from there.
///
/// A pull parser like `JSONPieces`, and as bounded. If an earlier piece wrote a value and a later one removes it, the
/// result is a piece that writes `null`.
struct FilteredPieces {
    /// The part that is wanted; the root for all.
    let filter: Path

    private var pieces: JSONPieces
    private let keys: [Key]
    /// Whether a piece that was left out had to follow the ones before it.
    private var mustFollow = false

    /// Makes a cutter of pieces of about `byteCount` bytes.
    init(byteCount: Int, filter: Path = .root) {
        pieces = JSONPieces(byteCount: byteCount)
        self.filter = filter
        keys = (0..<filter.keyCount).map { filter.key(at: $0) }
    }

    /// Takes the next part of the text.
    mutating func append(_ text: [UInt8]) { pieces.append(text) }

    /// Says that the text is complete.
    mutating func end() { pieces.end() }

    /// The position of the last error, as `JSONPieces` gives it.
    var faultPosition: (line: Int, column: Int)? { pieces.faultPosition }

    /// The next piece; nil when more text is needed or all is read.
    ///
    /// - Throws: `JSONError` as `JSONPieces` does, also for parts that are filtered out.
    mutating func next() throws(JSONError) -> JSONPieces.Piece? {
        while let piece = try pieces.next() {
            if filter.isRoot { return piece }
            // Priorities beside the wanted part take nothing away.
            let isBeside = !filter.isPrefix(of: piece.target.path)
            if piece.target.isPriority, isBeside { continue }
            mustFollow = mustFollow || piece.mustFollow
            guard let (target, isWhole, json) = try wanted(of: piece) else { continue }
            defer { mustFollow = false }
            return JSONPieces.Piece(
                target: target,
                isWhole: isWhole,
                json: json,
                endOffset: piece.endOffset,
                mustFollow: mustFollow
            )
        }
        return nil
    }

    private func wanted(
        of piece: JSONPieces.Piece
    ) throws(JSONError) -> (WriteTarget, isWhole: Bool, json: [UInt8])? {
        let location = piece.target.path
        if filter.isPrefix(of: location) {
            let target = WriteTarget(
                path: location.dropFirst(filter.keyCount),
                isPriority: piece.target.isPriority
            )
            return (target, piece.isWhole, piece.json)
        }
        guard location.isPrefix(of: filter) else { return nil }
        var found: Range<Int>? = 0..<piece.json.count
        for depth in location.keyCount..<keys.count {
            guard let range = found else { break }
            found = try Self.child(keys[depth], of: range, in: piece.json)
            // Other members of an object that arrives in pieces.
            if found == nil, depth == location.keyCount, !piece.isWhole { return nil }
        }
        let whole = WriteTarget(path: .root)
        if let found { return (whole, true, Array(piece.json[found])) }
        return mustFollow ? (whole, true, Array("null".utf8)) : nil
    }

    /// Where the value of the last member named `key` lies in the value at `range`; nil without one.
    private static func child(
        _ key: Key,
        of range: Range<Int>,
        in json: [UInt8]
    ) throws(JSONError) -> Range<Int>? {
        try json.withBytes { bytes throws(JSONError) in
            var scanner = JSONScanner(bytes.slice(range))
            var found: Range<Int>?
            switch try scanner.peek() {
            case UInt8(ascii: "{"):
                try scanner.enterObject()
                while let name = try scanner.nextMember() {
                    let value = try scanner.skipValue()
                    if name.utf8.elementsEqual(key.utf8) { found = value }
                }
            case UInt8(ascii: "["):
                try scanner.enterArray()
                var index = 0
                while try scanner.nextElement() {
                    let value = try scanner.skipValue()
                    if String(index).utf8.elementsEqual(key.utf8) { found = value }
                    index += 1
                }
            default: break
            }
            return found.map { range.lowerBound + $0.lowerBound..<range.lowerBound + $0.upperBound }
        }
    }
}

extension JSONPieces.Piece {
    /// Whether it has no data: it is `null`, `{}` or `[]`.
    var isNothing: Bool {
        let first = json.first { !Self.isSpace($0) }
        if first == UInt8(ascii: "n") { return isWhole }
        guard isWhole, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
            return false
        }
        return json.count { !Self.isSpace($0) } == 2
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09].contains(byte) }
}
