import Files
import JSONTree

/// Which entries of the audit log are asked for.
struct AuditQuery: Equatable, Sendable {
    /// Entries of one answer.
    static let limits = 1...1_000

    var limit = 100
    /// Only those before this one.
    var before: Int?
    /// Only those behind this one: the oldest of them.
    var after: Int?
    /// Only lines with this text in them, in any case.
    var text: String?
    /// Only those of the administrator of this name.
    var author: String?
    /// Only what came by this door.
    var door: String?

    init() {}

    /// Reads `limit`, `before`, `after`, `text`, `by` and `door`; empty texts count as missing.
    init(_ parameters: [(name: String, value: String)]) throws(BadRequest) {
        for (name, value) in parameters {
            switch name {
            case "limit":
                guard let limit = Int(value), Self.limits.contains(limit) else {
                    throw BadRequest("'limit' must be a number from 1 to 1000")
                }
                self.limit = limit
            case "before": before = try Self.number(name, value)
            case "after": after = try Self.number(name, value)
            case "text": text = value.isEmpty ? nil : value.lowercased()
            case "by": author = value.isEmpty ? nil : value
            case "door": door = value.isEmpty ? nil : value
            default: break
            }
        }
    }

    private static func number(_ name: String, _ value: String) throws(BadRequest) -> Int {
        guard let number = Int(value), number >= 0 else {
            throw BadRequest("'\(name)' must be the number of an entry")
        }
        return number
    }

    fileprivate func takes(_ entry: AuditContent.Entry) -> Bool {
        if let before, entry.number >= before { return false }
        if let after, entry.number <= after { return false }
        if let author, entry.author != author { return false }
        if let door, entry.door != door { return false }
        guard let text else { return true }
        return String(decoding: entry.line, as: UTF8.self).lowercased().contains(text)
    }
}

/// What an answer shows of the audit log.
struct AuditPage: Sendable {
    /// Lines, the newest first.
    private(set) var lines: [[UInt8]] = []
    /// Whether there are more, on the side that was asked for.
    private(set) var hasMore = false
    /// Whole lines that cannot be read, in the files that were looked at.
    private(set) var unreadableCount = 0
    /// Whether the newest line has no end.
    private(set) var isTorn = false

    /// Reads the files of a folder, from the side that the query asks for, as far as needed.
    init(_ query: AuditQuery, folder: String) throws(FileError) {
        let files = try AuditFolder.files(folder)
        let isForwards = query.after != nil
        for (name, first) in isForwards ? files : files.reversed() where !hasMore {
            if let before = query.before, first >= before { continue }
            // A file whose follower begins at or before what comes next has nothing of it.
            if let after = query.after, let follower = files.first(where: { $0.first > first }),
                follower.first <= after + 1
            {
                continue
            }
            let content = try AuditContent("\(folder)/\(name)")
            add(content, query)
            if name == files.last?.name { isTorn = content.isTorn }
        }
        if isForwards { lines.reverse() }
    }

    /// The same of lines that are kept in memory.
    init(_ query: AuditQuery, _ content: AuditContent) {
        add(content, query)
        if query.after != nil { lines.reverse() }
    }

    private mutating func add(_ content: AuditContent, _ query: AuditQuery) {
        unreadableCount += content.unreadableCount
        let entries = query.after == nil ? content.entries.reversed() : content.entries
        for entry in entries where query.takes(entry) {
            if lines.count == query.limit {
                hasMore = true
                return
            }
            lines.append(entry.line)
        }
    }

    /// `{"entries":[...],"more":...,"unreadable":...}`
    var json: JSONValue {
        [
            "entries": .list(lines.map { .raw($0) }), "more": .boolean(hasMore),
            "unreadable": .number(unreadableCount),
        ]
    }
}
