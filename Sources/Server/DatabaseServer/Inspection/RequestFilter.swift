import DatabaseCore
import JSONTree
import SecurityRules

/// Which decisions are asked for: `refused=true&path=/a&uid=ann&operation=set&connection=5f&limit=50&after=7`, or one: `id=8`.
///
/// A parameter without a value, as forms send them, counts as left out; unknown ones are ignored.
struct RequestFilter: Sendable, Equatable {
    /// Only those that refuse.
    var isRefused = false
    /// At or below it; an update also by any path that it names.
    var path: Path?
    /// The text of `auth.uid`.
    var uid: String?
    /// What they did.
    var operation: DecisionRecord.Operation?
    /// The text of the connection that they came by.
    var connection: String?
    /// The one with this number.
    var number: UInt64?
    var limit = standardLimit
    /// Later than the one with this number.
    var after: UInt64 = 0

    static let standardLimit = 100
}

extension RequestFilter {
    init(_ query: [(name: String, value: String)]) throws(BadRequest) {
        self.init()
        for (name, value) in query where !value.isEmpty {
            switch name {
            case "refused": isRefused = try RESTParameters.flag("refused", value)
            case "path": path = try Self.path(value)
            case "uid": uid = value
            case "operation": operation = try Self.operation(value)
            case "connection": connection = value
            case "id": number = try Self.number(name, value)
            case "limit": limit = try Self.limit(value)
            case "after": after = try Self.number(name, value)
            default: break
            }
        }
    }

    /// Whether a record is asked for.
    func accepts(_ record: DecisionRecord) -> Bool {
        if isRefused, record.decision.isAllowed { return false }
        if let uid, record.uid != uid { return false }
        if let operation, record.operation != operation { return false }
        if let connection, record.connection?.shortText != connection { return false }
        guard let path else { return true }
        if path.isPrefix(of: record.target.path) { return true }
        if let denied = record.deniedTarget, path.isPrefix(of: denied.path) { return true }
        return record.targets.contains { path.isPrefix(of: $0.path) }
    }

    static func path(_ value: String) throws(BadRequest) -> Path {
        do throws(PathError) { return try Path(value) } catch {
            let limit = Limits.depth
            throw BadRequest(
                "'path' must be keys with slashes between, at most \(limit), none with . # $ [ ]"
            )
        }
    }

    private static func number(_ name: String, _ value: String) throws(BadRequest) -> UInt64 {
        guard let number = UInt64(value) else {
            throw BadRequest("'\(name)' must be the id of a request, a whole number")
        }
        return number
    }

    private static func operation(_ value: String) throws(BadRequest) -> DecisionRecord.Operation {
        guard let operation = DecisionRecord.Operation(rawValue: value) else {
            let words = DecisionRecord.Operation.allCases.map(\.rawValue).joined(separator: ", ")
            throw BadRequest("'operation' must be one of: \(words)")
        }
        return operation
    }

    private static func limit(_ value: String) throws(BadRequest) -> Int {
        let range = 1...DecisionRing.standardCountLimit
        guard let limit = Int(value), range.contains(limit) else {
            throw BadRequest("'limit' must be a number from 1 to \(range.upperBound)")
        }
        return limit
    }
}

extension DecisionRecord {
    /// The `uid` that rules see; nil without a user, and when it is not a text.
    var uid: String? { auth?.value.child(Self.uidKey).string }

    private static let uidKey = Key(unchecked: Array("uid".utf8))
}
