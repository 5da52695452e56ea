import FileRecords
import JSONTree

/// What the head of a request for bytes says beside the object.
package struct MediaRequest: Sendable {
    package var range: String?
    package var ifRange: String?
    package var ifNoneMatch: String?
    package var ifModifiedSince: String?
    /// Whether the client can inflate.
    package var acceptsGzip = false
    /// What a signed address puts in the place of stored fields. They count only after its signature was verified.
    package var type: String?
    package var disposition: String?

    /// Asks for everything.
    package init() {}

    /// Reads a head.
    package init(_ head: FileRequestHead) {
        range = head.header("range")
        ifRange = head.header("if-range")
        ifNoneMatch = head.header("if-none-match")
        ifModifiedSince = head.header("if-modified-since")
        acceptsGzip = Self.acceptsGzip(head.header("accept-encoding") ?? "")
        type = head.parameter("response-content-type")
        disposition = head.parameter("response-content-disposition")
    }

    private static func acceptsGzip(_ header: String) -> Bool {
        for coding in header.lowercased().split(separator: ",") {
            let parts = coding.filter { $0 != " " }.split(separator: ";")
            guard let name = parts.first, name == "gzip" || name == "x-gzip" || name == "*" else {
                continue
            }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }
            if (quality?.dropFirst(2)).map({ Double($0) ?? 0 }) ?? 1 > 0 { return true }
        }
        return false
    }

    /// Whether `If-None-Match`, or without it `If-Modified-Since`, says that the client has these bytes. Weak comparison.
    func isNotModified(_ record: FileRecord) -> Bool {
        if let ifNoneMatch {
            let tags = ifNoneMatch.split(separator: ",").map { tag in
                let tag = tag.drop { $0 == " " }.prefix { $0 != " " }
                return tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
            }
            return tags.contains("*") || tags.contains { $0 == "\"\(record.entityTag)\"" }
        }
        guard let time = ifModifiedSince.flatMap({ HTTPDate.timestamp($0) }) else { return false }
        return record.updated.milliseconds / 1000 <= time.milliseconds / 1000
    }

    /// Whether a range counts: without `If-Range`, or when that is the strong tag or the time of these bytes.
    func rangeCounts(_ record: FileRecord) -> Bool {
        guard let ifRange else { return true }
        if ifRange.hasPrefix("\"") { return ifRange == "\"\(record.entityTag)\"" }
        return ifRange == HTTPDate.text(record.updated)
    }
}
