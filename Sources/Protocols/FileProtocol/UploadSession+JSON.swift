package import FileRecords
import JSONTree

/// A session as it is stored, one JSON text; members that are nil, false, 0 or empty are left out:
///
///     {"v":1,"dialect":"client","bucket":"B","name":"a.txt","fields":{…},"custom":{…},"tokens":[…],"md5":"…","crc32c":"…",
///      "total":5,"conditions":{"ifGenerationMatch":0},"uid":"…","claims":"{…}","admin":true,"limit":268435456,"created":1790789164648,
///      "received":262144,"state":"final","status":200,"body":"{…}"}
extension UploadSession {
    private static let version: Int64 = 1

    /// The text that is stored.
    package var json: [UInt8] {
        var members = JSONMembers()
        members.add("v", .integer(Self.version))
        members.add("dialect", description.dialect.rawValue)
        members.add("bucket", description.address.bucket.text)
        members.add("name", description.address.name.text)
        members.add("fields", description.fields.fixedJSON)
        members.add("custom", description.fields.customJSON)
        members.add("customTime", description.fields.customTime)
        let tokens = description.tokens
        members.add("tokens", tokens.isEmpty ? nil : .list(tokens.map { .string($0) }))
        members.add(
            "md5",
            description.md5.map { Base64.encode($0, .standard, isPadded: true) }
        )
        members.add("crc32c", description.crc32c.map { FileContent.text(crc32c: $0) })
        members.add("total", description.byteCount.map { .integer($0) })
        members.add("conditions", Self.json(description.conditions))
        members.add("uid", uid)
        members.add("claims", claims)
        members.add("admin", isAdmin ? .boolean(true) : nil)
        members.add("limit", .integer(byteLimit))
        members.add("created", .integer(created.milliseconds))
        members.add("received", .integer(byteCount))
        switch state {
        case .active: break
        case .cancelled: members.add("state", "cancelled" as String)
        case .final(let status, let body):
            members.add("state", "final" as String)
            members.add("status", count: status)
            members.add("body", String(decoding: body, as: UTF8.self))
        }
        return members.value.text
    }

    private static func json(_ conditions: Preconditions) -> JSONValue? {
        var members = JSONMembers()
        for (name, path) in Self.conditionPaths {
            members.add(name, conditions[keyPath: path].map { .integer($0) })
        }
        return members.all.isEmpty ? nil : members.value
    }

    private static var conditionPaths: [(String, WritableKeyPath<Preconditions, Int64?>)] {
        [
            ("ifGenerationMatch", \.ifGenerationMatch),
            ("ifGenerationNotMatch", \.ifGenerationNotMatch),
            ("ifMetagenerationMatch", \.ifMetagenerationMatch),
            ("ifMetagenerationNotMatch", \.ifMetagenerationNotMatch),
        ]
    }

    private static let memberNames: Set<String> = [
        "v", "dialect", "bucket", "name", "fields", "custom", "customTime", "tokens", "md5",
        "crc32c", "total", "conditions", "uid", "claims", "admin", "limit", "created", "received",
        "state",
        "status", "body",
    ]

    /// Reads a stored text, and takes nothing that this version would not have written.
    ///
    /// - Throws: `JSONFieldsFault` with what is wrong.
    package init(json: [UInt8]) throws(JSONFieldsFault) {
        let stored = try JSONFields(json)
        let version = try stored.integer("v") ?? 0
        guard version == Self.version else {
            throw JSONFieldsFault("form \(version) is none that this version reads")
        }
        try stored.expect(only: Self.memberNames)
        guard let received = try stored.integer("received"), received >= 0,
            let limit = try stored.integer("limit"), let created = try stored.integer("created")
        else { throw JSONFieldsFault("'received', 'limit' and 'created' must be whole numbers") }
        self.init(
            try UploadDescription(stored: stored),
            uid: try stored.text("uid"),
            claims: try stored.text("claims"),
            isAdmin: try stored.flag("admin"),
            byteLimit: limit,
            created: Timestamp(milliseconds: created),
            byteCount: received,
            state: try Self.state(stored)
        )
    }

    private static func state(_ stored: JSONFields) throws(JSONFieldsFault) -> State {
        switch try stored.text("state") {
        case nil: return .active
        case "cancelled": return .cancelled
        case "final":
            guard let status = try stored.integer("status"), (200...599).contains(status),
                let body = try stored.text("body")
            else { throw JSONFieldsFault("a final state must have 'status' and 'body'") }
            return .final(status: Int(status), body: Array(body.utf8))
        case .some(let text): throw JSONFieldsFault("'\(text)' is no state")
        }
    }

    fileprivate static func conditions(
        _ stored: JSONFields
    ) throws(JSONFieldsFault) -> Preconditions {
        var conditions = Preconditions()
        guard let members = try stored.object("conditions") else { return conditions }
        try members.expect(only: Set(conditionPaths.map(\.0)))
        for (name, path) in conditionPaths {
            conditions[keyPath: path] = try members.integer(name)
        }
        return conditions
    }
}

extension UploadDescription {
    fileprivate init(stored: JSONFields) throws(JSONFieldsFault) {
        guard let dialect = FileDialect(rawValue: try stored.text("dialect") ?? "") else {
            throw JSONFieldsFault("'dialect' must be client, server or plain")
        }
        var tokens: [String] = []
        for element in try stored.list("tokens") {
            guard case .text(let token) = element else {
                throw JSONFieldsFault("'tokens' must have texts")
            }
            tokens.append(token)
        }
        let (md5Text, crcText) = (try stored.text("md5"), try stored.text("crc32c"))
        let (md5, crc32c) = (
            md5Text.flatMap { Base64.decode($0) }, crcText.flatMap(FileContent.crc32c(of:))
        )
        guard md5?.count == (md5Text == nil ? nil : 16), (crc32c == nil) == (crcText == nil) else {
            throw JSONFieldsFault("'md5' and 'crc32c' must be base64 of 16 and 4 bytes")
        }
        self.init(
            dialect: dialect,
            address: try Self.address(stored),
            fields: try FileFields(stored: stored),
            tokens: tokens,
            md5: md5,
            crc32c: crc32c,
            byteCount: try stored.integer("total"),
            conditions: try UploadSession.conditions(stored)
        )
    }

    private static func address(_ stored: JSONFields) throws(JSONFieldsFault) -> ObjectAddress {
        let (bucket, name) = (try stored.text("bucket") ?? "", try stored.text("name") ?? "")
        do throws(NameFault) {
            return ObjectAddress(try BucketName(bucket), try ObjectName(name))
        } catch {
            throw JSONFieldsFault("\(error)")
        }
    }
}
