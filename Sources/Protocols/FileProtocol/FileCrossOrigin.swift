/// What browsers need so that pages may use the file protocols. Who may is for the server to say, and
/// `Access-Control-Allow-Origin` with it; these headers go with it, on refusals too.
package enum FileCrossOrigin {
    /// What pages may read of answers: without it no SDK can upload from a page.
    package static let exposedHeaders = [
        "x-goog-upload-url", "x-goog-upload-status", "x-goog-upload-size-received",
        "x-goog-upload-chunk-granularity", "x-goog-upload-control-url", "x-goog-upload-command",
        "x-gupload-uploadid", "x-guploader-uploadid", "content-range", "content-length",
        "content-disposition", "etag", "location", "range", "x-goog-hash", "x-goog-generation",
        "x-goog-metageneration",
    ].joined(separator: ", ")

    private static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

    private static let requestHeaders = [
        "authorization", "content-type", "range", "x-firebase-storage-version", "x-firebase-gmpid",
        "x-firebase-appcheck", "x-http-method-override",
    ]

    /// The headers of an answer that a page reads.
    package static let answerHeaders: [(name: String, value: String)] = [
        ("Access-Control-Expose-Headers", exposedHeaders)
    ]

    /// The headers of the answer to a preflight. `asked` is its `Access-Control-Request-Headers`.
    package static func preflight(_ asked: String?) -> [(name: String, value: String)] {
        var allowed = requestHeaders
        for name in (asked ?? "").lowercased().split(separator: ",") {
            let name = String(name.filter { $0 != " " && $0 != "\t" })
            let isPlain = name.utf8.allSatisfy {
                $0 == 0x2D || (0x30...0x39).contains($0)
                    || (0x61...0x7A).contains($0)
            }
            let isKnown = ["x-goog-", "x-upload-", "content-", "if-"].contains(
                where: name.hasPrefix
            )
            if isPlain, isKnown, !allowed.contains(name), allowed.count < 64 {
                allowed.append(name)
            }
        }
        return answerHeaders + [
            ("Access-Control-Allow-Methods", methods),
            ("Access-Control-Allow-Headers", allowed.joined(separator: ", ")),
            ("Access-Control-Max-Age", "3600"),
        ]
    }
}
