package import JSONTree

/// A request as rules for files see it.
package struct FileRulesRequest: Sendable {
    /// The bucket's name.
    package let bucket: String

    /// The object's name, or the prefix that is listed; one slash at the end of a prefix does not count.
    package let name: String

    /// What is to be done; an upload over an existing object is a `create`.
    package let operation: FileOperation

    /// Nil when signed out.
    package let auth: FileAuth?

    /// `request.time`.
    package let time: Timestamp

    /// The object as it is; nil where there is none, and for a list.
    package let resource: FileResource?

    /// `request.resource`, the object as it will be; nil where nothing is written.
    package let newResource: FileResource?

    /// A request.
    package init(
        _ operation: FileOperation,
        bucket: String,
        name: String,
        auth: FileAuth?,
        time: Timestamp,
        resource: FileResource? = nil,
        newResource: FileResource? = nil
    ) {
        self.operation = operation
        self.bucket = bucket
        self.name = name
        self.auth = auth
        self.time = time
        self.resource = resource
        self.newResource = newResource
    }

    /// `/b/BUCKET/o/` and the pieces of the name between slashes: what patterns are tried on.
    package var path: [[UInt8]] {
        var bytes = Array(name.utf8)[...]
        if operation == .list, bytes.last == 0x2F { bytes.removeLast() }
        let pieces =
            bytes.isEmpty ? [] : bytes.split(separator: 0x2F, omittingEmptySubsequences: false)
        return [Array("b".utf8), Array(bucket.utf8), Array("o".utf8)] + pieces.map { Array($0) }
    }
}

/// The caller.
package struct FileAuth: Sendable, Equatable {
    /// The user's id.
    package let uid: String

    /// `request.auth.token` as the JSON of an object. It is parsed only where rules look at it; text that is none
    /// makes `request.auth` an error.
    package let claims: [UInt8]

    /// A user and their claims.
    package init(uid: String, claims: [UInt8] = Array("{}".utf8)) {
        self.uid = uid
        self.claims = claims
    }
}

/// The metadata of an object as rules see it. What is nil is absent: reading it is an error.
package struct FileResource: Sendable, Equatable {
    /// The whole name.
    package var name: String
    package var bucket: String
    /// Bytes of the contents.
    package var size: Int64
    package var contentType: String?
    package var contentEncoding: String?
    package var contentDisposition: String?
    package var contentLanguage: String?
    package var cacheControl: String?
    package var md5Hash: String?
    package var crc32c: String?
    package var etag: String?
    package var generation: Int64?
    package var metageneration: Int64?
    package var timeCreated: Timestamp?
    package var updated: Timestamp?
    /// Custom metadata; never absent for rules.
    package var metadata: [String: String] = [:]

    /// An object with what every object has.
    package init(name: String, bucket: String, size: Int64) {
        self.name = name
        self.bucket = bucket
        self.size = size
    }

    /// The members that are texts, by their name in rules.
    package static let texts:
        [(name: String, field: any (WritableKeyPath<FileResource, String?> & Sendable))] = [
            ("contentType", \.contentType), ("contentEncoding", \.contentEncoding),
            ("contentDisposition", \.contentDisposition), ("contentLanguage", \.contentLanguage),
            ("cacheControl", \.cacheControl), ("md5Hash", \.md5Hash), ("crc32c", \.crc32c),
            ("etag", \.etag),
        ]

    /// Every member, by its name in rules.
    package static let members =
        texts.map(\.name) + [
            "name", "bucket", "size", "generation", "metageneration", "timeCreated", "updated",
            "metadata",
        ]

    /// The map that `resource` is.
    var value: FileValue {
        var members: [(key: [UInt8], value: FileValue)] = [
            (Array("name".utf8), .text(name)), (Array("bucket".utf8), .text(bucket)),
            (Array("size".utf8), .int(size)),
            (Array("metadata".utf8), .map(FileMap(metadata.map { (Array($0.utf8), .text($1)) }))),
        ]
        func add(_ name: String, _ value: FileValue?) {
            if let value { members.append((Array(name.utf8), value)) }
        }
        for (name, field) in FileResource.texts {
            add(name, self[keyPath: field].map { .text($0) })
        }
        add("generation", generation.map { .int($0) })
        add("metageneration", metageneration.map { .int($0) })
        add("timeCreated", timeCreated.map { .timestamp(NanoTime($0)) })
        add("updated", updated.map { .timestamp(NanoTime($0)) })
        return .map(FileMap(members))
    }
}

/// Reads a database for rules: the node at a path of the database of that name, or, without a name, of the one that is
/// configured for the bucket. Absent where nothing is; nil where there is no such database, or none that rules may read.
///
/// All calls of one decision must see one state.
package typealias FileDatabaseLookup = (_ database: String?, _ path: Path) -> Node?
