import Foundation

/// A server's answer.
struct StorageAnswer: Equatable, Sendable {
    let status: Int
    /// Names in lower case.
    var headers: [String: String] = [:]
    /// Empty where a sink took it.
    var body = Data()

    var isSuccess: Bool { (200..<300).contains(status) }

    /// Whether the same request may well succeed later.
    var isPassing: Bool {
        status == 408 || status == 429 || status >= 500 && status != 501
    }

    // MARK: - Uploads

    enum UploadStatus: String, Sendable { case active, final, cancelled }

    var uploadStatus: UploadStatus? {
        headers["x-goog-upload-status"].flatMap { UploadStatus(rawValue: $0.lowercased()) }
    }

    /// How many bytes of an upload the server has.
    var receivedByteCount: Int64? { number("x-goog-upload-size-received") }

    /// What chunks must be multiples of.
    var granularity: Int64? {
        guard let number = number("x-goog-upload-chunk-granularity") else { return nil }
        return (1...StorageLimits.chunkByteCount).contains(number) ? number : nil
    }

    /// Path and query of the session that a start has made, from `/v0` on; nil when there is none. Its host does not
    /// count: bytes go nowhere but to the server that the app has named.
    var sessionTarget: String? {
        guard let text = headers["x-goog-upload-url"], let parts = URLComponents(string: text),
            let start = parts.percentEncodedPath.firstRange(of: "/v0/b/")?.lowerBound
        else { return nil }
        return parts.percentEncodedPath[start...]
            + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    // MARK: - Downloads

    /// Bytes of the body; nil when the server does not say.
    var contentByteCount: Int64? { number("content-length") }

    /// The first and the last number of `bytes 5-9/10`; nil without them.
    var contentRange: (start: Int64, total: Int64)? {
        guard let text = headers["content-range"], text.hasPrefix("bytes "),
            let dash = text.firstIndex(of: "-"), let slash = text.firstIndex(of: "/"),
            let start = Int64(text[text.index(text.startIndex, offsetBy: 6)..<dash]),
            let total = Int64(text[text.index(after: slash)...])
        else { return nil }
        return (start, total)
    }

    private func number(_ name: String) -> Int64? {
        headers[name].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The server's own words about a refusal: the `message` of its JSON, else the start of a text.
    var message: String? {
        struct Refusal: Decodable {
            struct Reason: Decodable { let message: String? }
            let error: Reason
        }
        if let refusal = try? JSONDecoder().decode(Refusal.self, from: body) {
            return refusal.error.message.map { String($0.prefix(200)) }
        }
        let isText = headers["content-type"]?.hasPrefix("text/plain") ?? false
        return isText ? String(decoding: body.prefix(200), as: UTF8.self) : nil
    }
}
