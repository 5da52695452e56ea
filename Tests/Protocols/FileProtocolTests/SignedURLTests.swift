import FileProtocol
import JSONTree
import Testing
import Tokens

@Suite("signatures of version 4")
struct CanonicalRequestTests {
    private static func code(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        HashMAC.code(of: message, secret: key) ?? []
    }

    @Test(
        "Google's published case 'Virtual Hosted Style' (googleapis/conformance-tests, storage/v1/v4_signatures.json)"
    )
    func google() {
        let scheme = SignatureScheme.google
        let scope = scheme.scope(date: "20190201T090000Z", location: "auto", service: "storage")
        let request = CanonicalRequest(
            method: "GET",
            path: "/test-object",
            query: [
                ("X-Goog-SignedHeaders", "host"), ("X-Goog-Expires", "10"),
                ("X-Goog-Date", "20190201T090000Z"),
                (
                    "X-Goog-Credential",
                    "test-iam-credentials@dummy-project-id.iam.gserviceaccount.com/\(scope)"
                ),
                ("X-Goog-Algorithm", "GOOG4-RSA-SHA256"),
            ],
            headers: [("Host", "test-bucket.storage.googleapis.com")],
            signedNames: ["host"]
        )
        let message = scheme.stringToSign(
            date: "20190201T090000Z",
            scope: scope,
            digest: SHA256Digest.of(request.bytes)
        )
        #expect(
            String(decoding: message, as: UTF8.self) == """
                GOOG4-RSA-SHA256
                20190201T090000Z
                20190201/auto/storage/goog4_request
                89eeae48258eccdcb1f592fb908008e3f5d36a949c002c1e614c94356dc18fc6
                """
        )
    }

    @Test(
        "Google's published query encoding and ordering (the same file, 'Query Parameter Encoding' and 'Ordering')"
    )
    func googleQuery() {
        #expect(
            CanonicalRequest.text([("souffl\u{E9}", "=%-_.~"), ("X-Goog-SignedHeaders", "host")])
                == "X-Goog-SignedHeaders=host&souffl%C3%A9=%3D%25-_.~"
        )
        #expect(
            CanonicalRequest.text([
                ("prefix", "/foo"), ("X-Goog-SignedHeaders", "host"), ("X-Goog-Meta-Foo", "bar"),
            ]) == "X-Goog-Meta-Foo=bar&X-Goog-SignedHeaders=host&prefix=%2Ffoo"
        )
        #expect(
            CanonicalRequest.encode(
                path: Array("/test-bucket/path/with/slashes/under_score/amper&sand/file.ext".utf8)
            ) == "/test-bucket/path/with/slashes/under_score/amper%26sand/file.ext"
        )
    }

    @Test(
        "Google's published header trimming (the same file, 'Headers should be trimmed' and 'multiple inline values')"
    )
    func googleHeaders() {
        let request = CanonicalRequest(
            method: "GET",
            path: "/",
            headers: [
                ("collapsed", "abc    def"), ("leading", "    xyz"), ("trailing", "abc    "),
                ("tabs", "\tabc\t\t\t\tdef\t"), ("multiple", " xyz ,  abc, def  , xyz   "),
                ("other", "x"),
            ],
            signedNames: ["tabs", "trailing", "collapsed", "leading", "multiple"]
        )
        let text = String(decoding: request.bytes, as: UTF8.self)
        #expect(
            text
                == "GET\n/\n\ncollapsed:abc def\nleading:xyz\nmultiple:xyz , abc, def , xyz\ntabs:abc def\ntrailing:abc\n\ncollapsed;leading;multiple;tabs;trailing\nUNSIGNED-PAYLOAD"
        )
    }

    /// Credentials and results as Amazon prints them; the secret is its example.
    @Test(
        "Amazon's published case 'GET Object' (Amazon S3 API reference, Signature calculations: header-based examples)"
    )
    func amazonGet() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let request = CanonicalRequest(
            method: "GET",
            path: "/test.txt",
            headers: [
                ("Host", "examplebucket.s3.amazonaws.com"), ("Range", "bytes=0-9"),
                ("x-amz-content-sha256", empty), ("x-amz-date", "20130524T000000Z"),
            ],
            signedNames: ["host", "range", "x-amz-content-sha256", "x-amz-date"],
            payload: empty
        )
        #expect(
            Hexadecimal.encode(SHA256Digest.of(request.bytes))
                == "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972"
        )
        #expect(
            Self.signature(
                request,
                location: "us-east-1",
                service: "s3",
                date: "20130524T000000Z",
                secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
            ) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        )
    }

    @Test(
        "Amazon's published cases 'get-header-key-duplicate' and 'get-header-value-multiline' (its Signature Version 4 test suite)"
    )
    func amazonSuite() {
        for (value, signature) in [
            (
                "value2,value2,value1",
                "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"
            ),
            (
                "value1,value2,value3",
                "ba17b383a53190154eb5fa66a1b836cc297cc0a3d70a5d00705980573d8ff790"
            ),
        ] {
            let request = CanonicalRequest(
                method: "GET",
                path: "/",
                headers: [("x-amz-date", "20150830T123600Z"), ("host", "example.amazonaws.com")]
                    + value.split(separator: ",").map { ("My-Header1", " \($0) ") },
                signedNames: ["host", "my-header1", "x-amz-date"],
                payload: Hexadecimal.encode(SHA256Digest.of([]))
            )
            #expect(
                Self.signature(
                    request,
                    location: "us-east-1",
                    service: "service",
                    date: "20150830T123600Z",
                    secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
                ) == signature
            )
        }
    }

    private static func signature(
        _ request: CanonicalRequest,
        location: String,
        service: String,
        date: String,
        secret: String
    ) -> String {
        let scheme = SignatureScheme.amazon
        let scope = scheme.scope(date: date, location: location, service: service)
        let key = SignatureScheme.signingKey(secret: secret, scope: scope, code: code)
        let message = scheme.stringToSign(
            date: date,
            scope: scope,
            digest: SHA256Digest.of(request.bytes)
        )
        return Hexadecimal.encode(code(key, message))
    }
}

@Suite("signed addresses")
struct SignedURLTests {
    private static let now = Timestamp(milliseconds: 1_790_789_164_000)

    /// A signature that is as good as RSA's for these tests: it depends on account and message.
    private static func sign(_ account: String, _ message: [UInt8]) -> [UInt8] {
        HashMAC.code(of: message, secret: Array(account.utf8)) ?? []
    }

    private static func target(
        _ method: String = "GET",
        host: String = "files.example.com",
        seconds: Int64 = 60,
        headers: [(name: String, value: String)] = [],
        query: [(name: String, value: String)] = []
    ) -> String {
        SignedURL.target(
            method: method,
            host: host,
            path: "/demo.appspot.com/p/a b+é.txt",
            account: "a@p.iam",
            now: now,
            seconds: seconds,
            headers: headers,
            query: query,
            digest: { SHA256Digest.of($0) },
            sign: { sign("a@p.iam", $0) }
        ) ?? ""
    }

    /// Nil where the address is good, else the code of the refusal.
    private static func check(
        _ target: String,
        _ method: String = "GET",
        host: String = "files.example.com",
        headers: [(name: String, value: String)] = [],
        after milliseconds: Int64 = 1_000
    ) -> String? {
        do throws(FileFault) {
            let head = try FileRequestHead(
                method: method,
                target: target,
                headers: [("Host", host)] + headers
            )
            let address = try SignedURL(head)
            try address.check(
                head,
                now: Timestamp(milliseconds: now.milliseconds + milliseconds),
                digest: { SHA256Digest.of($0) },
                verify: { $1 == sign(address.account, $0) }
            )
            return nil
        } catch {
            return "\(error.status) \(error.code ?? "")"
        }
    }

    @Test("count for their method, host, path, parameters and headers alone")
    func binding() throws {
        let target = Self.target()
        #expect(
            try SignedURL.isSigned(head("GET \(target)"))
                && !SignedURL.isSigned(head("GET /a/b?alt=media"))
        )
        #expect(Self.check(target) == nil)
        let refused = "403 SignatureDoesNotMatch"
        #expect(Self.check(target, "DELETE") == refused)
        #expect(Self.check(target, host: "other.example.com") == refused)
        #expect(Self.check(target.replacing("a%20b", with: "a%20c")) == refused)
        #expect(Self.check(target.replacing("a%40p.iam", with: "b%40p.iam")) == refused)
        #expect(Self.check(target.replacing("Expires=60", with: "Expires=61")) == refused)
        #expect(Self.check(target + "&response-content-type=text/html") == refused)
        #expect(Self.check(target.replacing("Signature=", with: "Signature=00")) == refused)
        // The same path in another spelling is the same one.
        #expect(
            Self.check(target.replacing("%C3%A9", with: "%c3%a9").replacing("p/a", with: "p/%61"))
                == nil
        )
        let typed = Self.target(query: [("response-content-type", "a/b")])
        #expect(
            Self.check(typed) == nil
                && Self.check(typed.replacing("a%2Fb", with: "a%2Fc")) == refused
        )
        let header = Self.target(
            "PUT",
            headers: [("Content-Type", "text/plain"), ("x-goog-content-sha256", "abc")]
        )
        let sent = [
            (name: "content-type", value: " text/plain "),
            (name: "X-Goog-Content-SHA256", value: "abc"),
        ]
        #expect(Self.check(header, "PUT", headers: sent) == nil)
        #expect(
            Self.check(
                header,
                "PUT",
                headers: [sent[0], (name: "x-goog-content-sha256", value: "abd")]
            ) == refused
        )
        #expect(Self.check(header, "PUT", headers: [sent[1]]) == "400 MalformedSecurityHeader")
    }

    @Test("count with the port of the host signed or not")
    func ports() {
        #expect(Self.check(Self.target(host: "h:8080"), host: "h:8080") == nil)
        #expect(Self.check(Self.target(host: "h"), host: "h:8080") == nil)
        #expect(Self.check(Self.target(host: "[::1]"), host: "[::1]:80") == nil)
        #expect(Self.check(Self.target(host: "h:8080"), host: "h") == "403 SignatureDoesNotMatch")
        #expect(Self.check(Self.target(host: "h:1"), host: "h:2") == "403 SignatureDoesNotMatch")
    }

    @Test(
        "count from a quarter of an hour before their time to their end",
        arguments: [
            (0, nil), (59_999, nil), (60_000, "400 ExpiredToken"), (-900_000, nil),
            (-900_001, "403 RequestTimeTooSkewed"),
        ] as [(Int64, String?)]
    )
    func times(milliseconds: Int64, fault: String?) {
        #expect(Self.check(Self.target(), after: milliseconds) == fault)
    }

    @Test(
        "with parameters that are missing, double or malformed are refused",
        arguments: [
            ("Expires=60", "Expires=0"), ("Expires=60", "Expires=604801"),
            ("Expires=60", "Expires=x"), ("X-Goog-Date=", "X-Goog-Dat="),
            ("X-Goog-Date=2026", "X-Goog-Date=2025"), ("GOOG4-RSA-SHA256", "GOOG4-HMAC-SHA256"),
            ("SignedHeaders=host", "SignedHeaders=range"),
            ("SignedHeaders=host", "SignedHeaders=host%3Bhost"),
            ("SignedHeaders=host", "SignedHeaders=Host"), ("goog4_request", "aws4_request"),
            ("%2Fstorage%2F", "%2Fcompute%2F"), ("Signature=", "Signature=0"),
            ("Signature=", "Signature=zz"), ("?X-Goog", "?x-goog-expires=60&X-Goog"),
        ]
    )
    func malformed(text: String, replacement: String) {
        #expect(
            Self.check(Self.target().replacing(text, with: replacement))
                == "400 AuthorizationQueryParametersError"
        )
        #expect(Self.check(Self.target(seconds: 604_800)) == nil)
    }

    @Test("are made and checked with a real key")
    func realKey() throws {
        let pair = try #require(KeyPair.generateRSA())
        let target = SignedURL.target(
            method: "GET",
            host: "h",
            path: "/abc/x",
            account: "a",
            now: Self.now,
            seconds: 60,
            digest: { SHA256Digest.of($0) },
            sign: { pair.sign($0) }
        )
        let request = try head("GET \(try #require(target))\nHost: h")
        // RSA PKCS #1 v1.5 makes one signature of a message.
        try SignedURL(request).check(
            request,
            now: Self.now,
            digest: { SHA256Digest.of($0) },
            verify: { pair.sign($0) == $1 }
        )
    }

    @Test("of version 2 count for method, type, headers and path, until they end")
    func versionTwo() {
        let path = "/demo.appspot.com/p/a%20b.txt"
        let expires = Self.now.milliseconds / 1000 + 60
        let message =
            "PUT\n\ntext/plain\n\(expires)\nx-goog-meta-a:1,2\nx-goog-resumable:start\n\(path)"
        let signature = Base64.encode(
            Self.sign("a@p.iam", Array(message.utf8)),
            .standard,
            isPadded: true
        )
        let headers = [
            (name: "x-goog-resumable", value: "start"), (name: "X-Goog-Meta-A", value: "1"),
            (name: "x-goog-meta-a", value: "2"), (name: "Content-Type", value: "text/plain"),
        ]
        for escaped in [PercentCoding.encode(signature), signature] {
            let target = "\(path)?GoogleAccessId=a%40p.iam&Expires=\(expires)&Signature=\(escaped)"
            #expect(Self.check(target, "PUT", headers: headers) == nil)
            #expect(Self.check(target, "GET", headers: headers) == "403 SignatureDoesNotMatch")
            #expect(
                Self.check(target, "PUT", headers: Array(headers.dropLast()))
                    == "403 SignatureDoesNotMatch"
            )
            #expect(
                Self.check(target, "PUT", headers: headers, after: 60_000) == "400 ExpiredToken"
            )
            #expect(
                Self.check(target.replacing("Expires=", with: "Expire="), "PUT")
                    == "400 AuthorizationQueryParametersError"
            )
        }
    }
}
