import FileProtocol
import FileRecords
import FileSamples
import JSONTree
import TestSupport
import Testing

@Suite("requests of the file protocols")
struct RequestTests {
    struct Row: Decodable, Sendable, CustomTestStringConvertible {
        let who: String
        let request: String
        let dialect: String?
        let call: String?
        let status: Int?
        let says: String?

        var testDescription: String { who }
    }

    @Test("mean what their rows say", arguments: spec("requests", of: Row.self))
    func table(row: Row) throws {
        let dialect = row.dialect.flatMap { FileDialect(rawValue: $0) } ?? .client
        do throws(FileRefusal) {
            let request = try FileRequest(try Self.head(row.request))
            #expect(request.text == row.call)
            #expect(request.dialect == dialect)
        } catch {
            #expect(error.dialect == dialect)
            #expect(error.fault.status == row.status)
            #expect(row.says.map(error.fault.message.contains) == true, "\(error.fault.message)")
        }
    }

    private static func head(_ text: String) throws(FileRefusal) -> FileRequestHead {
        do { return try FileProtocolTests.head(text) } catch {
            throw FileRefusal(
                dialect: .client,
                fault: error as? FileFault ?? FileFault(500, "\(error)")
            )
        }
    }

    @Test("of any bytes are decoded or refused, and nothing else")
    func fuzz() throws {
        var random = TestSeed.generator(91)
        let pieces = [
            "/v0", "/b", "/demo.appspot.com", "/o", "/a%2Fb", "/storage/v1", "/upload", "/download",
            "/batch", "?", "&",
            "name=", "alt=media", "upload_id=x", "%", "%zz", "//", "/copyTo", "/rewriteTo", "/acl",
            "=", "é", "\u{0}",
            "uploadType=resumable", "maxResults=9999999999999999999", "generation=-1", "/.", "+",
        ]
        let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", ""]
        let names = [
            "x-goog-upload-command", "content-range", "content-type", "x-http-method-override",
            "x-goog-hash",
        ]
        let values = [
            "start", "upload, finalize", "bytes 0-*/*",
            "bytes 9223372036854775807-9223372036854775807/*", "multipart/related; boundary=",
            "multipart/related; boundary='", "PATCH", "md5", "=", "",
        ]
        var (decodedCount, refusedCount) = (0, 0)
        for _ in 0..<20_000 {
            let target = (0..<random.index(9)).map { _ in pieces[random.index(pieces.count)] }
                .joined()
            let headers = (0..<random.index(3)).map { _ in
                (name: names[random.index(names.count)], value: values[random.index(values.count)])
            }
            do throws(FileFault) {
                let head = try FileRequestHead(
                    method: methods[random.index(8)],
                    target: target,
                    headers: headers
                )
                do throws(FileRefusal) {
                    _ = try FileRequest(head).text
                    decodedCount += 1
                } catch {
                    refusedCount += 1
                    #expect((400..<502).contains(error.fault.status))
                }
            } catch {
                #expect(error.status == 400)
            }
        }
        #expect(decodedCount > 200 && refusedCount > 5_000)
    }
}

@Suite("descriptions of uploads")
struct UploadStartTests {
    private static func start(_ text: String) throws -> UploadStart {
        guard case .upload(let start) = try FileRequest(head(text)).call else {
            throw FileFault(500, "no upload")
        }
        return start
    }

    @Test(
        "take the type from the metadata, else from the second part, else from the header",
        arguments: [
            (#"{"contentType":"a/a"}"#, "b/b", "a/a"), ("{}", "b/b", "b/b"), ("", nil, "c/c"),
            (#"{"contentType":null}"#, nil, "c/c"),
        ] as [(String, String?, String)]
    )
    func type(metadata: String, part: String?, type: String) throws {
        let start = try Self.start("POST /v0/b/demo.appspot.com/o?name=a\nContent-Type: c/c")
        let body = try FileMetadataBody(Array(metadata.utf8))
        let description = try start.description(body, partType: part, isAdmin: false)
        #expect(description.fields[.contentType] == type)
        #expect(description.fields[.contentDisposition] == "inline")
        #expect(description.address.name.text == "a" && description.tokens.isEmpty)
    }

    @Test("take tokens from administrators alone")
    func tokens() throws {
        let body = try FileMetadataBody(
            Array(#"{"metadata":{"firebaseStorageDownloadTokens":"t1","k":"v"}}"#.utf8)
        )
        let client = try Self.start("POST /v0/b/demo.appspot.com/o?name=a\nContent-Type: c/c")
        #expect(try client.description(body, isAdmin: false).tokens.isEmpty)
        #expect(try client.description(body, isAdmin: true).tokens == ["t1"])
        let server = try Self.start(
            "POST /upload/storage/v1/b/demo.appspot.com/o?uploadType=media&name=a"
        )
        let description = try server.description(body, isAdmin: true)
        #expect(description.tokens == ["t1"] && description.fields.custom.map(\.key) == ["k"])
        #expect(description.fields[.contentDisposition] == nil)
    }

    @Test("of libraries take the name from the metadata, without a slash before it")
    func names() throws {
        let start = try Self.start("POST /upload/storage/v1/b/demo.appspot.com/o?uploadType=media")
        let body = try FileMetadataBody(Array(#"{"name":"/x/y"}"#.utf8))
        #expect(try start.description(body, isAdmin: true).address.name.text == "x/y")
        #expect(throws: FileFault.self) { try start.description(FileMetadataBody(), isAdmin: true) }
        #expect(throws: FileFault.self) {
            try start.description(FileMetadataBody(Array(#"{"name":"a\nb"}"#.utf8)), isAdmin: true)
        }
    }

    @Test("have fields of headers at plain addresses")
    func plain() throws {
        let start = try Self.start(
            """
            PUT /demo.appspot.com/a
            Content-Type: text/plain
            Cache-Control: no-cache
            Content-MD5: XUFAKrxLKna5cZ2REBfFkg==
            x-goog-meta-Colour: red
            """
        )
        let description = try start.description(FileMetadataBody(), isAdmin: true)
        #expect(
            description.fields[.cacheControl] == "no-cache"
                && description.fields[.contentType] == "text/plain"
        )
        #expect(description.fields.custom.map { [$0.key, $0.value] } == [["colour", "red"]])
        #expect(description.md5?.count == 16)
    }

    @Test(
        "compare hashes and size with the bytes",
        arguments: [
            ("", "", nil), ("crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg==", "", nil),
            ("crc32c=mnG7TB==", "", "no base64"), ("crc32c=AAAAAA==", "", "CRC-32C"),
            ("md5=AAAAAAAAAAAAAAAAAAAAAA==", "", "MD5"),
            ("", #"{"md5Hash":"XUFAKrxLKna5cZ2REBfFkg==","crc32c":"mnG7TA=="}"#, nil),
            ("", #"{"md5Hash":"AAAAAAAAAAAAAAAAAAAAAA=="}"#, "MD5"),
            ("", #"{"crc32c":"AAAAAA=="}"#, "CRC-32C"),
            ("crc32c=mnG7TA==", #"{"crc32c":"AAAAAA=="}"#, "CRC-32C"),
            ("md5=x", "", "no base64"), ("", #"{"crc32c":"2591144780"}"#, "no base64"),
            ("sha1=x", "", nil),
        ] as [(String, String, String?)]
    )
    func hashes(header: String, metadata: String, fault: String?) throws {
        let start = try Self.start(
            "POST /upload/storage/v1/b/demo.appspot.com/o?uploadType=media&name=a\nX-Goog-Hash: \(header)"
        )
        let content = try FileRecord.sample().content
        do throws(FileFault) {
            let body: FileMetadataBody
            do throws(MetadataFault) { body = try FileMetadataBody(Array(metadata.utf8)) } catch {
                throw FileFault(400, "\(error)")
            }
            let description = try start.description(body, isAdmin: true)
            let found = description.fault(of: content)
            #expect(found.map(\.status) == (fault == nil ? nil : 400))
            #expect(found?.message.contains(fault ?? "?") ?? (fault == nil))
        } catch {
            #expect(
                fault == "no base64"
                    ? error.message.contains("base64") : error.message.contains(fault ?? "?")
            )
        }
    }

    @Test("become records; over the protocol of clients with a token of their own")
    func records() throws {
        let content = try FileRecord.sample().content
        for (text, tokens) in [
            ("POST /v0/b/demo.appspot.com/o?name=a\nContent-Type: c/c", ["t"]),
            ("POST /upload/storage/v1/b/demo.appspot.com/o?uploadType=media&name=a", []),
        ] {
            let description = try Self.start(text).description(FileMetadataBody(), isAdmin: false)
            func record(_ fresh: String?) -> FileRecord {
                description.record(content, generation: 7, now: .later, fresh: fresh, uid: "u")
            }
            #expect(record("t").tokens == tokens && record(nil).tokens.isEmpty)
            #expect(record("t").generation == 7 && record("t").uid == "u")
            #expect(record("t").fields == description.fields && record("t").content == content)
        }
    }

    @Test("the CRC-32C of this server's log is the one of these protocols, whole or in parts")
    func checksum() {
        #expect(FileContent.text(crc32c: checksumOf("hello")) == "mnG7TA==")
        #expect(FileContent.text(crc32c: checksumOf("hel", "lo")) == "mnG7TA==")
        // RFC 3720, B.4: 32 bytes of zeros.
        #expect(checksumOf(String(repeating: "\0", count: 32)) == 0x8A91_36AA)
    }
}
