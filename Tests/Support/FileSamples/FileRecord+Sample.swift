package import FileRecords
package import JSONTree

extension FileRecord {
    /// A record of `hello` for tests.
    package static func sample(
        _ name: String = "p/a.txt",
        bucket: String = "demo.appspot.com",
        blob: Character = "a",
        byteCount: Int64 = 5,
        uid: String? = nil,
        fields: FileFields = FileFields(),
        tokens: [String] = []
    ) throws -> FileRecord {
        FileRecord(
            bucket: try BucketName(bucket),
            name: try ObjectName(name),
            content: FileContent(
                blob: String(repeating: blob, count: 64),
                byteCount: byteCount,
                md5: Base64.decode("XUFAKrxLKna5cZ2REBfFkg=="),
                crc32c: 2_591_144_780
            ),
            generation: 1_790_789_164_648_913,
            now: Timestamp(milliseconds: 1_790_789_164_648),
            fields: fields,
            tokens: tokens,
            uid: uid
        )
    }
}

extension Timestamp {
    /// Some time after that of the sample.
    package static let later = Timestamp(milliseconds: 1_790_789_200_000)
}
