package import FileRecords
package import JSONTree

/// How an upload begins: what its line and headers say, before its metadata is there.
package struct UploadStart: Sendable {
    /// What the body is.
    package enum Form: Sendable, Equatable {
        /// The bytes of the object.
        case raw
        /// Metadata, then the bytes, read by `MultipartReader`.
        case multipart(boundary: [UInt8])
        /// Metadata, or nothing; the bytes come in requests of their own.
        case resumable
    }

    package let dialect: FileDialect
    package let form: Form
    package let bucket: BucketName
    /// Nil when the metadata has to say it.
    package let name: ObjectName?
    /// The type of the bytes, when a header says it.
    package let type: String?
    /// The number of bytes, when a header of a resumable upload says it.
    package let byteCount: Int64?
    package let conditions: Preconditions
    /// Fields that headers of a plain PUT set.
    private var fields = FileFields()
    private var md5Texts: [String] = []
    private var crc32cTexts: [String] = []

    /// An upload by an SDK of clients. `path` is the name in the address, which iOS has there; others have it in `?name=`.
    init(
        client head: FileRequestHead,
        _ bucket: BucketName,
        path: ObjectName?
    ) throws(FileFault) {
        dialect = .client
        self.bucket = bucket
        conditions = Preconditions()
        let given: ObjectName? =
            if let text = head.parameter("name") { try FileRequestHead.name(text) } else { nil }
        guard let name = path ?? given else {
            throw FileFault(400, "The name of the object is missing: '?name='.")
        }
        guard given == nil || given == name else {
            throw FileFault(400, "The address has two different names of the object.")
        }
        if let fault = name.clientFault { throw FileFault(400, fault.description) }
        self.name = name
        let type = head.header("content-type")
        if let command = head.header("x-goog-upload-command") {
            guard UploadStep.words(command).contains("start") else {
                throw FileFault(400, "The upload command '\(command)' needs an 'upload_id'.")
            }
            form = .resumable
            // iOS leaves "Header-" out, Android sends neither.
            self.type =
                head.header("x-goog-upload-header-content-type")
                ?? head.header("x-goog-upload-content-type")
            byteCount = try head.byteCount(
                "x-goog-upload-header-content-length",
                "x-goog-upload-content-length"
            )
        } else if head.header("x-goog-upload-protocol")?.lowercased() == "multipart"
            || MultipartBoundary.isRelated(type)
        {
            form = .multipart(boundary: try MultipartBoundary.of(head, "multipart/related"))
            self.type = nil
            byteCount = nil
        } else {
            form = .raw
            self.type = type
            byteCount = nil
        }
        readHashes(head)
    }

    /// An upload by a library of servers.
    init(server head: FileRequestHead, _ bucket: BucketName) throws(FileFault) {
        dialect = .server
        self.bucket = bucket
        conditions = try head.conditions(generation: "")
        name =
            if let text = head.parameter("name"), !text.isEmpty {
                try FileRequestHead.name(Self.stripped(text))
            } else { nil }
        switch head.parameter("uploadType") {
        case "media":
            form = .raw
            type = head.header("content-type")
            byteCount = nil
        case "multipart":
            form = .multipart(boundary: try MultipartBoundary.of(head, "multipart/related"))
            type = nil
            byteCount = nil
        case "resumable":
            form = .resumable
            type = head.header("x-upload-content-type")
            byteCount = try head.byteCount("x-upload-content-length")
        default: throw FileFault(400, "'uploadType' must be media, multipart or resumable.")
        }
        readHashes(head)
    }

    /// An upload to a plain address: a PUT of the bytes, or a POST that begins a resumable one.
    init(
        plain head: FileRequestHead,
        _ address: ObjectAddress,
        isResumable: Bool
    ) throws(FileFault) {
        dialect = .plain
        form = isResumable ? .resumable : .raw
        bucket = address.bucket
        name = address.name
        type = head.header("content-type")
        byteCount = isResumable ? try head.byteCount("x-upload-content-length") : nil
        var conditions = try head.conditions(generation: "")
        if let text = head.header("x-goog-if-generation-match") {
            guard let number = Int64(text) else {
                throw FileFault(400, "x-goog-if-generation-match must be a whole number.")
            }
            conditions.ifGenerationMatch = number
        }
        self.conditions = conditions
        let names: [(String, FileField)] = [
            ("cache-control", .cacheControl), ("content-disposition", .contentDisposition),
            ("content-encoding", .contentEncoding), ("content-language", .contentLanguage),
        ]
        for (header, field) in names { fields[field] = head.header(header) }
        for (header, value) in head.headers {
            let header = header.lowercased()
            guard header.hasPrefix("x-goog-meta-"), header.utf8.count > 12 else { continue }
            fields.setCustom(String(header.dropFirst(12)), value)
        }
        readHashes(head)
        if let text = head.header("content-md5") { md5Texts.append(text) }
    }

    private mutating func readHashes(_ head: FileRequestHead) {
        for (name, value) in head.headers where FileRequestHead.isEqual(name, "x-goog-hash") {
            for part in value.split(separator: ",") {
                let sides = part.split(separator: "=", maxSplits: 1)
                guard sides.count == 2 else { continue }
                switch sides[0].drop(while: { $0 == " " }) {
                case "md5": md5Texts.append(String(sides[1]))
                case "crc32c": crc32cTexts.append(String(sides[1]))
                default: continue
                }
            }
        }
    }

    /// Libraries of servers may put one slash before a name, which does not count.
    private static func stripped(_ text: String) -> String {
        text.utf8.first == UInt8(ascii: "/") ? String(text.dropFirst()) : text
    }

    /// Joins what the address says with the metadata. `partType` is the type that the second part of a multipart body has.
    ///
    /// - Throws: `FileFault` (400) for a name that is missing or none, for fields that cannot be stored, and for hashes that
    ///   are no base64 of their size.
    package func description(
        _ body: FileMetadataBody,
        partType: String? = nil,
        isAdmin: Bool
    ) throws(FileFault) -> UploadDescription {
        var name = self.name
        if name == nil, let text = body.name {
            name = try FileRequestHead.name(Self.stripped(text))
        }
        guard let name else {
            throw FileFault(400, "The name of the object is missing: '?name=', or in the metadata.")
        }
        var (fields, tokens) = (self.fields, [String]())
        do throws(MetadataFault) {
            let use: FileMetadataBody.TokenUse = dialect == .client ? .add : .set
            try body.apply(to: &fields, &tokens, isAdmin ? use : .ignore)
        } catch {
            throw FileFault(400, error.description)
        }
        fields[.contentType] = fields[.contentType] ?? partType ?? type
        if dialect == .client, fields[.contentDisposition] == nil {
            fields[.contentDisposition] = "inline"
        }
        if let fault = fields.fault { throw FileFault(400, fault.description) }
        return UploadDescription(
            dialect: dialect,
            address: ObjectAddress(bucket, name),
            fields: fields,
            tokens: tokens,
            md5: try Self.md5(md5Texts + [body.md5Hash].compactMap { $0 }),
            crc32c: try Self.crc32c(crc32cTexts + [body.crc32c].compactMap { $0 }),
            byteCount: byteCount,
            conditions: conditions
        )
    }

    private static func md5(_ texts: [String]) throws(FileFault) -> [UInt8]? {
        var digest: [UInt8]?
        for text in texts {
            guard let bytes = Base64.decode(text), bytes.count == 16 else {
                throw FileFault(400, "An MD5 must be base64 of 16 bytes.")
            }
            guard digest == nil || digest == bytes else { throw .hashMismatch("MD5") }
            digest = bytes
        }
        return digest
    }

    private static func crc32c(_ texts: [String]) throws(FileFault) -> UInt32? {
        var sum: UInt32?
        for text in texts {
            guard let number = FileContent.crc32c(of: text) else {
                throw FileFault(400, "A CRC-32C must be base64 of 4 bytes, the highest first.")
            }
            guard sum == nil || sum == number else { throw .hashMismatch("CRC-32C") }
            sum = number
        }
        return sum
    }
}

/// Everything that is known of an object before its bytes are.
package struct UploadDescription: Sendable, Equatable {
    package let dialect: FileDialect
    package let address: ObjectAddress
    package let fields: FileFields
    /// Those that an administrator gives; for others the object gets one over the protocol of clients, else none.
    package let tokens: [String]
    /// What the sender says that the bytes have; nil where it does not say.
    package let md5: [UInt8]?
    package let crc32c: UInt32?
    package internal(set) var byteCount: Int64?
    package let conditions: Preconditions

    /// The record of the object when its bytes are stored. `fresh` is the download token of an object that a client makes; nil
    /// where objects are to have none.
    package func record(
        _ content: FileContent,
        generation: Int64,
        now: Timestamp,
        fresh: String?,
        uid: String?
    ) -> FileRecord {
        let isOpen = dialect == .client && tokens.isEmpty
        return FileRecord(
            bucket: address.bucket,
            name: address.name,
            content: content,
            generation: generation,
            now: now,
            fields: fields,
            tokens: isOpen ? [fresh].compactMap { $0 } : tokens,
            uid: uid
        )
    }

    /// Why these bytes are not those that were described; nil when they are.
    package func fault(of content: FileContent) -> FileFault? {
        if let byteCount, byteCount != content.byteCount {
            return FileFault(400, "The upload has \(content.byteCount) bytes, not \(byteCount).")
        }
        if let md5, md5 != content.md5 { return .hashMismatch("MD5") }
        if let crc32c, crc32c != content.crc32c { return .hashMismatch("CRC-32C") }
        return nil
    }
}

extension FileRequestHead {
    /// The first header of these names that is there: a number of bytes.
    fileprivate func byteCount(_ names: String...) throws(FileFault) -> Int64? {
        guard let name = names.first(where: { header($0) != nil }) else { return nil }
        guard let number = header(name).flatMap({ Int64($0) }), number >= 0 else {
            throw FileFault(400, "\(name) must be a number of bytes.")
        }
        return number
    }
}
