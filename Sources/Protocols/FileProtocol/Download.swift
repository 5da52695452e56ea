package import FileRecords

/// What a download is answered with, and which bytes follow.
package struct Download: Sendable {
    package let status: Int
    /// Without what CORS adds. `Content-Length` is among them unless the length is unknown.
    package let headers: [(name: String, value: String)]
    /// The bytes of the blob to send; empty for 304 and 416.
    package let range: Range<Int64>
    /// Whether the bytes are to be inflated on their way, with a limit, and sent chunked.
    package let inflates: Bool

    /// Plans the answer. `byToken` says that a download token has opened it, `ownHost` that files have a host without other
    /// routes, where pages among them do no harm, and `honoursOverrides` that a verified signature covers
    /// `response-content-type` and `response-content-disposition`. `headers` are those of the record, where they were made before.
    package init(
        _ record: FileRecord,
        _ request: MediaRequest,
        _ dialect: FileDialect,
        byToken: Bool = false,
        ownHost: Bool = false,
        honoursOverrides: Bool = false,
        headers known: DownloadHeaders? = nil
    ) {
        let byteCount = record.content.byteCount
        let known = known ?? DownloadHeaders(record)
        inflates = known.isGzip && !request.acceptsGzip
        let override = honoursOverrides ? request.type.map { ContentDisposition.line($0) } : nil
        let type = override ?? known.type
        let validators = known.validators(inflates: inflates, byToken: byToken)
        if request.isNotModified(record) {
            self.status = 304
            self.headers = known.shared + validators
            self.range = 0..<0
            return
        }
        var wanted = ByteRange.whole
        if !inflates, request.rangeCounts(record) {
            wanted = ByteRange(
                request.range,
                byteCount: byteCount,
                emptyIsWhole: dialect == .client
            )
        }
        var headers: [(name: String, value: String)] = []
        headers.reserveCapacity(known.shared.count + validators.count + 6)
        headers.append(("Content-Type", type))
        headers += known.shared
        headers += validators
        var disposition = known.disposition
        let wish = honoursOverrides ? request.disposition : nil
        if wish != nil || override != nil || ownHost {
            disposition = ContentDisposition.header(
                wish ?? record.fields[.contentDisposition],
                record.name,
                isActive: !ownHost && ActiveTypes.contains(type)
            )
        }
        headers.append(("Content-Disposition", disposition))
        if !inflates { headers.append(contentsOf: known.encoding) }
        headers.append(contentsOf: known.language)
        status = wanted.status
        range = wanted.bytes(byteCount: byteCount)
        if let text = wanted.contentRange(byteCount: byteCount) {
            headers.append(("Content-Range", text))
        }
        if !inflates { headers.append(("Content-Length", "\(range.count)")) }
        self.headers = headers
    }
}

/// The headers of downloads of a record that are the same in all of them. Making them takes longer than all else of a plan.
package struct DownloadHeaders: Sendable {
    /// As a browser reads it: without what is left out of headers.
    let type: String
    let isGzip: Bool
    let shared: [(name: String, value: String)]
    let disposition: String
    /// `Content-Encoding` and `Content-Language`, where the record has them.
    let encoding: [(name: String, value: String)]
    let language: [(name: String, value: String)]
    private let entityTag: String
    private let lastModified: String
    private let cacheControl: String?

    /// Makes those of a record.
    package init(_ record: FileRecord) {
        let (content, fields) = (record.content, record.fields)
        type = ContentDisposition.line(record.contentType)
        let stored = fields[.contentEncoding].map { ContentDisposition.line($0) }
        isGzip = stored?.lowercased() == "gzip"
        encoding = stored.map { $0.isEmpty ? [] : [("Content-Encoding", $0)] } ?? []
        language =
            fields[.contentLanguage].map {
                [("Content-Language", ContentDisposition.line($0))]
            } ?? []
        disposition = ContentDisposition.header(
            fields[.contentDisposition],
            record.name,
            isActive: ActiveTypes.contains(type)
        )
        let md5 = content.md5Text.map { ",md5=\($0)" } ?? ""
        shared =
            [
                ("x-goog-generation", "\(record.generation)"),
                ("x-goog-metageneration", "\(record.metageneration)"),
                // As the official emulator spells it.
                ("x-goog-metadatageneration", "\(record.metageneration)"),
                ("x-goog-storage-class", "STANDARD"),
                ("x-goog-hash", "crc32c=\(content.crc32cText)\(md5)"),
                ("x-goog-stored-content-encoding", isGzip ? "gzip" : stored ?? "identity"),
                ("x-goog-stored-content-length", "\(content.byteCount)"),
            ] + Download.safety
        entityTag = record.entityTag
        lastModified = HTTPDate.text(record.updated)
        cacheControl = fields[.cacheControl].map { ContentDisposition.line($0) }
    }

    /// What caches go by. With `inflates` other bytes are sent than those that the tag is of, so only alike.
    func validators(inflates: Bool, byToken: Bool) -> [(name: String, value: String)] {
        [
            ("Accept-Ranges", inflates ? "none" : "bytes"),
            ("ETag", "\(inflates ? "W/" : "")\"\(entityTag)\""), ("Last-Modified", lastModified),
            (
                "Cache-Control",
                cacheControl ?? (byToken ? "private, max-age=3600" : "private, max-age=0")
            ),
        ] + (isGzip ? [("Vary", "Accept-Encoding")] : [])
    }
}

extension Download {
    /// Stored bytes are a stranger's: no browser may run them as a page of this host, or guess another type.
    package static let safety: [(name: String, value: String)] = [
        ("X-Content-Type-Options", "nosniff"),
        ("Content-Security-Policy", "sandbox; default-src 'none'"),
        ("Cross-Origin-Resource-Policy", "cross-origin"), ("Referrer-Policy", "no-referrer"),
    ]
}

/// Types that a browser runs, or takes for a page.
package enum ActiveTypes {
    private static let all: Set<String> = [
        "text/html", "application/xhtml+xml", "image/svg+xml", "text/xml", "application/xml",
        "text/javascript", "application/javascript", "application/x-javascript",
        "application/ecmascript", "text/ecmascript", "text/css", "text/xsl", "text/cache-manifest",
        "application/x-shockwave-flash", "multipart/x-mixed-replace", "message/rfc822",
        "application/wasm",
    ]

    /// Whether a type, with parameters or without, is one of them, or any kind of XML. Of several types between commas a
    /// browser takes the last that it knows, so each counts.
    package static func contains(_ type: String) -> Bool {
        type.split(separator: ",").contains { type in
            let bare = type.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
            return all.contains(bare) || bare.hasSuffix("+xml") || bare.hasSuffix("/xml")
        }
    }
}

/// The header `Content-Disposition`.
enum ContentDisposition {
    /// The stored value, or `attachment`; with the last segment of the name, unless it names a file.
    static func header(_ stored: String?, _ name: ObjectName, isActive: Bool) -> String {
        var value = line(stored ?? "")
        if value.isEmpty { value = "attachment" }
        let type = value.prefix { $0 != ";" }
        let isAttachment = type.filter { $0 != " " }.lowercased() == "attachment"
        if isActive, !isAttachment { value = "attachment\(value.dropFirst(type.count))" }
        guard !value.lowercased().contains("filename") else { return value }
        let segment = name.utf8.split(separator: UInt8(ascii: "/")).last ?? [][...]
        return "\(value); filename*=UTF-8''\(CanonicalRequest.encode(path: Array(segment)))"
    }

    /// A text without controls, so that it stays in its line.
    static func line(_ text: String) -> String {
        // As nearly every header is: a look at its bytes costs little.
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
            )
        )
    }
}
