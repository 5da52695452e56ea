package import FileRecords
package import JSONTree

/// Records as each dialect shows them. All numbers are texts.
extension FileAnswer {
    /// The metadata of an object. `base` is the public address of the server, without a slash at its end.
    package init(_ record: FileRecord, _ dialect: FileDialect, base: String) {
        self.init(json: Self.value(record, dialect, base: base))
        headers.append(("ETag", "\"\(record.entityTag)\""))
    }

    /// The metadata of an object as JSON.
    package static func json(_ record: FileRecord, _ dialect: FileDialect, base: String) -> [UInt8]
    {
        value(record, dialect, base: base).text
    }

    private static func value(
        _ record: FileRecord,
        _ dialect: FileDialect,
        base: String
    ) -> JSONValue {
        dialect == .client ? record.clientValue : record.serverValue(base: base)
    }

    /// A page of a list to clients: both arrays are there, also empty.
    package static func clientList(_ bucket: BucketName, _ list: NameList) -> FileAnswer {
        FileAnswer(json: [
            "prefixes": .list(list.prefixes.map { .string($0) }),
            "items": .list(
                list.items.map { ["name": .string($0.text), "bucket": .string(bucket.text)] }
            ),
            "nextPageToken": list.next.map { .string($0.text) },
        ])
    }

    /// A page of a list to libraries of servers: empty arrays are left out. `records` are those of `list.items`, which are
    /// still there.
    package static func serverList(
        _ list: NameList,
        _ records: [FileRecord],
        base: String
    ) -> FileAnswer {
        let prefixes = list.prefixes.map { JSONValue.string($0) }
        let items = records.map { $0.serverValue(base: base) }
        return FileAnswer(json: [
            "kind": "storage#objects", "nextPageToken": list.next.map { .string($0.text) },
            "prefixes": prefixes.isEmpty ? nil : .list(prefixes),
            "items": items.isEmpty ? nil : .list(items),
        ])
    }

    /// The answer to a copy: the new object, in an envelope for a rewrite.
    package static func copied(
        _ record: FileRecord,
        _ form: FileCopy.Form,
        base: String
    ) -> FileAnswer {
        guard form == .rewrite else { return FileAnswer(record, .server, base: base) }
        let size = JSONValue.string("\(record.content.byteCount)")
        return FileAnswer(json: [
            "kind": "storage#rewriteResponse", "totalBytesRewritten": size, "objectSize": size,
            "done": .boolean(true), "resource": record.serverValue(base: base),
        ])
    }

    /// The answer to the call that opens an object to everyone.
    package static func access(_ record: FileRecord, base: String) -> FileAnswer {
        FileAnswer(json: grant(record, base))
    }

    /// Who may read an object at its plain address: everyone, or only administrators, who need no grant.
    package static func accessList(_ record: FileRecord, base: String) -> FileAnswer {
        FileAnswer(json: [
            "kind": "storage#objectAccessControls",
            "items": record.isPublic ? .list([grant(record, base)]) : nil,
        ])
    }

    private static func grant(_ record: FileRecord, _ base: String) -> JSONValue {
        let id = "\(record.bucket.text)/\(record.name.text)/\(record.generation)/allUsers"
        return [
            "kind": "storage#objectAccessControl", "object": .string(record.name.text),
            "id": .string(id), "selfLink": .string("\(record.link(base: base))/acl/allUsers"),
            "bucket": .string(record.bucket.text), "entity": "allUsers", "role": "READER",
            "etag": .string(record.entityTag), "generation": .string("\(record.generation)"),
        ]
    }

    /// A bucket.
    package static func bucket(
        _ name: BucketName,
        created: Timestamp,
        base: String
    ) -> FileAnswer {
        FileAnswer(json: bucketValue(name, created, base))
    }

    /// All buckets.
    package static func buckets(
        _ buckets: [(name: BucketName, created: Timestamp)],
        base: String
    ) -> FileAnswer {
        let items = buckets.map { bucketValue($0.name, $0.created, base) }
        return FileAnswer(json: [
            "kind": "storage#buckets", "items": items.isEmpty ? nil : .list(items),
        ])
    }

    private static func bucketValue(
        _ name: BucketName,
        _ created: Timestamp,
        _ base: String
    ) -> JSONValue {
        let time = JSONValue.string(ISO8601.text(of: created.milliseconds))
        return [
            "kind": "storage#bucket", "id": .string(name.text), "name": .string(name.text),
            "selfLink": .string("\(base)/storage/v1/b/\(name.text)"), "timeCreated": time,
            "updated": time, "metageneration": "1", "location": "US", "storageClass": "STANDARD",
            "etag": "CAE=",
        ]
    }
}

extension FileRecord {
    /// What clients see.
    fileprivate var clientValue: JSONValue {
        var members = common
        members.add("contentEncoding", fields[.contentEncoding] ?? "identity")
        members.add("contentDisposition", fields[.contentDisposition])
        members.add("contentLanguage", fields[.contentLanguage])
        members.add("cacheControl", fields[.cacheControl])
        members.add("downloadTokens", tokens.isEmpty ? nil : tokens.joined(separator: ","))
        members.add("metadata", fields.customJSON)
        return members.value
    }

    /// What libraries of servers see: tokens are a key of the custom metadata.
    fileprivate func serverValue(base: String) -> JSONValue {
        var members = common
        members.add("kind", "storage#object" as String)
        members.add("id", "\(bucket.text)/\(name.text)/\(generation)" as String)
        members.add("selfLink", link(base: base))
        members.add(
            "mediaLink",
            "\(base)/download/storage/v1/b/\(bucket.text)/o/\(PercentCoding.encode(name.text))"
                + "?generation=\(generation)&alt=media" as String
        )
        members.add("timeStorageClassUpdated", ISO8601.text(of: created.milliseconds))
        members.add("contentEncoding", fields[.contentEncoding])
        members.add("contentDisposition", fields[.contentDisposition])
        members.add("contentLanguage", fields[.contentLanguage])
        members.add("cacheControl", fields[.cacheControl])
        members.add("customTime", fields.customTime)
        members.add("componentCount", content.componentCount.map { .number($0) })
        var shown = fields
        if !tokens.isEmpty {
            shown.setCustom(FileMetadataBody.tokensKey, tokens.joined(separator: ","))
        }
        members.add("metadata", shown.customJSON)
        return members.value
    }

    private var common: JSONMembers {
        var members = JSONMembers()
        members.add("name", name.text)
        members.add("bucket", bucket.text)
        members.add("generation", "\(generation)" as String)
        members.add("metageneration", "\(metageneration)" as String)
        members.add("contentType", contentType)
        members.add("timeCreated", ISO8601.text(of: created.milliseconds))
        members.add("updated", ISO8601.text(of: updated.milliseconds))
        members.add("storageClass", "STANDARD" as String)
        members.add("size", "\(content.byteCount)" as String)
        members.add("md5Hash", content.md5Text)
        members.add("crc32c", content.crc32cText)
        members.add("etag", entityTag)
        return members
    }

    fileprivate func link(base: String) -> String {
        "\(base)/storage/v1/b/\(bucket.text)/o/\(PercentCoding.encode(name.text))"
    }
}
