import HTTPClient
import TestSupport
import Testing

@testable import ObjectStorage

@Suite("a client of a store")
struct ObjectStoreTests {
    @Test("stores by one request, whose hash and type are signed")
    func put() throws {
        let scripted = try ScriptedStore([.init(200, ["ETag: \"a\""])])
        try scripted.store.put(.bytes(Array("hello".utf8)), at: key())
        let request = try #require(scripted.server.requests.first)
        #expect(scripted.lines == ["PUT /files/ab/cdef"])
        #expect(request.body == Array("hello".utf8))
        #expect(request.headers["content-length"] == "5")
        #expect(request.headers["host"] == "127.0.0.1:\(scripted.server.port)")
        #expect(request.headers["x-amz-date"] == "20260930T235959Z")
        #expect(
            request.headers["x-amz-content-sha256"]
                == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        )
        let signed = "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date,"
        #expect(request.headers["authorization"]?.contains(signed) == true)
        #expect(request.headers["expect"] == nil)
    }

    @Test("stores nothing as well as something")
    func empty() throws {
        let scripted = try ScriptedStore([.init(200)])
        try scripted.store.put(.bytes([]), at: key())
        let request = try #require(scripted.server.requests.first)
        #expect(request.headers["content-length"] == "0")
        #expect(request.headers["x-amz-content-sha256"] == ObjectStore.Call.emptyPayload)
    }

    @Test("sends a token along, and signs it")
    func token() throws {
        let scripted = try ScriptedStore([.init(204)], token: "token-token")
        try scripted.store.delete(key())
        let request = try #require(scripted.server.requests.first)
        #expect(request.headers["x-amz-security-token"] == "token-token")
        #expect(request.headers["authorization"]?.contains("x-amz-security-token,") == true)
    }

    @Test(
        "tries again after a passing failure, with longer waits and a new date",
        arguments: [429, 500, 502, 503, 504, 0]
    )
    func retries(status: Int) throws {
        let failure: ScriptedServer.Answer = status == 0 ? .cut : .init(status, text: "busy")
        let scripted = try ScriptedStore([failure, failure, failure, .init(200)])
        try scripted.store.put(.bytes(Array("hello".utf8)), at: key())
        #expect(scripted.server.requests.count == 4)
        #expect(scripted.waits.milliseconds == [200, 400, 800])
        #expect(scripted.server.requests.allSatisfy { $0.body == Array("hello".utf8) })
        let dates = scripted.server.requests.map { $0.headers["x-amz-date"] }
        #expect(
            dates == [
                "20260930T235959Z", "20260930T235959Z", "20260930T235959Z", "20261001T000000Z",
            ]
        )
    }

    @Test("gives up after five tries")
    func givesUp() throws {
        let busy = ScriptedServer.Answer.error(503, "SlowDown")
        let scripted = try ScriptedStore(Array(repeating: busy, count: 9))
        let error = try #require(scripted.error { try $0.delete(key()) })
        #expect(scripted.server.requests.count == 5)
        #expect(scripted.waits.milliseconds == [200, 400, 800, 1600])
        #expect(error.tryCount == 5)
        #expect(error.description.contains("503 SlowDown (It is SlowDown.) (tried 5 times)"))
    }

    @Test("waits no longer than its longest wait")
    func longestWait() {
        var policy = RetryPolicy()
        policy.tryCount = 100
        #expect(policy.wait(afterTries: 5) == .milliseconds(3200))
        #expect(policy.wait(afterTries: 6) == .seconds(5))
        #expect(policy.wait(afterTries: 99) == .seconds(5))
        #expect(policy.wait(afterTries: 100) == nil)
    }

    @Test(
        "never sends again what was refused",
        arguments: [
            (400, "InvalidRequest"), (401, ""), (403, "AccessDenied"),
            (403, "SignatureDoesNotMatch"), (404, "NoSuchBucket"), (409, "OperationAborted"),
            (411, ""), (412, "PreconditionFailed"), (413, "EntityTooLarge"),
            (501, "NotImplemented"),
            (507, "XMinioStorageFull"), (301, "PermanentRedirect"),
        ]
    )
    func refused(status: Int, code: String) throws {
        let scripted = try ScriptedStore([.error(status, code), .init(200)])
        let error = try #require(scripted.error { try $0.put(.bytes([1]), at: key()) })
        #expect(scripted.server.requests.count == 1)
        #expect(scripted.waits.milliseconds == [])
        guard case .refused(let refusal) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(refusal.status == status)
        #expect(refusal.code == code)
    }

    @Test("takes a refusal that comes before the bytes were sent")
    func refusedEarly() throws {
        var answer = ScriptedServer.Answer.error(403, "AccessDenied")
        answer.isEarly = true
        let scripted = try ScriptedStore([answer])
        let vast = ObjectSource(byteCount: 60 << 20) { _, buffer in buffer.count }
        let error = scripted.error {
            try $0.put(vast, at: key(), digest: ObjectStore.Call.emptyPayload)
        }
        #expect(error?.description.contains("403 AccessDenied") == true)
        #expect(scripted.server.requests.count == 1)
    }

    @Test("tries again when the store has waited in vain for its bytes")
    func requestTimeout() throws {
        let scripted = try ScriptedStore([.error(400, "RequestTimeout"), .init(200)])
        try scripted.store.put(.bytes([1]), at: key())
        #expect(scripted.server.requests.count == 2)
    }

    @Test(
        "follows no redirect, so that nothing signed reaches another host",
        arguments: [301, 302, 307, 308]
    )
    func redirects(status: Int) throws {
        let other = try ScriptedServer([.init(200), .init(200), .init(200), .init(200)])
        let answer = ScriptedServer.Answer(status, ["Location: \(other.url)/files/ab/cdef"])
        let scripted = try ScriptedStore(Array(repeating: answer, count: 4), token: "token-token")
        let errors = [
            scripted.error { _ = try $0.head(key()) },
            scripted.error { store in _ = try bytes(of: store) },
            scripted.error { try $0.put(.bytes([1]), at: key()) },
            scripted.error { try $0.delete(key()) },
        ]
        #expect(scripted.server.requests.count == 4)
        #expect(other.requests.isEmpty)
        for error in errors {
            let text = try #require(error).description
            #expect(text.contains("follow no redirect"), "\(text)")
        }
    }

    @Test("reads whole objects and parts")
    func get() throws {
        let scripted = try ScriptedStore([
            .init(200, ["ETag: \"a\""], text: "hello world"),
            .init(206, ["Content-Range: bytes 6-10/11"], text: "world"),
            .init(206, ["Content-Range: bytes 6-10/11"], text: "world"),
        ])
        #expect(try bytes(of: scripted.store) == Array("hello world".utf8))
        #expect(try bytes(of: scripted.store, blobKey, 6..<11) == Array("world".utf8))
        #expect(try bytes(of: scripted.store, blobKey, 6..<1000) == Array("world".utf8))
        let ranges = scripted.server.requests.map { $0.headers["range"] }
        #expect(ranges == [nil, "bytes=6-10", "bytes=6-999"])
    }

    @Test(
        "takes no bytes but those that it has asked for",
        arguments: [
            (200, "bytes 6-10/11"), (206, ""), (206, "bytes 5-10/11"), (206, "bytes 6-9/11"),
            (206, "bytes 6-11/12"), (206, "bytes 6-10/*"), (206, "lines 6-10/11"),
        ]
    )
    func otherBytes(status: Int, range: String) throws {
        let scripted = try ScriptedStore([
            .init(status, ["Content-Range: \(range)"], text: "world")
        ])
        let error = scripted.error { store in
            try store.get(key(), 6..<11) { _ in
                Issue.record("bytes are given")
                return true
            }
        }
        guard case .unexpected = error?.reason else {
            Issue.record("\(error?.description ?? "no error")")
            return
        }
    }

    @Test("goes on after a cut with the rest of the same object")
    func resumed() throws {
        let scripted = try ScriptedStore([
            .init(200, ["ETag: \"a\""], Array("hello".utf8), byteCount: 11), .cut,
            .init(206, ["Content-Range: bytes 5-10/11"], Array(" wo".utf8), byteCount: 6),
            .init(503), .init(206, ["Content-Range: bytes 8-10/11"], text: "rld"),
        ])
        #expect(try bytes(of: scripted.store) == Array("hello world".utf8))
        let requests = scripted.server.requests
        #expect(
            requests.map { $0.headers["range"] }
                == [nil, "bytes=5-", "bytes=5-", "bytes=8-", "bytes=8-"]
        )
        #expect(
            requests.map { $0.headers["if-match"] } == [nil, "\"a\"", "\"a\"", "\"a\"", "\"a\""]
        )
    }

    @Test("goes on after a cut within a part")
    func resumedPart() throws {
        let scripted = try ScriptedStore([
            .init(206, ["Content-Range: bytes 2-8/11"], Array("llo".utf8), byteCount: 7),
            .init(206, ["Content-Range: bytes 5-8/11"], text: " wor"),
        ])
        #expect(try bytes(of: scripted.store, blobKey, 2..<9) == Array("llo wor".utf8))
        #expect(scripted.server.requests.map { $0.headers["range"] } == ["bytes=2-8", "bytes=5-8"])
    }

    @Test("gives no second half of another object")
    func changed() throws {
        let scripted = try ScriptedStore([
            .init(200, ["ETag: \"a\""], Array("hello".utf8), byteCount: 11),
            .error(412, "PreconditionFailed"),
        ])
        let error = scripted.error { store in _ = try bytes(of: store) }
        #expect(error?.description.contains("read it again") == true)
    }

    @Test("stops reading when its caller has enough")
    func stopped() throws {
        let scripted = try ScriptedStore([.init(200, text: "hello")])
        let error = scripted.error { store in
            try store.get(key()) { _ in false }
        }
        #expect(error?.reason == .stopped)
        #expect(scripted.server.requests.count == 1)
    }

    @Test("says what is there, and what is not")
    func head() throws {
        let scripted = try ScriptedStore([
            .init(200, ["ETag: \"a\""], byteCount: 5_000_000_000), .init(404), .init(403),
        ])
        let facts = try scripted.store.head(key())
        #expect(facts == ObjectFacts(byteCount: 5_000_000_000, entityTag: "\"a\""))
        #expect(try scripted.store.head(key()) == nil)
        let error = scripted.error { _ = try $0.head(key()) }
        #expect(error?.description.contains("allow this access key s3:GetObject") == true)
        #expect(scripted.server.requests.allSatisfy { $0.method == "HEAD" })
    }

    @Test("deletes what is there, and takes what is not for deleted")
    func delete() throws {
        let scripted = try ScriptedStore([
            .init(204), .error(404, "NoSuchKey"), .error(404, "NoSuchBucket"),
        ])
        try scripted.store.delete(key())
        try scripted.store.delete(key())
        let error = scripted.error { try $0.delete(key()) }
        #expect(error?.description.contains("make the bucket") == true)
        #expect(scripted.lines == Array(repeating: "DELETE /files/ab/cdef", count: 3))
    }

    @Test("lists page by page, after the last name")
    func list() throws {
        func page(_ names: [String], isLast: Bool) -> ScriptedServer.Answer {
            let objects = names.map { name in
                """
                <Contents><Key>\(name)</Key><Size>1</Size>\
                <LastModified>2026-09-30T17:26:05.000Z</LastModified></Contents>
                """
            }
            return .init(
                200,
                text:
                    "<ListBucketResult><IsTruncated>\(!isLast)</IsTruncated>\(objects.joined())</ListBucketResult>"
            )
        }
        let scripted = try ScriptedStore([
            page(["a/b&amp;c", "a/c"], isLast: false), page(["a/d"], isLast: true),
            page(["a/b", "a/c"], isLast: true),
        ])
        let first = try scripted.store.list(prefix: "a/")
        #expect(first.objects.map(\.key) == ["a/b&c", "a/c"])
        #expect(!first.isLast)
        let second = try scripted.store.list(prefix: "a/", after: "a/c", limit: 7)
        #expect(second.objects.map(\.key) == ["a/d"])
        #expect(second.isLast)
        let fixed = "encoding-type=url&list-type=2"
        #expect(
            scripted.lines == [
                "GET /files?\(fixed)&max-keys=1000&prefix=a%2F",
                "GET /files?\(fixed)&max-keys=7&prefix=a%2F&start-after=a%2Fc",
            ]
        )
        // A store that does not know where to begin.
        let error = scripted.error { _ = try $0.list(prefix: "a/", after: "a/c") }
        #expect(error?.description.contains("begins before") == true)
    }

    @Test("says when the answer is not a store's")
    func unexpected() throws {
        let scripted = try ScriptedStore([
            .init(200, text: "<html><body>Welcome</body></html>"), .init(200, text: "{}"),
            .init(404, text: "<html><head><title>404</title></head></html>"),
        ])
        for part in ["'html' in the place of 'ListBucketResult'", "must begin with an element"] {
            let error = scripted.error { try $0.check() }
            #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
        }
        let error = scripted.error { try $0.check() }
        #expect(error?.description.contains(": 404; ") == true, "\(error?.description ?? "")")
    }

    @Test("says when it cannot read what it stores")
    func source() throws {
        struct Unreadable: Error {}
        let scripted = try ScriptedStore([])
        let short = ObjectSource(byteCount: 10) { offset, buffer in
            offset == 0 ? min(4, buffer.count) : 0
        }
        let broken = ObjectSource(byteCount: 10) { _, _ in throw Unreadable() }
        #expect(scripted.error { try $0.put(short, at: key()) }?.reason == .sourceEnded)
        #expect(
            scripted.error { try $0.put(broken, at: key(), digest: ObjectStore.Call.emptyPayload) }?
                .reason == .source("Unreadable()")
        )
        let vast = ObjectSource(byteCount: ObjectStoreLimits.objectByteCount + 1) { _, _ in 0 }
        let error = scripted.error { try $0.put(vast, at: key()) }
        #expect(error?.reason == .tooLarge(byteCount: vast.byteCount))
        #expect(scripted.waits.milliseconds == [])
    }
}
