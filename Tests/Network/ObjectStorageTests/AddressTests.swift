import Testing

@testable import ObjectStorage

@Suite("addresses of buckets")
struct AddressTests {
    struct Row: Sendable {
        let endpoint: String
        var bucket = "files"
        var style = BucketAddress.Style.path
        let origin: String
        let object: String
    }

    @Test(
        "say where an object is",
        arguments: [
            Row(
                endpoint: "https://s3.example.com",
                origin: "https://s3.example.com",
                object: "/files/ab/c%20d"
            ),
            Row(
                endpoint: "https://s3.example.com/",
                style: .virtualHost,
                origin: "https://files.s3.example.com",
                object: "/ab/c%20d"
            ),
            Row(
                endpoint: "http://10.0.0.2:9000/s3",
                origin: "http://10.0.0.2:9000",
                object: "/s3/files/ab/c%20d"
            ),
            Row(
                endpoint: "http://S3.Example.com:8080/s3/v1/",
                bucket: "a.b-c",
                style: .virtualHost,
                origin: "http://a.b-c.s3.example.com:8080",
                object: "/s3/v1/ab/c%20d"
            ),
            Row(
                endpoint: "HTTPS://s3.example.com:443",
                bucket: "Old_Name",
                origin: "https://s3.example.com",
                object: "/Old_Name/ab/c%20d"
            ),
            Row(
                endpoint: "https://s3.example.com:80",
                origin: "https://s3.example.com:80",
                object: "/files/ab/c%20d"
            ),
            Row(
                endpoint: "http://[::1]:9000",
                origin: "http://[::1]:9000",
                object: "/files/ab/c%20d"
            ),
            Row(endpoint: "http://[::1]", origin: "http://[::1]", object: "/files/ab/c%20d"),
        ]
    )
    func address(row: Row) throws {
        let address = try BucketAddress(
            endpoint: row.endpoint,
            bucket: row.bucket,
            style: row.style
        )
        let key = try #require(ObjectKey("ab/c d"))
        #expect(address.origin == row.origin)
        #expect(address.path(key) == row.object)
        #expect(
            address.path(nil) + "/ab/c%20d" == (address.path(nil) == "/" ? "/" : "") + row.object
        )
        #expect(address.isEncrypted == row.origin.hasPrefix("https"))
    }

    @Test(
        "are refused when they cannot be one",
        arguments: [
            ("s3.example.com", "files", .path, .scheme("s3.example.com")),
            ("ftp://a", "files", .path, .scheme("ftp://a")),
            ("https://", "files", .path, .host("https://")),
            ("https://key:secret@a", "files", .path, .host("https://key:secret@a")),
            ("https://a b", "files", .path, .host("https://a b")),
            ("https://[::1", "files", .path, .host("https://[::1")),
            ("https://a:", "files", .path, .port("https://a:")),
            ("https://a:0", "files", .path, .port("https://a:0")),
            ("https://a:65536", "files", .path, .port("https://a:65536")),
            ("https://a:9x", "files", .path, .port("https://a:9x")),
            ("https://a?b", "files", .path, .path("https://a?b")),
            ("https://a/b#c", "files", .path, .path("https://a/b#c")),
            ("https://a//b", "files", .path, .path("https://a//b")),
            ("https://a/%41", "files", .path, .path("https://a/%41")),
            ("https://a", "fi", .path, .bucket("fi")),
            ("https://a", "a/b", .path, .bucket("a/b")),
            ("https://a", "a..b", .path, .bucket("a..b")),
            ("https://a", "föl", .path, .bucket("föl")),
            ("https://a", "Files", .virtualHost, .bucketIsNoLabel("Files")),
            ("https://a", "fi_les", .virtualHost, .bucketIsNoLabel("fi_les")),
            ("https://10.0.0.1", "files", .virtualHost, .numericHost("10.0.0.1")),
            ("https://[::1]:90", "files", .virtualHost, .numericHost("[::1]")),
        ] as [(String, String, BucketAddress.Style, ObjectStoreSettingError)]
    )
    func refused(
        endpoint: String,
        bucket: String,
        style: BucketAddress.Style,
        error: ObjectStoreSettingError
    ) {
        #expect(throws: error) {
            try BucketAddress(endpoint: endpoint, bucket: bucket, style: style)
        }
        #expect(!error.description.isEmpty)
    }

    @Test(
        "take names of objects that stay what they are on their way",
        arguments: [
            ("a", true), ("a/b/", true), ("a//b", true), ("/", true), ("...", true),
            ("", false), (".", false), ("a/../b", false), ("a/.", false), ("a\0", false),
            (String(repeating: "ü", count: 512), true),
            (String(repeating: "ü", count: 513), false),
        ]
    )
    func keys(text: String, isKey: Bool) {
        #expect((ObjectKey(text) != nil) == isKey)
    }

    @Test("say which region a signature cannot name", arguments: ["", "a b", "eu/west", "ü"])
    func regions(region: String) throws {
        let address = try BucketAddress(endpoint: "https://a", bucket: "files")
        let credentials = try ObjectStoreCredentials(accessKeyID: "a", secretAccessKey: "s")
        #expect(throws: ObjectStoreSettingError.region(region)) {
            try ObjectStoreConfiguration(address, region: region, credentials: credentials)
        }
    }
}
