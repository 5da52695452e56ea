import JSONTree
import Queries

/// A query as requests carry it:
///
///     {"i": index, "sp": start, "sn": start key, "sin": inclusive,
///      "ep": end, "en": end key, "ein": inclusive, "l": limit, "vf": "l" or "r"}
///
/// All members are optional. Null as `sp` or `ep` is a bound like any other.
struct QueryObject {
    /// The query.
    let spec: QuerySpec

    /// The object with sorted keys and numbers as received; nil when it has no members.
    let text: [UInt8]?

    /// A request without a query.
    static let none = QueryObject(spec: .everything, text: nil)

    private init(spec: QuerySpec, text: [UInt8]?) {
        self.spec = spec
        self.text = text
    }

    /// Reads a query object or null.
    init(_ reader: inout MemberReader, _ message: Bytes) throws(ReadingStop) {
        if try reader.null() {
            self = .none
            return
        }
        guard try reader.enterObject() else { throw .body("`q` must be an object") }
        var members: [Member] = []
        var byteCount = 0
        while let name = try reader.nextMember() {
            guard let (value, range) = try reader.scalar() else {
                throw .body("`\(name.cutToQuote())` of a query must not be an object or a list")
            }
            let member = Member(name: name, value: value, text: message.slice(range))
            byteCount += member.canonicalByteCount
            guard byteCount <= WireLimits.queryByteCount else {
                throw .body("a query must not be longer than \(WireLimits.queryByteCount) bytes")
            }
            members.append(member)
        }
        members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for (member, next) in zip(members, members.dropFirst()) where member.name == next.name {
            throw .body("`\(member.name.cutToQuote())` is given twice in a query")
        }
        spec = try Self.spec(members)
        text = members.isEmpty ? nil : Self.canonicalText(members)
    }

    private struct Member {
        let name: String
        let value: Node
        let canonical: [UInt8]

        init(name: String, value: Node, text: Bytes) {
            self.name = name
            self.value = value
            var canonical: [UInt8] = []
            appendJSONString(name, to: &canonical)
            canonical.append(UInt8(ascii: ":"))
            if let string = value.string {
                appendJSONString(string, to: &canonical)
            } else {
                canonical.append(contentsOf: text)
            }
            self.canonical = canonical
        }

        var canonicalByteCount: Int { canonical.count }
    }

    private static func canonicalText(_ members: [Member]) -> [UInt8] {
        var text = [UInt8(ascii: "{")]
        text.append(contentsOf: members.map(\.canonical).joined(separator: [UInt8(ascii: ",")]))
        text.append(UInt8(ascii: "}"))
        return text
    }

    private static func spec(_ members: [Member]) throws(ReadingStop) -> QuerySpec {
        var values: [String: Node] = [:]
        for member in members { values[member.name] = member.value }
        let index = try index(values["i"])
        let start = try bound(values, "sp", "sn", "sin", index)
        let end = try bound(values, "ep", "en", "ein", index)
        let limit = try limit(values["l"])
        let side = try side(values["vf"]) ?? (start != nil ? .first : .last)
        return QuerySpec(index: index, start: start, end: end, limit: limit, side: side)
    }

    private static func index(_ value: Node?) throws(ReadingStop) -> QuerySpec.Index {
        guard let value else { return .priority }
        guard let text = value.string else { throw .body("`i` of a query must be a string") }
        switch text {
        case ".key": return .key
        case ".value": return .value
        case ".priority": return .priority
        default: return .child(try childPath(text))
        }
    }

    private static func childPath(_ text: String) throws(ReadingStop) -> Path {
        do {
            let path = try Path(text)
            if !path.isRoot { return path }
        } catch {
            throw .body("bad index \(FaultText.quoted(text)): \(FaultText.path(error))")
        }
        throw .body("bad index \(FaultText.quoted(text)): the path is empty")
    }

    private static func bound(
        _ values: [String: Node],
        _ valueName: String,
        _ keyName: String,
        _ flagName: String,
        _ index: QuerySpec.Index,
    ) throws(ReadingStop) -> QuerySpec.Bound? {
        var key: QuerySpec.BoundKey?
        if let value = values[keyName], !value.isAbsent {
            guard let text = value.string else { throw .body("`\(keyName)` must be a string") }
            key = QuerySpec.BoundKey(wireText: Array(text.utf8))
        }
        var isInclusive = true
        if let value = values[flagName], !value.isAbsent {
            guard let flag = value.boolean else { throw .body("`\(flagName)` must be a boolean") }
            isInclusive = flag
        }
        guard let value = values[valueName] else { return nil }
        if index == .key {
            guard value.string != nil else {
                throw .body("`\(valueName)` must be a string when a query is ordered by key")
            }
            key = nil
        }
        return QuerySpec.Bound(value: value, key: key, isInclusive: isInclusive)
    }

    private static func limit(_ value: Node?) throws(ReadingStop) -> Int? {
        guard let value else { return nil }
        guard let number = value.integer, number > 0, let limit = Int(exactly: number) else {
            throw .body("`l` of a query must be a positive whole number")
        }
        return limit
    }

    private static func side(_ value: Node?) throws(ReadingStop) -> QuerySpec.Side? {
        guard let value else { return nil }
        switch value.string {
        case "l": return .first
        case "r": return .last
        default: throw .body("`vf` of a query must be \"l\" or \"r\"")
        }
    }
}
