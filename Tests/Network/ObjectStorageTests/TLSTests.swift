import Foundation
import HTTPClient
import LoopSupport
import TestSupport
import Testing
import Transport

@testable import ObjectStorage

/// Takes every request, and notes the hash that it says its body has.
@LoopActor
private final class PayloadRecorder: TransportApplication {
    var payloads: [String] = []

    nonisolated init() {}

    func admit(_ exchange: HTTPExchange) -> Admission { .accept() }
    func request(_ exchange: HTTPExchange) {
        payloads.append(exchange.head.header("x-amz-content-sha256") ?? "")
        exchange.respond(Transport.HTTPResponse(status: 200))
    }
    func opened(_ connection: WebSocketConnection, _ head: RequestHead) {}
    func received(_ connection: WebSocketConnection, _ message: [UInt8]) {}
    func closed(_ connection: WebSocketConnection) {}
    func aborted(_ exchange: HTTPExchange) {}
    func tickEnded() {}
}

@Suite("a store over TLS")
struct TLSTests {
    /// A certificate for 127.0.0.1, and a server that has it.
    private final class Server {
        let folder: TemporaryFolder
        let certificate: String
        let application = PayloadRecorder()
        let listener: Listener
        let port: Int

        init() throws {
            folder = try TemporaryFolder()
            certificate = "\(folder.path)/certificate.pem"
            let key = "\(folder.path)/key.pem"
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [
                "openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=store",
                "-addext", "subjectAltName=IP:127.0.0.1", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-keyout", key, "-out", certificate,
            ]
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
            var configuration = TransportConfiguration()
            configuration.port = 0
            configuration.tls = TLSFiles(certificate: certificate, key: key)
            let (application, settings) = (application, configuration)
            let made = onLoop { () -> Result<Listener, TransportError> in
                do throws(TransportError) {
                    return .success(try Listener(settings, application: application))
                } catch {
                    return .failure(error)
                }
            }
            listener = try made.get()
            let listener = listener
            port = onLoop { listener.port }
        }

        deinit {
            let listener = listener
            EventLoop.shared.enqueue { listener.drain(within: .zero) { _ in } }
        }

        func store(authority: Bool, signsPayloads: Bool = true) throws -> ObjectStore {
            var configuration = try ObjectStoreConfiguration(
                BucketAddress(endpoint: "https://127.0.0.1:\(port)", bucket: "files"),
                credentials: ObjectStoreCredentials(accessKeyID: "key", secretAccessKey: "secret")
            )
            configuration.signsPayloads = signsPayloads
            if authority { configuration.http.authorityFile = certificate }
            return try ObjectStore(configuration, clock: WaitRecorder().clock)
        }
    }

    @Test("is trusted by the authority that is named, and by no other")
    func authority() throws {
        let server = try Server()
        try server.store(authority: true).put(.bytes([1]), at: key())
        let store = try server.store(authority: false)
        let error = #expect(throws: ObjectStoreError.self) { try store.put(.bytes([1]), at: key()) }
        #expect(error?.tryCount == 1)
        #expect(error?.description.contains("name the file of its certificate's authority") == true)
    }

    @Test("may get bytes whose hash is not signed", arguments: [true, false])
    func unsigned(signsPayloads: Bool) throws {
        let server = try Server()
        let store = try server.store(authority: true, signsPayloads: signsPayloads)
        let bytes = Array("hello".utf8)
        let digest = try ObjectSource.bytes(bytes).digest()
        // A caller that knows the hash has it signed in any case.
        try store.put(.bytes(bytes), at: key(), digest: digest)
        try store.put(.bytes(bytes), at: key())
        let application = server.application
        let payloads = onLoop { application.payloads }
        #expect(payloads == [digest, signsPayloads ? digest : "UNSIGNED-PAYLOAD"])
    }
}
