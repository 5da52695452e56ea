import FileProtocol
import JSONTree
import Tokens

/// Signs requests by version 4 of Amazon's signatures, in their `Authorization` header.
///
/// Source: Amazon S3 API reference, "Authenticating requests: using the Authorization header".
struct RequestSigner: Sendable {
    let credentials: ObjectStoreCredentials
    let region: String
    var service = "s3"

    /// The headers of a request to send: `headers`, and those that make and carry the signature.
    ///
    /// `request` has all headers but these. All that it has is signed. Its payload is sent as `x-amz-content-sha256`, which a
    /// store refuses to be without.
    func signed(
        _ request: CanonicalRequest,
        now: Timestamp
    ) -> [(name: String, value: String)] {
        let date = HTTPDate.compactText(now)
        var request = request
        request.headers += [("x-amz-content-sha256", request.payload), ("x-amz-date", date)]
        if let token = credentials.sessionToken {
            request.headers.append(("x-amz-security-token", token))
        }
        return request.headers + [("Authorization", authorization(request, date: date))]
    }

    /// The value of `Authorization`, which signs every header of `request`. `date` is `20130524T000000Z`.
    func authorization(_ request: CanonicalRequest, date: String) -> String {
        var request = request
        request.signedNames = Set(request.headers.map { $0.name.lowercased() }).sorted()
        let scheme = SignatureScheme.amazon
        let scope = scheme.scope(date: date, location: region, service: service)
        let message = scheme.stringToSign(
            date: date,
            scope: scope,
            digest: SHA256Digest.of(request.bytes)
        )
        let key = SignatureScheme.signingKey(
            secret: credentials.secretAccessKey,
            scope: scope,
            code: Self.code
        )
        return "\(scheme.algorithm) Credential=\(credentials.accessKeyID)/\(scope), "
            + "SignedHeaders=\(request.signedNames.joined(separator: ";")), "
            + "Signature=\(Hexadecimal.encode(Self.code(key: key, message: message)))"
    }

    private static func code(key: [UInt8], message: [UInt8]) -> [UInt8] {
        guard let code = HashMAC.code(of: message, secret: key) else {
            preconditionFailure("OpenSSL has memory for a code of 32 bytes")
        }
        return code
    }
}
