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
    /// `response-content-type` and `response-content-disposition`.
    package init(
        _ record: FileRecord,
        _ request: MediaRequest,
        _ dialect: FileDialect,
        byToken: Bool = false,
        ownHost: Bool = false,
        honoursOverrides: Bool = false
    ) {
        let byteCount = record.content.byteCount
        let encoding = record.fields[.contentEncoding].flatMap { $0.isEmpty ? nil : $0 }
        let isGzip = encoding?.lowercased() == "gzip"
        inflates = isGzip && !request.acceptsGzip
        // As the browser reads it: without what is left out of headers.
        let type = ContentDisposition.line(
            (honoursOverrides ? request.type : nil) ?? record.contentType
        )
        let shared =
            Self.shared(record, type, isGzip: isGzip)
            + Self.validators(record, inflates: inflates, byToken: byToken)
        if request.isNotModified(record) {
            self.status = 304
            self.headers = shared.filter { $0.name != "Content-Type" }.map(Self.line)
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
        var headers = shared
        let disposition = ContentDisposition.header(
            (honoursOverrides ? request.disposition : nil)
                ?? record.fields[.contentDisposition],
            record.name,
            isActive: !ownHost && ActiveTypes.contains(type)
        )
        headers.append(("Content-Disposition", disposition))
        if let encoding, !inflates { headers.append(("Content-Encoding", encoding)) }
        if let language = record.fields[.contentLanguage] {
            headers.append(("Content-Language", language))
        }
        switch wanted {
        case .unsatisfiable:
            status = 416
            self.range = 0..<0
            headers.append(("Content-Range", "bytes */\(byteCount)"))
            headers.append(("Content-Length", "0"))
        case .whole:
            status = 200
            self.range = 0..<byteCount
            if !inflates { headers.append(("Content-Length", "\(byteCount)")) }
        case .part(let part):
            status = 206
            self.range = part
            headers.append(
                ("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(byteCount)")
            )
            headers.append(("Content-Length", "\(part.count)"))
        }
        self.headers = headers.map(Self.line)
    }

    /// A header in one line. What is stored was checked, what an address says was not.
    private static func line(
        _ header: (name: String, value: String)
    ) -> (name: String, value: String) {
        (header.name, ContentDisposition.line(header.value))
    }

    private static func shared(
        _ record: FileRecord,
        _ type: String,
        isGzip: Bool
    ) -> [(name: String, value: String)] {
        let md5 = record.content.md5Text.map { ",md5=\($0)" } ?? ""
        return [
            ("Content-Type", type),
            ("x-goog-generation", "\(record.generation)"),
            ("x-goog-metageneration", "\(record.metageneration)"),
            // As the official emulator spells it.
            ("x-goog-metadatageneration", "\(record.metageneration)"),
            ("x-goog-storage-class", "STANDARD"),
            ("x-goog-hash", "crc32c=\(record.content.crc32cText)\(md5)"),
            (
                "x-goog-stored-content-encoding",
                isGzip ? "gzip" : record.fields[.contentEncoding] ?? "identity"
            ),
            ("x-goog-stored-content-length", "\(record.content.byteCount)"),
        ] + safety
    }

    private static func validators(
        _ record: FileRecord,
        inflates: Bool,
        byToken: Bool
    ) -> [(name: String, value: String)] {
        let isGzip = record.fields[.contentEncoding]?.lowercased() == "gzip"
        // Other bytes than those that the tag is of, so only alike.
        let tag = "\(inflates ? "W/" : "")\"\(record.entityTag)\""
        return [
            ("Accept-Ranges", inflates ? "none" : "bytes"), ("ETag", tag),
            ("Last-Modified", HTTPDate.text(record.updated)),
            (
                "Cache-Control",
                record.fields[.cacheControl]
                    ?? (byToken ? "private, max-age=3600" : "private, max-age=0")
            ),
        ] + (isGzip ? [("Vary", "Accept-Encoding")] : [])
    }

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
