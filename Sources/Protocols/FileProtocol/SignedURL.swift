package import JSONTree

/// The signature of an address, version 4 or 2, found in its parameters and not yet checked.
///
///     4   /B/O?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=EMAIL/DATE/auto/storage/goog4_request
///             &X-Goog-Date=20190201T090000Z&X-Goog-Expires=10&X-Goog-SignedHeaders=host&X-Goog-Signature=HEX
///     2   /B/O?GoogleAccessId=EMAIL&Expires=SECONDS&Signature=BASE64
///
/// Source: Cloud Storage, "Signed URLs", "V4 signing process" and "V2 signing process". Never write such an address into a log.
package struct SignedURL: Sendable {
    /// The email of the service account that must have signed.
    package let account: String
    /// When it begins to count; version 2 does not say.
    private let begins: Timestamp?
    private let ends: Timestamp
    private let signature: [UInt8]
    private let version: Version

    private enum Version {
        case two
        case four(date: String, scope: String, signedNames: [String])
    }

    /// Whether an address is signed, or means to be.
    package static func isSigned(_ head: FileRequestHead) -> Bool {
        head.parameters.contains {
            FileRequestHead.isEqual($0.name, "X-Goog-Signature") || $0.name == "Signature"
        }
    }

    /// Reads the parameters of a signed address.
    ///
    /// - Throws: `FileFault` (400) for some that are missing or malformed.
    package init(_ head: FileRequestHead) throws(FileFault) {
        if let account = head.parameter("GoogleAccessId") {
            try self.init(two: head, account)
        } else {
            try self.init(four: head)
        }
    }

    private init(two head: FileRequestHead, _ account: String) throws(FileFault) {
        guard let expires = head.parameter("Expires").flatMap({ Int64($0) }),
            (0...253_402_300_799).contains(expires),
            // A plus that was not escaped reads as a space.
            let text = head.parameter("Signature").map({ $0.map { $0 == " " ? "+" : $0 } }),
            let signature = Base64.decode(String(text))
        else { throw Self.malformed("Expires and Signature") }
        self.account = account
        begins = nil
        ends = Timestamp(milliseconds: expires * 1000)
        self.signature = signature
        version = .two
    }

    private init(four head: FileRequestHead) throws(FileFault) {
        func value(_ name: String) throws(FileFault) -> String {
            let found = head.parameters.filter {
                FileRequestHead.isEqual($0.name, "X-Goog-\(name)")
            }
            guard found.count == 1 else { throw Self.malformed("X-Goog-\(name)") }
            return found[0].value
        }
        guard try value("Algorithm") == SignatureScheme.google.algorithm else {
            throw Self.malformed("X-Goog-Algorithm")
        }
        let date = try value("Date")
        guard let begins = HTTPDate.timestamp(compact: date) else {
            throw Self.malformed("X-Goog-Date")
        }
        guard let seconds = Int64(try value("Expires")),
            (1...FileProtocolLimits.signedSeconds).contains(seconds)
        else { throw Self.malformed("X-Goog-Expires") }
        let credential = try value("Credential").split(separator: "/", maxSplits: 1)
        guard credential.count == 2 else { throw Self.malformed("X-Goog-Credential") }
        let scope = credential[1].split(separator: "/", omittingEmptySubsequences: false)
        guard scope.count == 4, scope[0] == date.prefix(8), scope[2] == "storage",
            scope[3] == SignatureScheme.google.ending
        else { throw Self.malformed("X-Goog-Credential") }
        let names = try value("SignedHeaders").split(separator: ";").map { String($0) }
        guard names.contains("host"), names.allSatisfy({ $0 == $0.lowercased() }),
            Set(names).count == names.count
        else { throw Self.malformed("X-Goog-SignedHeaders") }
        let digits = Array(try value("Signature").utf8)
        guard let signature = Self.bytes(ofHexadecimal: digits), !signature.isEmpty else {
            throw Self.malformed("X-Goog-Signature")
        }
        account = String(credential[0])
        self.begins = begins
        ends = Timestamp(milliseconds: begins.milliseconds + seconds * 1000)
        self.signature = signature
        version = .four(date: date, scope: String(credential[1]), signedNames: names)
    }

    /// Checks time and signature.
    ///
    /// `digest` is SHA-256. `verify` says whether the key of `account` has made a signature of a message: RSA PKCS #1 v1.5 with
    /// SHA-256, which takes long, so call it on a worker. Whether the account is disabled is for the caller.
    package func check(
        _ head: FileRequestHead,
        now: Timestamp,
        digest: (_ bytes: [UInt8]) -> [UInt8],
        verify: (_ message: [UInt8], _ signature: [UInt8]) -> Bool
    ) throws(FileFault) {
        if let begins,
            begins.milliseconds > now.milliseconds + FileProtocolLimits.clockSkew
        {
            throw FileFault(
                403,
                "The address counts from a time on that has not come.",
                code: "RequestTimeTooSkewed"
            )
        }
        guard now < ends else {
            throw FileFault(400, "The address has expired.", code: "ExpiredToken")
        }
        for message in try messages(head, digest) where verify(message, signature) { return }
        throw FileFault(
            403,
            "The signature is not that of this request by this account.",
            code: "SignatureDoesNotMatch"
        )
    }

    /// What may have been signed: some libraries sign the host with its port, some without.
    private func messages(
        _ head: FileRequestHead,
        _ digest: ([UInt8]) -> [UInt8]
    ) throws(FileFault) -> [[UInt8]] {
        guard case .four(let date, let scope, let signedNames) = version else {
            return [Self.messageTwo(head)]
        }
        for name in signedNames where head.header(name) == nil {
            throw FileFault(
                400,
                "The header '\(name)' is signed and missing.",
                code: "MalformedSecurityHeader"
            )
        }
        let path = try FileRequestHead.decode(head.rawPath[...], isForm: false)
        var request = CanonicalRequest(
            method: head.method,
            path: CanonicalRequest.encode(path: Array(path.utf8)),
            query: head.parameters.filter {
                !FileRequestHead.isEqual($0.name, "X-Goog-Signature")
            },
            headers: head.headers,
            signedNames: signedNames
        )
        if signedNames.contains("x-goog-content-sha256") {
            request.payload = head.header("x-goog-content-sha256") ?? request.payload
        }
        return Self.hosts(head.header("host") ?? "").map { host in
            request.headers = head.headers.filter { !FileRequestHead.isEqual($0.name, "host") }
            request.headers.append(("host", host))
            return SignatureScheme.google.stringToSign(
                date: date,
                scope: scope,
                digest: digest(request.bytes)
            )
        }
    }

    /// A host as it was sent, and without its port.
    private static func hosts(_ host: String) -> [String] {
        guard let colon = host.lastIndex(of: ":"),
            host[host.index(after: colon)...].allSatisfy({ $0.isNumber })
        else { return [host] }
        return [host, String(host[..<colon])]
    }

    /// Version 2: method, MD5, type, time, headers of ours in order, and the path as sent.
    private static func messageTwo(_ head: FileRequestHead) -> [UInt8] {
        var lines = [
            head.method, head.header("content-md5") ?? "", head.header("content-type") ?? "",
            head.parameter("Expires") ?? "",
        ]
        var names = Set(
            head.headers.map { $0.name.lowercased() }.filter { $0.hasPrefix("x-goog-") }
        )
        names.subtract(["x-goog-encryption-key", "x-goog-encryption-key-sha256"])
        for name in names.sorted() {
            let values = head.headers.filter { FileRequestHead.isEqual($0.name, name) }
            lines.append("\(name):\(values.map(\.value).joined(separator: ","))")
        }
        lines.append(head.rawPath)
        return Array(lines.joined(separator: "\n").utf8)
    }

    private static func malformed(_ name: String) -> FileFault {
        FileFault(
            400,
            "The signed address must have a valid \(name).",
            code: "AuthorizationQueryParametersError"
        )
    }

    private static func bytes(ofHexadecimal digits: [UInt8]) -> [UInt8]? {
        guard digits.count % 2 == 0, digits.count <= 2048 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Character(UnicodeScalar(digits[index])).hexDigitValue,
                let low = Character(UnicodeScalar(digits[index + 1])).hexDigitValue
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    /// A signed address, version 4: path and query; nil when `sign` makes no signature of a message by the account's key.
    ///
    /// `path` is decoded: `/BUCKET/OBJECT`. `headers` are those that its user must send beside `host`.
    package static func target(
        method: String,
        host: String,
        path: String,
        account: String,
        now: Timestamp,
        seconds: Int64,
        headers: [(name: String, value: String)] = [],
        query: [(name: String, value: String)] = [],
        digest: (_ bytes: [UInt8]) -> [UInt8],
        sign: (_ message: [UInt8]) -> [UInt8]?
    ) -> String? {
        let scheme = SignatureScheme.google
        let date = HTTPDate.compactText(now)
        let scope = scheme.scope(date: date, location: "auto", service: "storage")
        let names = (headers.map { $0.name.lowercased() } + ["host"]).sorted()
        var parameters = query
        let own = [
            ("Algorithm", scheme.algorithm), ("Credential", "\(account)/\(scope)"), ("Date", date),
            ("Expires", "\(seconds)"), ("SignedHeaders", names.joined(separator: ";")),
        ]
        for (name, value) in own { parameters.append(("X-Goog-\(name)", value)) }
        let payload = headers.first { FileRequestHead.isEqual($0.name, "x-goog-content-sha256") }
        let request = CanonicalRequest(
            method: method,
            path: CanonicalRequest.encode(path: Array(path.utf8)),
            query: parameters,
            headers: headers + [("host", host)],
            signedNames: names,
            payload: payload?.value ?? CanonicalRequest.unsignedPayload
        )
        let message = scheme.stringToSign(date: date, scope: scope, digest: digest(request.bytes))
        return sign(message).map { signature in
            "\(request.path)?\(CanonicalRequest.text(parameters))"
                + "&X-Goog-Signature=\(Hexadecimal.encode(signature))"
        }
    }
}
