import JSONTree

/// What a list asks for.
package struct NameQuery: Sendable, Equatable {
    /// Whose names are listed.
    package enum Style: Sendable {
        /// Names that the SDKs of clients cannot address are left out.
        case client
        /// All names.
        case server
    }

    package var style: Style
    /// What names begin with; empty for all.
    package var prefix: [UInt8] = []
    /// Names that have it behind the prefix are shown as prefixes up to and including it; empty for none.
    package var delimiter: [UInt8] = []
    /// How many items and prefixes a page has at most, within `FileLimits.listCount`.
    package var limit = FileLimits.listCount.upperBound
    /// Where the page before has ended.
    package var after: PageToken?
    /// The first name that counts; empty for all.
    package var start: [UInt8] = []
    /// The first name that does not count; empty for all.
    package var end: [UInt8] = []
    /// Whether a name that ends in the delimiter is shown as an item beside its prefix.
    package var includesTrailingDelimiter = false

    package init(_ style: Style) { self.style = style }
}

/// Where a page of a list has ended; clients send it back as text.
///
///     01 kind name        in base64url
///
/// It names no place in the index, so it stays valid over restarts and changes.
package struct PageToken: Sendable, Equatable {
    /// What stands at the end of the page.
    package enum Kind: UInt8, Sendable {
        /// A name: the next page begins behind it.
        case name
        /// A prefix: the next page begins behind everything that begins so.
        case prefix
        /// A prefix whose own object, which has the same name, was to be shown next.
        case prefixBeforeItem
    }

    package let kind: Kind
    package let name: [UInt8]

    package init(_ kind: Kind, _ name: [UInt8]) {
        self.kind = kind
        self.name = name
    }

    private static let version: UInt8 = 1

    /// Reads a token; nil for a text that no page had.
    package init?(_ text: String) {
        guard let bytes = Base64.decodeURL(Array(text.utf8)), bytes.count >= 3,
            bytes[0] == Self.version, let kind = Kind(rawValue: bytes[1]),
            bytes.count <= 2 + FileLimits.nameByteCount.upperBound
        else { return nil }
        self.init(kind, Array(bytes[2...]))
    }

    /// The text that clients send back.
    package var text: String { Base64.encode([Self.version, kind.rawValue] + name, .url) }
}

/// One page of a list.
package struct NameList: Sendable, Equatable {
    /// Names of objects, in order.
    package var items: [ObjectName] = []
    /// Prefixes, in order; each on one page only.
    package var prefixes: [String] = []
    /// Where the next page begins; nil on the last one.
    package var next: PageToken?
    /// Names that were looked at; a prefix counts once, however many names it stands for.
    package var stepCount = 0

    package init() {}
}
