import FileProtocol
import FileRecords
import FileSamples
import JSONTree
import TestSupport
import Testing

@Suite("downloads")
struct DownloadTests {
    struct RangeRow: Decodable, Sendable, CustomTestStringConvertible {
        let size: Int64
        let range: String?
        let ifRange: String?
        let ifNoneMatch: String?
        let ifModifiedSince: String?
        let status: Int
        /// The status for a client where it is another one.
        let client: Int?
        let bytes: String?

        var testDescription: String {
            "\(range ?? "all") of \(size), \(ifRange ?? ifNoneMatch ?? ifModifiedSince ?? "")"
        }

        var request: MediaRequest {
            var request = MediaRequest()
            request.range = range
            request.ifRange = ifRange
            request.ifNoneMatch = ifNoneMatch
            request.ifModifiedSince = ifModifiedSince
            return request
        }
    }

    @Test(
        "have the bytes and the status that their rows say",
        arguments: spec("ranges", of: RangeRow.self)
    )
    func ranges(row: RangeRow) throws {
        let record = try FileRecord.sample(byteCount: row.size)
        for dialect in FileDialect.allCases {
            let download = Download(record, row.request, dialect)
            let status = dialect == .client ? row.client ?? row.status : row.status
            #expect(download.status == status)
            let range = "\(download.range.lowerBound)-\(download.range.upperBound)"
            #expect(range == (status == row.status ? row.bytes ?? "0-0" : "0-0"))
            let length = download.header("Content-Length")
            #expect(length == (status == 304 ? nil : "\(download.range.count)"))
            let place: String? =
                switch status {
                case 206:
                    "bytes \(download.range.lowerBound)-\(download.range.upperBound - 1)/\(row.size)"
                case 416: "bytes */\(row.size)"
                default: nil
                }
            #expect(download.header("Content-Range") == place)
            #expect(download.header("ETag") == "\"CNGTm8DplpcDEAE=\"")
            for (name, value) in Download.safety { #expect(download.header(name) == value) }
        }
    }

    struct DispositionRow: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let type: String?
        let stored: String?
        let `is`: String

        var testDescription: String { "\(name) \(type ?? "") \(stored ?? "")" }
    }

    @Test("are named as their rows say", arguments: spec("dispositions", of: DispositionRow.self))
    func dispositions(row: DispositionRow) throws {
        var fields = FileFields()
        fields[.contentType] = row.type
        fields[.contentDisposition] = row.stored
        let record = try FileRecord.sample(row.name, fields: fields)
        #expect(Download(record, MediaRequest(), .client).header("Content-Disposition") == row.is)
    }

    @Test("of a host of their own are shown as they are stored")
    func ownHost() throws {
        var fields = FileFields()
        fields[.contentType] = "text/html"
        fields[.contentDisposition] = "inline"
        let record = try FileRecord.sample("a.html", fields: fields)
        let download = Download(record, MediaRequest(), .client, ownHost: true)
        #expect(download.header("Content-Disposition") == "inline; filename*=UTF-8''a.html")
    }

    @Test("have these headers")
    func headers() throws {
        var fields = FileFields()
        fields[.contentType] = "text/plain"
        fields[.contentLanguage] = "en"
        fields[.contentDisposition] = "inline"
        let download = Download(try .sample(fields: fields), MediaRequest(), .client)
        #expect(
            download.headers.map { "\($0.name): \($0.value)" } == [
                "Content-Type: text/plain", "x-goog-generation: 1790789164648913",
                "x-goog-metageneration: 1",
                "x-goog-metadatageneration: 1", "x-goog-storage-class: STANDARD",
                "x-goog-hash: crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg==",
                "x-goog-stored-content-encoding: identity",
                "x-goog-stored-content-length: 5", "X-Content-Type-Options: nosniff",
                "Content-Security-Policy: sandbox; default-src 'none'",
                "Cross-Origin-Resource-Policy: cross-origin",
                "Referrer-Policy: no-referrer", "Accept-Ranges: bytes",
                "ETag: \"CNGTm8DplpcDEAE=\"",
                "Last-Modified: Wed, 30 Sep 2026 17:26:04 GMT", "Cache-Control: private, max-age=0",
                "Content-Disposition: inline; filename*=UTF-8''a.txt", "Content-Language: en",
                "Content-Length: 5",
            ]
        )
    }

    @Test("that are stored compressed are inflated for those who cannot", arguments: [false, true])
    func gzip(accepts: Bool) throws {
        var fields = FileFields()
        fields[.contentEncoding] = "gzip"
        var request = MediaRequest()
        request.acceptsGzip = accepts
        request.range = "bytes=0-1"
        let download = Download(try .sample(fields: fields), request, .server)
        #expect(download.inflates != accepts)
        #expect(download.status == (accepts ? 206 : 200))
        #expect(download.header("Content-Encoding") == (accepts ? "gzip" : nil))
        #expect(download.header("Content-Length") == (accepts ? "2" : nil))
        #expect(download.header("Accept-Ranges") == (accepts ? "bytes" : "none"))
        #expect(download.header("ETag")?.hasPrefix("W/") == !accepts)
        #expect(download.header("x-goog-stored-content-encoding") == "gzip")
        #expect(download.header("Vary") == "Accept-Encoding")
    }

    @Test("keep an encoding that is no compression of ours")
    func otherEncoding() throws {
        var fields = FileFields()
        fields[.contentEncoding] = "br"
        let download = Download(try .sample(fields: fields), MediaRequest(), .client)
        #expect(!download.inflates && download.header("Content-Encoding") == "br")
    }

    @Test("take types and names of an address only with its signature, and never run them")
    func overrides() throws {
        var request = MediaRequest()
        request.type = "text/html\r\nX-Evil: 1"
        request.disposition = "inline; filename=\"a\"\r\nSet-Cookie: x=y"
        let record = try FileRecord.sample()
        let plain = Download(record, request, .plain)
        #expect(plain.header("Content-Type") == "application/octet-stream")
        let signed = Download(record, request, .plain, honoursOverrides: true)
        #expect(signed.header("Content-Type") == "text/htmlX-Evil: 1")
        request.type = "text/html"
        let page = Download(record, request, .plain, honoursOverrides: true)
        #expect(page.header("Content-Disposition") == "attachment; filename=\"a\"Set-Cookie: x=y")
    }

    @Test("have no line end in any header, whatever is stored")
    func lines() throws {
        var random = TestSeed.generator(95)
        let texts = ["a\r\nb", "\n", "x", "é", "\u{85}", "\u{0}", "inline", "text/html"]
        for _ in 0..<500 {
            var fields = FileFields()
            for field in FileField.allCases { fields[field] = texts[random.index(texts.count)] }
            var request = MediaRequest()
            request.type = texts[random.index(texts.count)]
            request.disposition = texts[random.index(texts.count)]
            request.ifNoneMatch = random.index(2) == 0 ? "*" : nil
            let download = Download(
                try .sample(fields: fields),
                request,
                .plain,
                honoursOverrides: random.index(2) == 0
            )
            for (name, value) in download.headers {
                #expect(!FileFields.hasControl(name + value), "\(name)")
            }
        }
    }

    @Test("are cached as their metadata says, else by the browser of who has the token")
    func caching() throws {
        let record = try FileRecord.sample()
        #expect(
            Download(record, MediaRequest(), .client, byToken: true).header("Cache-Control")
                == "private, max-age=3600"
        )
        var fields = FileFields()
        fields[.cacheControl] = "public, max-age=5"
        let stored = Download(try .sample(fields: fields), MediaRequest(), .client)
        #expect(stored.header("Cache-Control") == "public, max-age=5")
    }

    @Test("every day of four centuries has its date in headers")
    func dates() {
        for day in stride(from: 0, to: 146_097, by: 3) {
            let time = Timestamp(milliseconds: Int64(day) * 86_400_000 + 45_296_000)
            #expect(HTTPDate.timestamp(HTTPDate.text(time)) == time)
            #expect(HTTPDate.timestamp(compact: HTTPDate.compactText(time)) == time)
        }
        #expect(
            HTTPDate.text(Timestamp(milliseconds: 784_111_777_000))
                == "Sun, 06 Nov 1994 08:49:37 GMT"
        )
        for text in [
            "", "Sun, 06 Nov 1994 08:49:37", "Sun, 36 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
        ] {
            #expect(HTTPDate.timestamp(text) == nil)
        }
    }
}

extension Download {
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

@Suite("answers of the file protocols")
struct AnswerTests {
    private static func record() throws -> FileRecord {
        var fields = FileFields()
        fields[.contentType] = "text/plain"
        fields[.contentDisposition] = "inline"
        fields.setCustom("k", "v")
        return try .sample(fields: fields, tokens: ["t1", "t2"])
    }

    @Test("show a client the metadata that SDKs expect")
    func client() throws {
        let answer = FileAnswer(try Self.record(), .client, base: "http://h")
        #expect(
            answer.text
                == #"{"name":"p/a.txt","bucket":"demo.appspot.com","generation":"1790789164648913","metageneration":"1","#
                + #""contentType":"text/plain","timeCreated":"2026-09-30T17:26:04.648Z","updated":"2026-09-30T17:26:04.648Z","#
                + #""storageClass":"STANDARD","size":"5","md5Hash":"XUFAKrxLKna5cZ2REBfFkg==","crc32c":"mnG7TA==","#
                + #""etag":"CNGTm8DplpcDEAE=","contentEncoding":"identity","contentDisposition":"inline","downloadTokens":"t1,t2","#
                + #""metadata":{"k":"v"}}"#
        )
        #expect(
            answer.header("cache-control") == "no-store"
                && answer.header("etag") == "\"CNGTm8DplpcDEAE=\""
        )
        let bare = FileAnswer(try .sample(), .client, base: "http://h").text
        #expect(
            !bare.contains("metadata\"") && !bare.contains("downloadTokens")
                && !bare.contains("cacheControl")
        )
    }

    @Test("show a library the resource, with tokens in its metadata")
    func server() throws {
        let text = FileAnswer(try Self.record(), .server, base: "http://h").text
        #expect(
            text
                == #"{"name":"p/a.txt","bucket":"demo.appspot.com","generation":"1790789164648913","metageneration":"1","#
                + #""contentType":"text/plain","timeCreated":"2026-09-30T17:26:04.648Z","updated":"2026-09-30T17:26:04.648Z","#
                + #""storageClass":"STANDARD","size":"5","md5Hash":"XUFAKrxLKna5cZ2REBfFkg==","crc32c":"mnG7TA==","#
                + #""etag":"CNGTm8DplpcDEAE=","kind":"storage#object","id":"demo.appspot.com/p/a.txt/1790789164648913","#
                + #""selfLink":"http://h/storage/v1/b/demo.appspot.com/o/p%2Fa.txt","#
                + #""mediaLink":"http://h/download/storage/v1/b/demo.appspot.com/o/p%2Fa.txt?generation=1790789164648913&alt=media","#
                + #""timeStorageClassUpdated":"2026-09-30T17:26:04.648Z","#
                + #""contentDisposition":"inline","metadata":{"firebaseStorageDownloadTokens":"t1,t2","k":"v"}}"#
        )
    }

    @Test("have both arrays of a list for clients, and none that is empty for libraries")
    func lists() throws {
        let bucket = try BucketName("demo.appspot.com")
        var list = NameList()
        #expect(FileAnswer.clientList(bucket, list).text == #"{"prefixes":[],"items":[]}"#)
        #expect(FileAnswer.serverList(list, [], base: "").text == #"{"kind":"storage#objects"}"#)
        list.prefixes = ["a/b/"]
        list.items = [try ObjectName("a/x.png")]
        list.next = PageToken(.name, Array("a".utf8))
        #expect(
            FileAnswer.clientList(bucket, list).text
                == #"{"prefixes":["a/b/"],"items":[{"name":"a/x.png","bucket":"demo.appspot.com"}],"nextPageToken":"AQBh"}"#
        )
        let server = FileAnswer.serverList(list, [try .sample("a/x.png")], base: "http://h").text
        #expect(
            server.hasPrefix(
                #"{"kind":"storage#objects","nextPageToken":"AQBh","prefixes":["a/b/"],"items":[{"name":"a/x.png","#
            )
        )
    }

    @Test("of the other calls have the members that libraries read")
    func others() throws {
        let record = try FileRecord.sample()
        let rewrite = FileAnswer.copied(record, .rewrite, base: "").text
        #expect(
            rewrite.hasPrefix(
                #"{"kind":"storage#rewriteResponse","totalBytesRewritten":"5","objectSize":"5","done":true,"resource":{"name":"p/a.txt","#
            )
        )
        #expect(FileAnswer.copied(record, .copy, base: "").text.hasPrefix(#"{"name":"p/a.txt""#))
        let access = FileAnswer.access(record, base: "http://h").text
        #expect(
            access.contains(
                #""kind":"storage#objectAccessControl","object":"p/a.txt","id":"demo.appspot.com/p/a.txt/1790789164648913/allUsers""#
            )
        )
        #expect(access.contains(#""entity":"allUsers","role":"READER""#))
        let bucket = FileAnswer.bucket(record.bucket, created: record.created, base: "http://h")
            .text
        #expect(
            bucket.contains(
                #""kind":"storage#bucket","id":"demo.appspot.com","name":"demo.appspot.com""#
            )
        )
        #expect(FileAnswer.buckets([], base: "").text == #"{"kind":"storage#buckets"}"#)
        let composed = FileRecord(
            bucket: record.bucket,
            name: record.name,
            content: FileContent(
                blob: record.content.blob,
                byteCount: 9,
                md5: nil,
                crc32c: 1,
                componentCount: 2
            ),
            generation: 1,
            now: .later
        )
        let text = FileAnswer(composed, .server, base: "").text
        #expect(text.contains(#""componentCount":2"#) && !text.contains("md5Hash"))
    }

    @Test(
        "refuse in the form of each dialect",
        arguments: [
            (
                FileFault.notFound, FileDialect.client, false, 404,
                #"{"error":{"code":404,"message":"Not Found."}}"#
            ),
            (
                .denied(.list), .client, false, 403,
                #"{"error":{"code":403,"message":"Permission denied. No LIST permission."}}"#
            ),
            (
                .noRules, .client, false, 403,
                #"{"error":{"code":403,"message":"Permission denied. Storage has no loaded ruleset."}}"#
            ),
            (
                .notAdmin, .client, false, 403,
                #"{"error":{"code":403,"message":"Missing admin credentials."}}"#
            ),
            (
                .overQuota, .client, false, 402,
                #"{"error":{"code":402,"message":"The quota for files is used up."}}"#
            ),
            (
                FileFault(404, "No such object: b/o"), .server, false, 404,
                #"{"error":{"code":404,"message":"No such object: b/o","errors":[{"message":"No such object: b/o","domain":"global","reason":"notFound"}]}}"#
            ),
            (FileFault(404, "No such object: b/o"), .server, true, 404, "No such object: b/o"),
            (
                .unauthenticated, .server, false, 401,
                #"{"error":{"code":401,"message":"Login Required.","errors":[{"message":"Login Required.","domain":"global","reason":"required","locationType":"header","location":"Authorization"}]}}"#
            ),
            (
                .conditionNotMet, .server, false, 412,
                #"{"error":{"code":412,"message":"At least one of the pre-conditions you specified did not hold.","errors":[{"message":"At least one of the pre-conditions you specified did not hold.","domain":"global","reason":"conditionNotMet"}]}}"#
            ),
            (
                .tooLarge(limit: 5), .server, false, 413,
                #"{"error":{"code":413,"message":"An object must have at most 5 bytes.","errors":[{"message":"An object must have at most 5 bytes.","domain":"global","reason":"uploadTooLarge"}]}}"#
            ),
            (
                .notFound, .plain, true, 404,
                "<?xml version='1.0' encoding='UTF-8'?><Error><Code>NoSuchKey</Code><Message>Not Found.</Message></Error>"
            ),
            (
                FileFault(400, "<a> & b", code: "ExpiredToken"), .plain, false, 400,
                "<?xml version='1.0' encoding='UTF-8'?><Error><Code>ExpiredToken</Code><Message>&lt;a&gt; &amp; b</Message></Error>"
            ),
        ]
    )
    func refusals(fault: FileFault, dialect: FileDialect, isMedia: Bool, status: Int, text: String)
    {
        let answer = FileAnswer(fault, dialect, isMedia: isMedia)
        #expect(answer.status == status && answer.text == text)
    }

    @Test("that are given later say when")
    func retryAfter() {
        for dialect in FileDialect.allCases {
            let answer = FileAnswer(.busy(retryAfter: 7), dialect)
            #expect(answer.status == 503 && answer.header("retry-after") == "7")
        }
    }

    @Test("let pages read what SDKs need, and ask for it")
    func crossOrigin() {
        let exposed = FileCrossOrigin.exposedHeaders.split(separator: ", ")
        for name in [
            "x-goog-upload-url", "x-goog-upload-status", "x-goog-upload-size-received",
            "x-goog-upload-chunk-granularity", "x-goog-upload-control-url", "x-goog-upload-command",
            "x-gupload-uploadid", "content-range", "content-length", "content-disposition", "etag",
            "x-goog-hash", "x-goog-generation",
        ] {
            #expect(exposed.contains(Substring(name)))
        }
        let headers = FileCrossOrigin.preflight(
            "X-Goog-Upload-Command, x-evil, x-goog-upload-offset,X-Firebase-GMPID, a b, content-type"
        )
        let allowed =
            headers.first { $0.name == "Access-Control-Allow-Headers" }?.value.split(
                separator: ", "
            ) ?? []
        for name in [
            "x-goog-upload-command", "x-goog-upload-offset", "authorization", "x-firebase-gmpid",
            "x-http-method-override",
        ] {
            #expect(allowed.contains(Substring(name)))
        }
        #expect(!allowed.contains("x-evil") && allowed.count(where: { $0 == "content-type" }) == 1)
        #expect(headers.contains { $0.name == "Access-Control-Max-Age" && $0.value == "3600" })
        #expect(
            headers.contains {
                $0.name == "Access-Control-Allow-Methods" && $0.value.contains("PATCH")
            }
        )
    }

    @Test("bodies of calls are read or refused")
    func bodies() throws {
        #expect(try BucketBody(Array(#"{"name":"abc"}"#.utf8)).name.text == "abc")
        #expect(throws: FileFault.self) { try BucketBody(Array("{}".utf8)) }
        try AccessBody.check(Array(#"{"entity":"allUsers","role":"READER"}"#.utf8))
        #expect(throws: FileFault(501, "Of access, only READER for allUsers is implemented.")) {
            try AccessBody.check(Array(#"{"entity":"allUsers","role":"OWNER"}"#.utf8))
        }
        let compose = try ComposeBody(
            Array(
                #"{"sourceObjects":[{"name":"a"},{"name":"b","generation":"5","objectPreconditions":{"ifGenerationMatch":"5"}}],"destination":{"contentType":"x/y"}}"#
                    .utf8
            )
        )
        #expect(compose.sources.map(\.name.text) == ["a", "b"])
        #expect(compose.sources[1].conditions.text == " generation=5 ifGenerationMatch=5")
        #expect(compose.destination.text(.contentType) == "x/y")
        for text in [
            #"{"sourceObjects":[]}"#, #"{"sourceObjects":[5]}"#,
            #"{"sourceObjects":[{"name":""}]}"#, "{",
            #"{"sourceObjects":[\#(Array(repeating: #"{"name":"a"}"#, count: 33).joined(separator: ","))]}"#,
        ] {
            #expect(throws: FileFault.self) { try ComposeBody(Array(text.utf8)) }
        }
    }
}
