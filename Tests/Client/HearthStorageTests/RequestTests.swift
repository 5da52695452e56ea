import Foundation
import Testing

@testable import HearthStorage

@Suite("requests for files")
struct RequestTests {
    private let path = StoragePath(bucket: "b.appspot.com", object: "p/a b.txt")

    /// Method, target, headers and body as one text.
    private func text(_ request: StorageRequest) -> String {
        let body: String =
            switch request.body {
            case .none: ""
            case .bytes(let data): String(decoding: data, as: UTF8.self)
            case .piece(let range): "[\(range)]"
            }
        let headers = request.headers.map { "\($0.name): \($0.value)\n" }.joined()
        let user = request.isAuthorized ? "" : "(no user)\n"
        return "\(request.method.rawValue) \(request.target)\n\(headers)\(user)\(body)"
    }

    @Test("are those of the protocol")
    func objects() {
        let object = "/v0/b/b.appspot.com/o/p%2Fa%20b.txt"
        #expect(text(.metadata(of: path)) == "GET \(object)\n")
        #expect(text(.delete(path)) == "DELETE \(object)\n")
        #expect(
            text(.update(path, json: Data("{}".utf8)))
                == "PATCH \(object)\nContent-Type: application/json; charset=utf-8\n{}"
        )
        #expect(text(.media(of: path, from: DownloadState())) == "GET \(object)?alt=media\n")
    }

    @Test("list a folder by its name and a slash, and the root by an empty one")
    func lists() {
        let list = "GET /v0/b/b.appspot.com/o?prefix="
        #expect(
            text(.list(path.root, maxResults: nil, pageToken: nil)) == "\(list)&delimiter=%2F\n"
        )
        #expect(
            text(.list(path.root.child("p q"), maxResults: 7, pageToken: "a+/="))
                == "\(list)p%20q%2F&delimiter=%2F&maxResults=7&pageToken=a%2B%2F%3D\n"
        )
    }

    @Test("bring a small object whole")
    func whole() {
        let request = StorageRequest.whole(
            path,
            json: Data("{}".utf8),
            type: "text/plain",
            bytes: Data("hello".utf8),
            boundary: "X"
        )
        let body = """
            --X\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{}\r
            --X\r\nContent-Type: text/plain\r\n\r\nhello\r\n--X--\r\n
            """
        #expect(
            text(request) == """
                POST /v0/b/b.appspot.com/o?name=p%2Fa%20b.txt
                X-Goog-Upload-Protocol: multipart
                Content-Type: multipart/related; boundary=X
                \(body)
                """
        )
    }

    @Test("bring a large object in steps, the user's credential with the first alone")
    func steps() {
        let start = StorageRequest.start(
            path,
            json: Data("{}".utf8),
            type: "video/mp4",
            byteCount: 600_000
        )
        #expect(
            text(start) == """
                POST /v0/b/b.appspot.com/o?name=p%2Fa%20b.txt
                X-Goog-Upload-Protocol: resumable
                X-Goog-Upload-Command: start
                X-Goog-Upload-Header-Content-Length: 600000
                X-Goog-Upload-Header-Content-Type: video/mp4
                Content-Type: application/json; charset=utf-8
                {}
                """
        )
        let session = "/v0/b/B/o?upload_id=7"
        #expect(
            text(.chunk(session, 0..<262_144, isLast: false)) == """
                POST \(session)
                X-Goog-Upload-Command: upload
                X-Goog-Upload-Offset: 0
                Content-Type: application/octet-stream
                (no user)
                [0..<262144]
                """
        )
        #expect(text(.chunk(session, 5..<9, isLast: true)).contains("Command: upload, finalize\n"))
        #expect(StorageRequest.chunk(session, 9..<9, isLast: true).body == .bytes(Data()))
        #expect(
            text(.query(session)) == "POST \(session)\nX-Goog-Upload-Command: query\n(no user)\n"
        )
        #expect(
            text(.cancel(session)) == "POST \(session)\nX-Goog-Upload-Command: cancel\n(no user)\n"
        )
    }

    @Test("go on with a download only where the same bytes are promised")
    func ranges() {
        var state = DownloadState()
        #expect(state.begin(StorageAnswer(status: 200, headers: ["etag": "\"a\""])) == .restart)
        #expect(StorageRequest.media(of: path, from: state).headers.isEmpty)
        state.add(5)
        #expect(
            StorageRequest.media(of: path, from: state).headers == [
                StorageRequest.Header("Range", "bytes=5-"),
                StorageRequest.Header("If-Range", "\"a\""),
            ]
        )
        for headers in [[:], ["etag": "W/\"a\""], ["etag": "\"a\"", "content-encoding": "gzip"]] {
            var state = DownloadState()
            _ = state.begin(StorageAnswer(status: 200, headers: headers))
            state.add(5)
            #expect(StorageRequest.media(of: path, from: state).headers.isEmpty)
        }
    }
}

@Suite("answers about files")
struct AnswerTests {
    private func answer(_ headers: [String: String], status: Int = 200) -> StorageAnswer {
        StorageAnswer(status: status, headers: headers)
    }

    @Test(
        "name a session, whose host does not count",
        arguments: [
            ("http://h:1/v0/b/B/o?name=a%2Fb&upload_id=7", "/v0/b/B/o?name=a%2Fb&upload_id=7"),
            ("https://evil.example/base/v0/b/B/o?upload_id=7", "/v0/b/B/o?upload_id=7"),
            ("/v0/b/B/o?upload_id=7", "/v0/b/B/o?upload_id=7"), ("http://h/other", nil), ("", nil),
        ] as [(String, String?)]
    )
    func sessions(url: String, target: String?) {
        #expect(answer(["x-goog-upload-url": url]).sessionTarget == target)
    }

    @Test("have numbers only where they are some")
    func numbers() {
        #expect(answer([:]).receivedByteCount == nil)
        for (text, number) in [("0", 0), ("-1", nil), ("x", nil), ("9", 9)] as [(String, Int64?)] {
            #expect(answer(["x-goog-upload-size-received": text]).receivedByteCount == number)
            #expect(answer(["content-length": text]).contentByteCount == number)
        }
        #expect(answer(["x-goog-upload-chunk-granularity": "0"]).granularity == nil)
        #expect(answer(["x-goog-upload-chunk-granularity": "10000"]).granularity == 10000)
        #expect(answer(["content-range": "bytes 5-9/10"]).contentRange?.start == 5)
        #expect(answer(["content-range": "bytes 5-9/10"]).contentRange?.total == 10)
        for text in ["bytes */10", "bytes 5-9/*", "bytes", "5-9/10", "bytes -/"] {
            #expect(answer(["content-range": text]).contentRange == nil)
        }
    }

    @Test(
        "become errors by their status",
        arguments: [
            (400, .unknown), (401, .unauthenticated), (402, .quotaExceeded), (403, .unauthorized),
            (404, .objectNotFound), (412, .unknown), (413, .unknown), (501, .unknown),
        ] as [(Int, StorageErrorCode)]
    )
    func errors(status: Int, code: StorageErrorCode) {
        let body = Data("{\"error\":{\"code\":\(status),\"message\":\"Why.\"}}".utf8)
        let error = StorageError(
            StorageAnswer(status: status, body: body),
            at: StoragePath(bucket: "B", object: "a")
        )
        #expect(error.code == code)
        let cast = error as NSError
        #expect(cast.domain == StorageErrorDomain)
        #expect(StorageErrorCode(rawValue: cast.code) == code)
        #expect(cast.userInfo["ResponseErrorCode"] as? Int == status)
        #expect(cast.userInfo["ResponseBody"] as? String == "Why.")
        #expect(cast.userInfo["bucket"] as? String == "B")
        #expect((cast as? StorageError)?.code == code)
    }

    @Test("pass when a server is busy or broken, and no others")
    func passing() {
        let passing = (100..<600).filter { StorageAnswer(status: $0).isPassing }
        #expect(passing == [408, 429] + (500..<600).filter { $0 != 501 })
    }

    @Test("bring pages, whose arrays may be missing")
    func pages() throws {
        let full =
            "{\"prefixes\":[\"a/\"],\"items\":[{\"name\":\"x\",\"bucket\":\"B\"}],\"nextPageToken\":\"t\"}"
        let page = try ListPage(StorageAnswer(status: 200, body: Data(full.utf8)))
        #expect(page.prefixes == ["a/"])
        #expect(page.items == [ListPage.Item(name: "x")])
        #expect(page.nextPageToken == "t")
        let empty = try ListPage(StorageAnswer(status: 200, body: Data("{}".utf8)))
        #expect(empty.prefixes.isEmpty && empty.items.isEmpty && empty.nextPageToken == nil)
        #expect(throws: StorageError.self) {
            try ListPage(StorageAnswer(status: 200, body: Data("<html>".utf8)))
        }
    }
}
