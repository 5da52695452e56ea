import JSONTree

/// What one request has read from databases: each location once.
struct LookupStore {
    private let read: FileDatabaseLookup
    private(set) var made: [FileLookup] = []
    private var nodes: [FileLookup: Node?] = [:]

    init(_ read: @escaping FileDatabaseLookup) { self.read = read }

    /// The node at a location: absent where nothing is, nil without such a database.
    ///
    /// - Throws: `TooMany` for one more than a request may read.
    mutating func node(_ lookup: FileLookup) throws(TooMany) -> Node? {
        if let known = nodes[lookup] { return known }
        if made.count == FileRulesLimits.lookupCount { throw TooMany() }
        made.append(lookup)
        let node = read(lookup.database, lookup.path)
        nodes[lookup] = .some(node)
        return node
    }

    struct TooMany: Error {}
}

extension FileEvaluator {
    /// `database.get(path)` and `database.exists(path)`.
    mutating func look(
        _ kind: LookupKind,
        _ database: FileValue?,
        _ path: FileValue,
        _ expression: Int
    ) throws(FileFailure) -> FileValue {
        var name: String?
        if let database {
            guard case .string(let text) = database else {
                throw failure(
                    "database.of() takes a string, not \(database.type.words).",
                    expression
                )
            }
            name = String(decoding: text, as: UTF8.self)
        }
        let lookup = FileLookup(database: name, path: try databasePath(path, expression))
        let node: Node?
        do throws(LookupStore.TooMany) { node = try lookups.node(lookup) } catch {
            throw failure(
                "A request may look at \(FileRulesLimits.lookupCount) different places of databases.",
                expression
            )
        }
        guard let node else {
            let which =
                name.map { "the database \(FileValue.text($0).shown)" }
                ?? "a database for this bucket"
            throw failure("Rules have no access to \(which), or there is none.", expression)
        }
        if kind == .exists { return .bool(!node.isAbsent) }
        if node.isAbsent { return .null }
        var bytesLeft = FileRulesLimits.lookupByteCount
        let value = FileValue(node, bytesLeft: &bytesLeft)
        let copied = FileRulesLimits.lookupByteCount - max(bytesLeft, 0)
        try spend(expressions: copied / FileRulesLimits.bytesPerExpression, expression)
        if bytesLeft < 0 {
            throw failure(
                "The value at \(path.shown) is larger than \(FileRulesLimits.lookupByteCount) bytes; read less of it.",
                expression
            )
        }
        return value
    }

    /// The path of a database, each segment one key: what could not be a key would be another place.
    private func databasePath(_ value: FileValue, _ expression: Int) throws(FileFailure) -> Path {
        guard case .path(let segments) = value else {
            throw failure(
                "A database is read at a path, such as /users/$(uid), not at \(value.type.words).",
                expression
            )
        }
        if segments.count > Limits.depth {
            throw failure("A path of a database has at most \(Limits.depth) keys.", expression)
        }
        var keys: [Key] = []
        for segment in segments {
            do throws(PathError) { keys.append(try Key(utf8: segment)) } catch {
                throw failure(
                    "\(FileValue.string(segment).shown) is no key of a database: keys are not empty, and have no . # $ / [ ] or control characters.",
                    expression
                )
            }
        }
        return Path(keys)
    }
}
