import JSONTree

/// A request in the one form that signer and verifier hash, for signatures of version 4.
///
///     GET
///     /bucket/object
///     X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=…
///     host:files.example.com
///
///     host
///     UNSIGNED-PAYLOAD
///
/// Google's and Amazon's differ in words alone: `SignatureScheme` has these. Sources: Cloud Storage, "Canonical requests";
/// Amazon S3, "Signature calculations for the Authorization header".
package struct CanonicalRequest: Sendable {
    package var method: String
    /// Escaped, and begins with a slash.
    package var path: String
    /// Decoded, in any order, without the signature.
    package var query: [(name: String, value: String)]
    /// In any order and case; only those of `signedNames` count.
    package var headers: [(name: String, value: String)]
    /// In lower case.
    package var signedNames: [String]
    /// The SHA-256 of the body as hexadecimal digits, or `UNSIGNED-PAYLOAD`.
    package var payload: String

    package init(
        method: String,
        path: String,
        query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)],
        signedNames: [String],
        payload: String = CanonicalRequest.unsignedPayload
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.signedNames = signedNames
        self.payload = payload
    }

    /// The word in the place of a hash that was not made.
    package static let unsignedPayload = "UNSIGNED-PAYLOAD"

    /// The bytes to hash.
    package var bytes: [UInt8] {
        var lines = [method, path, Self.text(query)]
        let names = signedNames.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for name in names {
            let values = headers.filter { FileRequestHead.isEqual($0.name, name) }
            lines.append("\(name):\(values.map { Self.trimmed($0.value) }.joined(separator: ","))")
        }
        lines += ["", names.joined(separator: ";"), payload]
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Parameters escaped, and sorted by their bytes.
    package static func text(_ query: [(name: String, value: String)]) -> String {
        query.map { (PercentCoding.encode($0.name), PercentCoding.encode($0.value)) }
            .sorted { a, b in
                a.0 == b.0
                    ? a.1.utf8.lexicographicallyPrecedes(b.1.utf8)
                    : a.0.utf8.lexicographicallyPrecedes(b.0.utf8)
            }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// A path escaped, but for its slashes.
    package static func encode(path: [UInt8]) -> String {
        path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { PercentCoding.encode(String(decoding: $0, as: UTF8.self)) }
            .joined(separator: "/")
    }

    /// Without blanks at the ends, and with one where there are several.
    private static func trimmed(_ value: String) -> String {
        value.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
    }
}

/// The words of a signature of version 4.
package struct SignatureScheme: Sendable, Equatable {
    /// The first line of what is signed.
    package let algorithm: String
    /// What the parameters of a signed address begin with: `X-Goog-`.
    package let parameterPrefix: String
    /// The last word of a scope.
    package let ending: String

    /// Cloud Storage with the RSA key of a service account.
    package static let google = SignatureScheme(
        algorithm: "GOOG4-RSA-SHA256",
        parameterPrefix: "X-Goog-",
        ending: "goog4_request"
    )

    /// Amazon S3 and the stores that speak its protocol, with a shared secret.
    package static let amazon = SignatureScheme(
        algorithm: "AWS4-HMAC-SHA256",
        parameterPrefix: "X-Amz-",
        ending: "aws4_request"
    )

    /// `20190201/auto/storage/goog4_request`: for which day, place and service a signature counts.
    package func scope(date: String, location: String, service: String) -> String {
        "\(date.prefix(8))/\(location)/\(service)/\(ending)"
    }

    /// What is signed. `date` is `20190201T090000Z`, `digest` the SHA-256 of the canonical request.
    package func stringToSign(date: String, scope: String, digest: [UInt8]) -> [UInt8] {
        Array("\(algorithm)\n\(date)\n\(scope)\n\(Hexadecimal.encode(digest))".utf8)
    }

    /// The key that signs by HMAC for a scope: Amazon's chain. `code` is HMAC-SHA256 of a message under a key.
    package static func signingKey(
        secret: String,
        scope: String,
        code: (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]
    ) -> [UInt8] {
        scope.split(separator: "/").reduce(Array("AWS4\(secret)".utf8)) { key, word in
            code(key, Array(word.utf8))
        }
    }
}
