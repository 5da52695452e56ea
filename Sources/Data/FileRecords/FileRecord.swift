package import JSONTree

/// What is stored of an object's bytes.
package struct FileContent: Sendable, Equatable {
    /// The SHA-256 of the bytes as 64 lower-case hexadecimal digits, which names the blob.
    package let blob: String
    package let byteCount: Int64
    /// 16 bytes; nil for an object that was composed.
    package let md5: [UInt8]?
    /// CRC-32C (Castagnoli) of the bytes.
    package let crc32c: UInt32
    /// How many objects it was composed of; nil for one that was uploaded.
    package let componentCount: Int?

    package init(
        blob: String,
        byteCount: Int64,
        md5: [UInt8]?,
        crc32c: UInt32,
        componentCount: Int? = nil
    ) {
        self.blob = blob
        self.byteCount = byteCount
        self.md5 = md5
        self.crc32c = crc32c
        self.componentCount = componentCount
    }

    /// Base64 of the four bytes, the highest first.
    package var crc32cText: String { Self.text(crc32c: crc32c) }

    /// Base64 of the four bytes of a CRC-32C, the highest first: `hello` has `mnG7TA==`.
    package static func text(crc32c: UInt32) -> String {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: crc32c >> $0) }
        return Base64.encode(bytes, .standard, isPadded: true)
    }

    /// The CRC-32C that a text says; nil for another text.
    package static func crc32c(of text: String) -> UInt32? {
        guard let bytes = Base64.decode(text), bytes.count == 4 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Base64 of the MD5.
    package var md5Text: String? { md5.map { Base64.encode($0, .standard, isPadded: true) } }
}

/// Everything that is kept of one object.
package struct FileRecord: Sendable, Equatable {
    package let bucket: BucketName
    package let name: ObjectName
    package let content: FileContent
    /// Microseconds since 1970 when the bytes were stored; grows with each write of the server.
    package let generation: Int64
    /// 1 when the bytes are stored, one more with each change of anything else.
    package var metageneration: Int64 = 1
    /// When the bytes were stored.
    package let created: Timestamp
    /// When anything was changed last.
    package var updated: Timestamp
    package var fields: FileFields
    /// In the order in which they were made.
    package var tokens: [String]
    /// Who uploaded it; nil for an administrator, or a user who is not signed in.
    package let uid: String?
    /// Whether everyone may read the bytes at their plain address.
    package var isPublic = false

    /// The record of bytes that were just stored.
    package init(
        bucket: BucketName,
        name: ObjectName,
        content: FileContent,
        generation: Int64,
        now: Timestamp,
        fields: FileFields = FileFields(),
        tokens: [String] = [],
        uid: String? = nil
    ) {
        self.bucket = bucket
        self.name = name
        self.content = content
        self.generation = generation
        created = now
        updated = now
        self.fields = fields
        self.tokens = tokens
        self.uid = uid
    }

    /// What downloads say of the type.
    package var contentType: String { fields[.contentType] ?? "application/octet-stream" }

    /// The generation of the next write: the time, or one more than the last where the clock stands or goes back.
    package static func nextGeneration(after last: Int64, now: Timestamp) -> Int64 {
        let (time, isTooFar) = now.milliseconds.multipliedReportingOverflow(by: 1000)
        return max(isTooFar ? 0 : time, last + 1)
    }

    /// The entity tag, without quotes; changes with either generation.
    ///
    ///     08 varint(generation) 10 varint(metageneration)        in base64
    ///
    /// Observed of the hosted service: two fields of a protocol buffer.
    package var entityTag: String {
        var bytes: [UInt8] = [0x08]
        Self.append(varint: UInt64(bitPattern: generation), to: &bytes)
        bytes.append(0x10)
        Self.append(varint: UInt64(bitPattern: metageneration), to: &bytes)
        return Base64.encode(bytes, .standard, isPadded: true)
    }

    private static func append(varint: UInt64, to bytes: inout [UInt8]) {
        var rest = varint
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
