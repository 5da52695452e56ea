import DatabaseCore
import FileRules
import JSONTree
import SecurityRules

/// Which decisions are asked for: `refused=true&path=/a&uid=ann&operation=set&connection=5f&limit=50&after=7`, or one: `id=8`.
///
/// For files (`service=files`) `bucket=B` too, and `path` is the beginning of a name.
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
    /// What they did to a file.
    var fileOperation: FileOperation?
    /// How the name of a file begins.
    var name: String?
    /// Where a file is.
    var bucket: String?
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
    init(
        _ query: [(name: String, value: String)],
        isForFiles: Bool = false
    ) throws(BadRequest) {
        self.init()
        for (name, value) in query where !value.isEmpty {
            switch name {
            case "refused": isRefused = try RESTParameters.flag("refused", value)
            case "path" where isForFiles: self.name = value
            case "path": path = try Self.path(value)
            case "bucket": bucket = value
            case "uid": uid = value
            case "operation" where isForFiles: fileOperation = try Self.operation(value)
            case "operation": operation = try Self.operation(value)
            case "connection": connection = value
            case "id": number = try Self.number(name, value)
            case "limit": limit = try Self.limit(value)
            case "after": after = try Self.number(name, value)
            default: break
            }
        }
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

    private static func operation<Operation>(_ value: String) throws(BadRequest) -> Operation
    where Operation: RawRepresentable<String> & CaseIterable {
        guard let operation = Operation(rawValue: value) else {
            let words = Operation.allCases.map(\.rawValue).joined(separator: ", ")
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
    func isWanted(by filter: RequestFilter) -> Bool {
        if filter.isRefused, decision.isAllowed { return false }
        if let uid = filter.uid, self.uid != uid { return false }
        if let operation = filter.operation, self.operation != operation { return false }
        if let wanted = filter.connection, connection?.shortText != wanted { return false }
        guard let path = filter.path else { return true }
        if path.isPrefix(of: target.path) { return true }
        if let denied = deniedTarget, path.isPrefix(of: denied.path) { return true }
        return targets.contains { path.isPrefix(of: $0.path) }
    }

    /// The `uid` that rules see; nil without a user, and when it is not a text.
    var uid: String? { auth?.value.child(Self.uidKey).string }

    private static let uidKey = Key(unchecked: Array("uid".utf8))
}
