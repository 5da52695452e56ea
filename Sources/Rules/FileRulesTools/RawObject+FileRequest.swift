import FileRules
import JSONTree
import RulesTools

/// What a request for a file has that does not say it itself.
struct FileRequestContext {
    var bucket: String
    var now: Timestamp
    var auth: FileAuth?
}

/// A request for a file as cases and the simulator write it.
struct WrittenFileRequest: Sendable {
    let operation: FileOperation
    let bucket: String
    let path: String
    let auth: FileAuth?
    let now: Timestamp
    /// The object as it is, nil inside when there is none; nil when the request does not say.
    let resource: FileResource??
    let newResource: FileResource?

    /// The request as rules see it; `stored` is the object where the request says nothing of it.
    func request(stored: FileResource?) -> FileRulesRequest {
        let old = operation == .list ? nil : resource ?? stored
        var new = newResource
        switch operation {
        case .get, .list, .delete: break
        case .create: new = new ?? .usual(path, bucket, now)
        case .update: new = new ?? old
        }
        return FileRulesRequest(
            operation,
            bucket: bucket,
            name: path,
            auth: auth,
            time: now,
            resource: old,
            newResource: new
        )
    }
}

/// The members that the simulator and cases share.
extension RawObject {
    /// The names of the members of a request.
    static let fileRequestNames = ["op", "path", "auth", "now", "resource", "newResource"]

    /// What is tried, by whom and when.
    ///
    /// - Throws: `InputFault` when a member is missing, wrong or of no use to the operation.
    func fileRequest(_ context: FileRequestContext) throws(InputFault) -> WrittenFileRequest {
        let operation = try choice("op", FileOperation.allCases)
        let path = try required(
            "path",
            "it names an object or a prefix, without a slash before it"
        ).string("path")
        let now = try self.now() ?? context.now
        let (old, new) = (self["resource"], self["newResource"])
        if operation == .list, let old { throw Self.useless("resource", old, operation) }
        if let new, operation != .create, operation != .update {
            throw Self.useless("newResource", new, operation)
        }
        return WrittenFileRequest(
            operation: operation,
            bucket: context.bucket,
            path: path,
            auth: try fileAuth(absent: context.auth),
            now: now,
            resource: try old.map { (value) throws(InputFault) in
                try Self.resource(value, path, context.bucket, now)
            },
            newResource: try new.flatMap { (value) throws(InputFault) in
                try Self.resource(value, path, context.bucket, now)
            }
        )
    }

    private static func useless(
        _ name: String,
        _ value: RawValue,
        _ operation: FileOperation
    ) -> InputFault {
        InputFault(value.offset, "'\(name)' has no meaning for \(operation.rawValue).")
    }

    /// One of the words that a member can be.
    func choice<T: RawRepresentable<String>>(
        _ name: String,
        _ all: [T]
    ) throws(InputFault) -> T {
        let words = all.map(\.rawValue).joined(separator: ", ")
        let value = try required(name, "it is one of \(words)")
        guard let found = T(rawValue: try value.string(name)) else {
            throw InputFault(value.offset, "'\(name)' must be one of \(words).")
        }
        return found
    }

    /// The caller; nil when signed out, `absent` when the member is missing.
    func fileAuth(absent: FileAuth?) throws(InputFault) -> FileAuth? {
        guard let value = self["auth"] else { return absent }
        if value.kind == .null { return nil }
        let caller = try RawObject(value, what: "'auth'")
        try caller.check(["uid", "token"], in: "'auth'")
        let uid = try caller.required("uid", "it is the user's id").string("uid")
        guard let token = caller["token"] else { return FileAuth(uid: uid) }
        _ = try RawObject(token, what: "'token'")
        return FileAuth(uid: uid, claims: token.bytes.array)
    }

    /// What `databases` and `data` say that databases hold: under "" that of the bucket, the others under their names.
    func fileDatabases() throws(InputFault) -> [String: Node] {
        var databases: [String: Node] = [:]
        if let value = self["databases"] {
            for member in try RawObject(value, what: "'databases'").members {
                databases[member.name] = try member.value.fileTree()
            }
        }
        if let value = self["data"] { databases[""] = try value.fileTree() }
        return databases
    }

    private static func resource(
        _ value: RawValue,
        _ name: String,
        _ bucket: String,
        _ time: Timestamp
    ) throws(InputFault) -> FileResource? {
        if value.kind == .null { return nil }
        let object = try RawObject(value, what: "A resource")
        try object.check(FileResource.members, in: "a resource")
        var resource = FileResource.usual(try object["name"]?.string("name") ?? name, bucket, time)
        resource.bucket = try object["bucket"]?.string("bucket") ?? bucket
        for (name, field) in FileResource.texts {
            resource[keyPath: field] = try object[name]?.string(name)
        }
        resource.size = try object.integer("size") ?? 0
        resource.generation = try object.integer("generation") ?? 1
        resource.metageneration = try object.integer("metageneration") ?? 1
        let created = try object.integer("timeCreated")
        resource.timeCreated = created.map { Timestamp(milliseconds: $0) } ?? time
        let updated = try object.integer("updated")
        resource.updated = updated.map { Timestamp(milliseconds: $0) } ?? time
        if let metadata = object["metadata"] {
            for member in try RawObject(metadata, what: "'metadata'").members {
                resource.metadata[member.name] = try member.value.string(member.name)
            }
        }
        return resource
    }

    private func integer(_ name: String) throws(InputFault) -> Int64? {
        guard let value = self[name] else { return nil }
        let number =
            value.kind != .number
            ? nil
            : try value.read("'\(name)' is no number") { (scanner) throws(JSONError) in
                try scanner.readInteger()
            }
        guard let number else {
            throw InputFault(value.offset, "'\(name)' must be a whole number.")
        }
        return number
    }
}

extension RawValue {
    /// What a database holds.
    func fileTree() throws(InputFault) -> Node {
        try read("'data' cannot be kept") { (scanner) throws(JSONError) in
            try scanner.readNode()
        }
    }
}

extension FileResource {
    /// An object of which nothing more is said.
    static func usual(_ name: String, _ bucket: String, _ time: Timestamp) -> FileResource {
        var resource = FileResource(name: name, bucket: bucket, size: 0)
        (resource.generation, resource.metageneration) = (1, 1)
        (resource.timeCreated, resource.updated) = (time, time)
        return resource
    }
}
