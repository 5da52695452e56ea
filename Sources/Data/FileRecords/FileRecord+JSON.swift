package import JSONTree

/// Why a stored record cannot be read.
package struct RecordDamage: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong with the text, for people.
    package let description: String
}

/// A record as it is stored, one JSON text; members that are nil, false or empty are left out:
///
///     {"v":1,"bucket":"B","name":"a/b.txt","blob":"2cf2…","size":5,"md5":"XUFA…==","crc32c":"mnG7TA==","parts":2,
///      "generation":1790789164648913,"metageneration":1,"created":1790789164648,"updated":1790789164648,
///      "fields":{"contentType":"text/plain"},"custom":{"k":"v"},"customTime":"…","tokens":["…"],"uid":"…","public":true}
///
/// Times are milliseconds since 1970. Another `v` is another form, which this version refuses.
extension FileRecord {
    /// The form that is written.
    private static let version: Int64 = 1

    /// The text that is stored.
    package var json: [UInt8] {
        var members = JSONMembers()
        members.add("v", .integer(Self.version))
        members.add("bucket", bucket.text)
        members.add("name", name.text)
        members.add("blob", content.blob)
        members.add("size", .integer(content.byteCount))
        members.add("md5", content.md5Text)
        members.add("crc32c", content.crc32cText)
        members.add("parts", content.componentCount.map { .integer(Int64($0)) })
        members.add("generation", .integer(generation))
        members.add("metageneration", .integer(metageneration))
        members.add("created", .integer(created.milliseconds))
        members.add("updated", .integer(updated.milliseconds))
        members.add("fields", fields.fixedJSON)
        members.add("custom", fields.customJSON)
        members.add("customTime", fields.customTime)
        members.add("tokens", tokens.isEmpty ? nil : .list(tokens.map { .string($0) }))
        members.add("uid", uid)
        members.add("public", isPublic ? .boolean(true) : nil)
        return members.value.text
    }

    private static let memberNames: Set<String> = [
        "v", "bucket", "name", "blob", "size", "md5", "crc32c", "parts", "generation",
        "metageneration", "created", "updated", "fields", "custom", "customTime", "tokens", "uid",
        "public",
    ]

    /// Reads a stored text, and takes nothing that this version would not have written.
    package init(json: [UInt8]) throws(RecordDamage) {
        do throws(JSONFieldsFault) {
            try self.init(stored: JSONFields(json))
        } catch {
            throw RecordDamage(description: error.description)
        }
    }

    private init(stored: JSONFields) throws(JSONFieldsFault) {
        let version = try stored.integer("v") ?? 0
        guard version == Self.version else {
            throw JSONFieldsFault("form \(version) is none that this version reads")
        }
        try stored.expect(only: Self.memberNames)
        (bucket, name) = try Self.names(stored)
        content = try FileContent(stored: stored)
        generation = try stored.positive("generation")
        metageneration = try stored.positive("metageneration")
        created = Timestamp(milliseconds: try stored.natural("created"))
        updated = Timestamp(milliseconds: try stored.natural("updated"))
        fields = try FileFields(stored: stored)
        tokens = []
        for element in try stored.list("tokens") {
            guard case .text(let token) = element, DownloadTokens.isToken(token) else {
                throw JSONFieldsFault("'tokens' must have download tokens")
            }
            tokens.append(token)
        }
        uid = try stored.text("uid")
        isPublic = try stored.flag("public")
    }

    private static func names(
        _ stored: JSONFields
    ) throws(JSONFieldsFault) -> (BucketName, ObjectName) {
        let bucket = try stored.text("bucket") ?? ""
        let name = try stored.text("name") ?? ""
        do throws(NameFault) {
            return (try BucketName(bucket), try ObjectName(name))
        } catch {
            throw JSONFieldsFault("\(error)")
        }
    }
}

extension FileContent {
    fileprivate init(stored: JSONFields) throws(JSONFieldsFault) {
        blob = try stored.text("blob") ?? ""
        guard Self.isBlob(blob) else {
            throw JSONFieldsFault("'blob' must be 64 lower-case hexadecimal digits")
        }
        byteCount = try stored.natural("size")
        let digest = try stored.text("md5")
        md5 = digest.flatMap { Base64.decode($0) }
        guard md5?.count == (digest == nil ? nil : 16) else {
            throw JSONFieldsFault("'md5' must be base64 of 16 bytes")
        }
        guard let sum = Self.crc32c(of: try stored.text("crc32c") ?? "") else {
            throw JSONFieldsFault("'crc32c' must be base64 of 4 bytes")
        }
        crc32c = sum
        componentCount = try stored.integer("parts").map { Int(clamping: $0) }
    }

    /// Whether a text can name a blob.
    package static func isBlob(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

extension FileFields {
    /// The fixed fields as an object; nil without any.
    package var fixedJSON: JSONValue? {
        var members = JSONMembers()
        for field in FileField.allCases { members.add(field.rawValue, self[field]) }
        return members.all.isEmpty ? nil : members.value
    }

    /// Custom metadata as an object; nil without any.
    package var customJSON: JSONValue? {
        custom.isEmpty ? nil : .object(custom.map { .init($0.key, .string($0.value)) })
    }

    /// What `fixedJSON`, `customJSON` and `customTime` have written.
    package init(stored: JSONFields) throws(JSONFieldsFault) {
        self.init()
        for (member, value) in try stored.object("fields")?.members ?? [] {
            guard let field = FileField(rawValue: member) else {
                throw JSONFieldsFault("'\(member)' is no field that this version knows")
            }
            guard case .text(let text) = value else {
                throw JSONFieldsFault("'\(member)' must be a text")
            }
            self[field] = text
        }
        for (key, value) in try stored.object("custom")?.members ?? [] {
            guard case .text(let text) = value else {
                throw JSONFieldsFault("'custom' must have texts")
            }
            setCustom(key, text)
        }
        customTime = try stored.text("customTime")
        if let fault { throw JSONFieldsFault("\(fault)") }
    }
}

extension JSONFields {
    fileprivate func natural(_ name: String) throws(JSONFieldsFault) -> Int64 {
        guard let number = try integer(name), number >= 0 else {
            throw JSONFieldsFault("'\(name)' must be a whole number, not below 0")
        }
        return number
    }

    fileprivate func positive(_ name: String) throws(JSONFieldsFault) -> Int64 {
        guard let number = try integer(name), number > 0 else {
            throw JSONFieldsFault("'\(name)' must be a whole number above 0")
        }
        return number
    }
}
