/// What the operations of one run of a rule gave, in a compact form. Immutable.
package final class ObservedRun: Sendable {
    /// Some of `bytes`.
    package struct Piece: Sendable {
        /// Of the first byte.
        package let start: Int32
        /// How many bytes.
        package let byteCount: Int32

        static let empty = Piece(start: 0, byteCount: 0)
    }

    /// A scalar, or an object, which is opaque.
    package enum Leaf: Sendable {
        case null, boolean(Bool), number(Double), object
        /// UTF-8.
        case string(Piece, isCut: Bool)
    }

    /// The keys that lead to a snapshot below a prefix of the decided path.
    package enum Keys: Sendable {
        /// Each after a slash.
        case some(Piece)
        /// One of them is not a key, so that no data can be there.
        case impossible
        /// Too long to be noted down.
        case unknown
    }

    /// The result of one operation.
    package enum Slot: Sendable {
        case unevaluated
        /// It began and gave nothing: it failed, or something in it did.
        case begun
        case value(Leaf)
        case snapshot(isNew: Bool, prefix: Int16, keys: Keys, Leaf)
    }

    /// By operation.
    package let slots: [Slot]
    /// What pieces are of.
    package let bytes: [UInt8]

    init(slots: [Slot], bytes: [UInt8]) {
        self.slots = slots
        self.bytes = bytes
    }
}
