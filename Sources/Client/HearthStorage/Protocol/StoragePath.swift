import Foundation

/// Where an object or a folder is: a bucket, and a name in it. The root of a bucket has the empty name.
///
/// Names have no empty segments: slashes at both ends go, and several in a row count as one.
struct StoragePath: Hashable, Sendable {
    let bucket: String
    /// `a/b.png`; empty at the root.
    let object: String

    init(bucket: String, object: String = "") {
        self.bucket = bucket
        self.object = object.split(separator: "/").joined(separator: "/")
    }

    /// Reads `gs://BUCKET/NAME`, or the address of an object or a bucket: `http(s)://HOST/v0/b/BUCKET/o/NAME`.
    ///
    /// The host does not count, so that stored addresses stay good when a server moves.
    ///
    /// - Throws: `StorageError.pathError` for every other text.
    init(url: String) throws(StorageError) {
        if url.hasPrefix("gs://") {
            let parts = url.dropFirst(5).split(
                separator: "/",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            guard let bucket = parts.first, !bucket.isEmpty else { throw Self.fault(url) }
            self.init(bucket: String(bucket), object: parts.count > 1 ? String(parts[1]) : "")
            return
        }
        guard let parts = URLComponents(string: url), ["http", "https"].contains(parts.scheme)
        else {
            throw Self.fault(url)
        }
        let segments = parts.percentEncodedPath.split(
            separator: "/",
            omittingEmptySubsequences: false
        )
        .dropFirst().map { String($0).removingPercentEncoding }
        guard segments.count >= 3, segments[0] == "v0", segments[1] == "b",
            let bucket = segments[2], !bucket.isEmpty, segments.count == 3 || segments[3] == "o"
        else { throw Self.fault(url) }
        let names = segments.dropFirst(4).compactMap { $0 }
        guard names.count == segments.dropFirst(4).count else { throw Self.fault(url) }
        self.init(bucket: bucket, object: names.joined(separator: "/"))
    }

    private static func fault(_ url: String) -> StorageError {
        // Of an address only the part before its query is shown: a token may stand there.
        let shown = url.prefix { $0 != "?" }
        return .pathError(
            message: "\"\(shown)\" names no object: write gs://BUCKET/NAME or "
                + "http(s)://HOST/v0/b/BUCKET/o/NAME"
        )
    }

    /// The last segment of the name; empty at the root.
    var name: String { object.split(separator: "/").last.map { String($0) } ?? "" }

    var isRoot: Bool { object.isEmpty }

    var root: StoragePath { StoragePath(bucket: bucket) }

    /// One segment less; nil at the root.
    var parent: StoragePath? {
        if isRoot { return nil }
        let segments = object.split(separator: "/").dropLast()
        return StoragePath(bucket: bucket, object: segments.joined(separator: "/"))
    }

    func child(_ path: String) -> StoragePath {
        StoragePath(bucket: bucket, object: "\(object)/\(path)")
    }

    /// `gs://BUCKET/NAME`.
    var description: String { "gs://\(bucket)/\(object)" }

    // MARK: - In requests

    /// `/v0/b/BUCKET/o`.
    var collectionTarget: String { "/v0/b/\(Self.escaped(bucket))/o" }

    /// `/v0/b/BUCKET/o/NAME`, the name as one segment.
    var objectTarget: String { "\(collectionTarget)/\(Self.escaped(object))" }

    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"
    )

    /// The text with everything escaped that has a meaning in a path or a query.
    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
