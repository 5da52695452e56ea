import FileProtocol
import JSONTree

/// A bucket of a server that speaks S3's protocol, and where its objects are.
///
///     endpoint                   style         object ab/cd of the bucket "files"
///     https://s3.example.com     path          https://s3.example.com/files/ab/cd
///     https://s3.example.com     virtualHost   https://files.s3.example.com/ab/cd
///     http://10.0.0.2:9000/s3    path          http://10.0.0.2:9000/s3/files/ab/cd
package struct BucketAddress: Equatable, Sendable {
    /// Where an address names the bucket.
    package enum Style: String, CaseIterable, Sendable {
        /// In the first segment of the path, which every server takes.
        case path
        /// In the first label of the host, as Amazon has it for new buckets.
        case virtualHost
    }

    /// Characters of a bucket's name. Source: Amazon S3, "Bucket naming rules".
    static let nameLength = 3...63

    package let bucket: String
    package let style: Style
    /// Whether bytes travel over TLS.
    package let isEncrypted: Bool
    /// The `Host` of each request: without the port where it is that of the scheme.
    package let host: String
    /// The escaped path that is before that of every object, without a slash at its end.
    private let base: String

    /// Reads `endpoint`: `http` or `https`, a host, perhaps a port, perhaps a path.
    ///
    /// - Throws: `ObjectStoreSettingError` for another text, or a bucket that cannot be addressed so.
    package init(
        endpoint: String,
        bucket: String,
        style: Style = .path
    ) throws(ObjectStoreSettingError) {
        let lower = endpoint.lowercased()
        isEncrypted = lower.hasPrefix("https://")
        guard isEncrypted || lower.hasPrefix("http://") else { throw .scheme(endpoint) }
        let rest = endpoint.dropFirst(isEncrypted ? 8 : 7)
        let authority = rest.prefix { !"/?#".contains($0) }
        let path = rest.dropFirst(authority.count)
        guard !path.contains(where: { "?#% ".contains($0) }), path.utf8.allSatisfy({ $0 < 0x7F }),
            !path.contains("//")
        else { throw .path(endpoint) }
        let (name, port) = try Self.split(authority, endpoint)
        try Self.check(bucket, style, host: name)
        self.bucket = bucket
        self.style = style
        let standard = isEncrypted ? 443 : 80
        let suffix = port.map { $0 == standard ? "" : ":\($0)" } ?? ""
        host = (style == .virtualHost ? "\(bucket)." : "") + name + suffix
        let folder = CanonicalRequest.encode(path: Array(path.utf8))
        let trimmed = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        base = style == .path ? "\(trimmed)/\(bucket)" : trimmed
    }

    /// `http://10.0.0.2:9000`: whom requests go to.
    package var origin: String { "\(isEncrypted ? "https" : "http")://\(host)" }

    /// The escaped path of an object, or of the bucket itself.
    func path(_ key: ObjectKey?) -> String {
        guard let key else { return base.isEmpty ? "/" : base }
        return "\(base)/\(CanonicalRequest.encode(path: Array(key.text.utf8)))"
    }

    /// Host in lower case, and port.
    private static func split(
        _ authority: Substring,
        _ endpoint: String
    ) throws(ObjectStoreSettingError) -> (String, Int?) {
        let end = authority.first == "[" ? authority.firstIndex(of: "]") : authority.startIndex
        guard let end, !authority.contains("@") else { throw .host(endpoint) }
        let colon = authority[end...].firstIndex(of: ":")
        let name = authority[..<(colon ?? authority.endIndex)].lowercased()
        let isHost = name.utf8.allSatisfy { byte in
            isLetterOrDigit(byte) || "-._[]:".utf8.contains(byte)
        }
        guard !name.isEmpty, isHost else { throw .host(endpoint) }
        guard let colon else { return (name, nil) }
        guard let port = Int(authority[authority.index(after: colon)...]),
            (1...65_535).contains(port)
        else { throw .port(endpoint) }
        return (name, port)
    }

    private static func check(
        _ bucket: String,
        _ style: Style,
        host: String
    ) throws(ObjectStoreSettingError) {
        let isName = bucket.utf8.allSatisfy { isLetterOrDigit($0) || "-._".utf8.contains($0) }
        guard nameLength.contains(bucket.utf8.count), isName, !bucket.contains("..") else {
            throw .bucket(bucket)
        }
        guard style == .virtualHost else { return }
        let isNumeric = host.hasPrefix("[") || host.allSatisfy { $0.isNumber || $0 == "." }
        guard !isNumeric else { throw .numericHost(host) }
        let isLabel = bucket == bucket.lowercased() && !bucket.contains("_")
        guard isLabel, !bucket.hasPrefix("."), !bucket.hasSuffix(".") else {
            throw .bucketIsNoLabel(bucket)
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }
}

/// The name of an object in its bucket: 1 to 1,024 bytes of UTF-8.
///
/// Never empty, as a request for the empty name would be one for the bucket; no segment is `.` or `..`, which proxies
/// would resolve.
package struct ObjectKey: Hashable, Sendable, CustomStringConvertible {
    /// Bytes of the longest. Source: Amazon S3, "Object key naming guidelines".
    package static let byteLimit = 1024

    package let text: String

    /// nil for a text that is no name of an object.
    package init?(_ text: String) {
        let segments = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...Self.byteLimit).contains(text.utf8.count), !segments.contains("."),
            !segments.contains(".."), !text.utf8.contains(0)
        else { return nil }
        self.text = text
    }

    package var description: String { text }
}
