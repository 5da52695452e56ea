import JSONTree

/// What the operations of one run of a rule gave, in a compact form. Immutable.
final class ObservedRun: Sendable {
    /// Some of `bytes`.
    struct Piece: Sendable {
        let start: Int32
        let byteCount: Int32

        static let empty = Piece(start: 0, byteCount: 0)
    }

    /// A scalar, or an object, which is opaque.
    enum Leaf: Sendable {
        case null, boolean(Bool), number(Double), object
        /// UTF-8.
        case string(Piece, isCut: Bool)
    }

    /// The keys that lead to a snapshot below a prefix of the judged path.
    enum Keys: Sendable {
        /// Each after a slash.
        case some(Piece)
        /// One of them is no key, so that no data can be there.
        case impossible
        /// Too long to be noted down.
        case unknown
    }

    /// What one operation came to.
    enum Slot: Sendable {
        case unevaluated
        /// It began and gave nothing: it failed, or something in it did.
        case begun
        case value(Leaf)
        case snapshot(isNew: Bool, prefix: Int16, keys: Keys, Leaf)
    }

    /// By operation.
    let slots: [Slot]
    /// What pieces are of.
    let bytes: [UInt8]

    init(slots: [Slot], bytes: [UInt8]) {
        self.slots = slots
        self.bytes = bytes
    }

    /// The text of some of the bytes.
    func text(_ piece: Piece) -> String {
        let start = Int(piece.start)
        return String(decoding: bytes[start..<start + Int(piece.byteCount)], as: UTF8.self)
    }

    /// The value of a leaf, as it is shown.
    func shown(_ leaf: Leaf) -> ObservedValue {
        switch leaf {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .number(let value): .number(value)
        case .object: .object
        case .string(let piece, let isCut): .string(text(piece), isCut: isCut)
        }
    }

    /// The path of a snapshot; nil when no data could be there, or when it was not noted down.
    func path(_ keys: Keys, below prefix: Path) -> Path? {
        guard case .some(let piece) = keys else { return nil }
        let start = Int(piece.start)
        let names = bytes[start..<start + Int(piece.byteCount)].split(separator: UInt8(ascii: "/"))
        return prefix.appending(Path(names.map { Key(unchecked: Array($0)) }))
    }
}
