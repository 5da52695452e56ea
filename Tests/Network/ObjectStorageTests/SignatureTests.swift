import FileProtocol
import Foundation
import JSONTree
import TestSupport
import Testing

@testable import ObjectStorage

/// Rows of `Specs/signatures.json`: Amazon's published requests, and some of this client's that botocore has signed
/// (`test_s3_signatures.py` holds the table to botocore).
@Suite("signatures of requests")
struct SignatureTests {
    struct Row: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let source: String
        let method: String
        let path: String
        let query: [[String]]
        let headers: [[String]]
        let host: String
        let payload: String
        let sendsPayload: Bool
        let accessKey: String
        let secret: String
        let token: String?
        let region: String
        let service: String
        let date: String
        let signature: String

        var testDescription: String { name }
    }

    static let rows: [Row] = {
        let path = "\(Checkout.path)/Tests/Network/ObjectStorageTests/Specs/signatures.json"
        do {
            let data = try Data(contentsOf: URL(filePath: path))
            return try JSONDecoder().decode([Row].self, from: data)
        } catch {
            preconditionFailure("\(path): \(error)")
        }
    }()

    private static func signer(_ row: Row) throws -> RequestSigner {
        RequestSigner(
            credentials: try ObjectStoreCredentials(
                accessKeyID: row.accessKey,
                secretAccessKey: row.secret,
                sessionToken: row.token
            ),
            region: row.region,
            service: row.service
        )
    }

    private static func request(_ row: Row) -> CanonicalRequest {
        CanonicalRequest(
            method: row.method,
            path: CanonicalRequest.encode(path: Array(row.path.utf8)),
            query: row.query.map { ($0[0], $0[1]) },
            headers: [("Host", row.host)] + row.headers.map { ($0[0], $0[1]) },
            signedNames: [],
            payload: row.payload
        )
    }

    @Test("are those of the table", arguments: rows)
    func table(row: Row) throws {
        let signer = try Self.signer(row)
        var request = Self.request(row)
        let authorization: String
        if row.sendsPayload {
            let now = try #require(HTTPDate.timestamp(compact: row.date))
            authorization = signer.signed(request, now: now).last?.value ?? ""
        } else {
            request.headers.append(("X-Amz-Date", row.date))
            if let token = row.token { request.headers.append(("X-Amz-Security-Token", token)) }
            authorization = signer.authorization(request, date: row.date)
        }
        #expect(authorization.hasSuffix(", Signature=\(row.signature)"), "\(authorization)")
        let scope = "\(row.date.prefix(8))/\(row.region)/\(row.service)/aws4_request"
        #expect(
            authorization.hasPrefix("AWS4-HMAC-SHA256 Credential=\(row.accessKey)/\(scope), ")
        )
    }

    @Test("cover every header that is sent")
    func headers() throws {
        let row = try #require(Self.rows.first { $0.token != nil && $0.sendsPayload })
        let now = Timestamp(milliseconds: 1_790_812_799_000)
        let sent = try Self.signer(row).signed(Self.request(row), now: now)
        let names = sent.dropLast().map { $0.name.lowercased() }.sorted()
        #expect(sent.last?.name == "Authorization")
        #expect(sent.last?.value.contains("SignedHeaders=\(names.joined(separator: ";")),") == true)
        #expect(names == ["host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"])
    }

    @Test(
        "are not made with what no header can carry",
        arguments: [
            ("", "s", nil, .accessKeyID), ("a/b", "s", nil, .accessKeyID),
            ("a b", "s", nil, .accessKeyID), ("a", "", nil, .secretAccessKey),
            ("a", "s\n", nil, .secretAccessKey), ("a", "s", "", .sessionToken),
            ("a", "s", "t\r\nHost: b", .sessionToken),
        ] as [(String, String, String?, ObjectStoreSettingError)]
    )
    func credentials(key: String, secret: String, token: String?, error: ObjectStoreSettingError) {
        #expect(throws: error) {
            try ObjectStoreCredentials(
                accessKeyID: key,
                secretAccessKey: secret,
                sessionToken: token
            )
        }
    }

    @Test("show no secret")
    func secrets() throws {
        let credentials = try ObjectStoreCredentials(
            accessKeyID: "key",
            secretAccessKey: "secret-secret",
            sessionToken: "token-token"
        )
        #expect("\(credentials)" == "access key key")
    }
}
