/// The name of one database (`ns`): 1 to 63 of `a-z`, `0-9` and `-`.
///
/// Lower-cased when made, since clients compare names without case. Never used raw as a file name.
struct DatabaseName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name's text.
    let text: String

    /// Characters in a name: one label of a domain name, which it may become.
    static let length = 1...63

    /// The name of the database of a server without settings.
    static let standard = DatabaseName(unchecked: "default")

    /// - Throws: `DatabaseNameError` that says what is wrong with `text`.
    init(_ text: String) throws(DatabaseNameError) {
        guard Self.length.contains(text.utf8.count) else {
            throw .length(byteCount: text.utf8.count)
        }
        var isLower = true
        for (offset, byte) in text.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"):
                continue
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): isLower = false
            default: throw .forbiddenCharacter(offset: offset)
            }
        }
        self.init(unchecked: isLower ? text : text.lowercased())
    }

    /// Whether a database can have exactly this name.
    static func isName(_ text: String) -> Bool {
        do throws(DatabaseNameError) { return try DatabaseName(text).text == text } catch {
            return false
        }
    }

    private init(unchecked text: String) {
        self.text = text
    }

    var description: String { text }

    static func < (one: DatabaseName, other: DatabaseName) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }
}

/// Why a text is not the name of a database.
enum DatabaseNameError: Error, Equatable, Sendable, CustomStringConvertible {
    case length(byteCount: Int)
    /// `offset` counts bytes from 0.
    case forbiddenCharacter(offset: Int)

    /// The fault for people, as it follows "the database name".
    var description: String {
        switch self {
        case .length(let byteCount): "has \(byteCount) characters; it must have 1 to 63"
        case .forbiddenCharacter(let offset):
            "has a bad character at position \(offset + 1); it may have a-z, 0-9 and -"
        }
    }
}

/// Which database a request means.
struct DatabaseSelection: Sendable, Equatable {
    /// The one meant by a request that names none.
    var standard: DatabaseName = .standard
    /// Databases by the whole host they are served under.
    var hosts: [Authority.Host: DatabaseName] = [:]
    /// Serves `NAME.domain` as database NAME; lower-cased, without a leading dot.
    var domain: String?
    /// Other names of databases; followed once, not in chains.
    var aliases: [DatabaseName: DatabaseName] = [:]

    /// The database of a request: `ns`, else the host map, else the label before the domain or before
    /// `.localhost`, else the standard one.
    ///
    /// `ns` is the query parameter, percent-decoded, the first when there are several. A `host` that cannot be read is
    /// nil and names no database. The database need not exist.
    func database(ns: String?, at host: Authority?) throws(DatabaseNameError) -> DatabaseName {
        let name = try named(ns: ns, at: host)
        return aliases[name] ?? name
    }

    private func named(ns: String?, at host: Authority?) throws(DatabaseNameError) -> DatabaseName {
        if let ns { return try DatabaseName(ns) }
        guard let authority = host else { return standard }
        if let database = hosts[authority.host] { return database }
        guard case .name(let name) = authority.host else { return standard }
        for suffix in [domain, "localhost"] {
            guard let suffix, let label = Self.label(of: name, before: suffix) else { continue }
            return try DatabaseName(label)
        }
        return standard
    }

    /// The one label of `name` before `suffix`: `chat` of `chat.localhost`; nil when there are none or more.
    private static func label(of name: String, before suffix: String) -> String? {
        guard name.hasSuffix("." + suffix) else { return nil }
        let label = name.dropLast(suffix.count + 1)
        return label.contains(".") ? nil : String(label)
    }
}
