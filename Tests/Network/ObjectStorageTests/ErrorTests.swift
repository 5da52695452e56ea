import TestSupport
import Testing

@testable import ObjectStorage

@Suite("errors of stores")
struct ErrorTests {
    @Test(
        "say what happened, where, and what to do",
        arguments: [
            (
                403, "SignatureDoesNotMatch", "",
                "check the secret access key, the region 'us-east-1', and that no proxy changes requests"
            ),
            (
                403, "InvalidAccessKeyId", "",
                "check that the store knows this access key and its token"
            ),
            (403, "RequestTimeTooSkewed", "", "set the clock of this machine"),
            (403, "AccessDenied", "", "allow this access key s3:PutObject in the bucket"),
            (
                400, "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>",
                "set the region to what the store says ('eu-west-1')"
            ),
            (
                301, "PermanentRedirect", "<Endpoint>b.example.com</Endpoint>",
                "name the endpoint or region that has the bucket ('b.example.com'): signed requests follow no redirect"
            ),
            (404, "NoSuchBucket", "", "make the bucket, or correct its name"),
            (
                400, "XAmzContentSHA256Mismatch", "",
                "bytes changed on their way: check memory, disk and proxies, and try again"
            ),
            (
                400, "EntityTooLarge", "",
                "raise the size of requests that the store and proxies take"
            ),
            (507, "XMinioStorageFull", "", "make room in the store"),
            (501, "NotImplemented", "", "use a store that has PutObject"),
            (400, "Other", "", "look at the store's log"),
        ]
    )
    func texts(status: Int, code: String, more: String, advice: String) throws {
        let scripted = try ScriptedStore([.error(status, code, more: more)])
        let error = try #require(scripted.error { try $0.put(.bytes([1]), at: key()) })
        #expect(
            error.description
                == "PutObject of 'files/ab/cdef' at \(scripted.server.url): \(status) \(code) "
                + "(It is \(code).); \(advice)"
        )
    }

    @Test("of the network say so", arguments: ["http://127.0.0.1:1", "https://127.0.0.1:1"])
    func network(endpoint: String) throws {
        let waits = WaitRecorder()
        let configuration = try ObjectStoreConfiguration(
            BucketAddress(endpoint: endpoint, bucket: "files"),
            credentials: ObjectStoreCredentials(
                accessKeyID: "key",
                secretAccessKey: "secret-secret"
            )
        )
        let store = try ObjectStore(configuration, clock: waits.clock)
        let error = #expect(throws: ObjectStoreError.self) { try store.check() }
        let text = error?.description ?? ""
        #expect(
            text.hasPrefix("ListObjectsV2 of 'files' at \(endpoint): the store cannot be reached: ")
        )
        #expect(text.hasSuffix("(tried 5 times); check its address, and that it is running"))
        #expect(waits.milliseconds == [200, 400, 800, 1600])
    }

    @Test("over TLS where there is none say so, at once")
    func noTLS() throws {
        let server = try ScriptedServer([.init(400)])
        let configuration = try ObjectStoreConfiguration(
            BucketAddress(endpoint: "https://127.0.0.1:\(server.port)", bucket: "files"),
            credentials: ObjectStoreCredentials(
                accessKeyID: "key",
                secretAccessKey: "secret-secret"
            )
        )
        let store = try ObjectStore(configuration, clock: WaitRecorder().clock)
        let error = #expect(throws: ObjectStoreError.self) { try store.check() }
        #expect(error?.tryCount == 1)
        #expect(error?.description.contains("begin its address with http://") == true)
    }

    @Test("show what a store says shortly, harmlessly, and without secrets")
    func harmless() throws {
        let text = String(repeating: "x", count: 1000)
        let scripted = try ScriptedStore(
            [
                .init(
                    400,
                    text: "<Error><Code>Bad\u{1B}[2J</Code><Message>a\nb \(text)</Message></Error>"
                )
            ],
            token: "token-token"
        )
        let error = try #require(scripted.error { try $0.delete(key()) }).description
        #expect(error.contains("400 Bad\\u001b[2J (a b xxx"))
        #expect(error.count < 500)
        #expect(!error.contains("secret-secret") && !error.contains("token-token"))
        #expect(!error.contains("Signature"))
    }

    @Test("have a permission for each operation")
    func permissions() {
        for operation in StoreOperation.allCases {
            #expect(operation.permission.hasPrefix("s3:"))
        }
    }
}
