import Transport

extension HTTPResponse {
    /// What a page may do: run the scripts that came with it, talk to this server, show pictures, and play
    /// this server's sound and video.
    private static let pagePolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
        "img-src 'self' data: https: http:", "media-src 'self'", "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; ")

    /// A file of a page, or 304 to who has it already.
    static func page(_ file: PageFile, ifNoneMatch tags: [String]) -> HTTPResponse {
        let known = tags.flatMap { $0.split(separator: ",") }.map { tag in
            let bare = tag.drop { $0 == " " }.prefix { $0 != " " }
            return String(bare.hasPrefix("W/") ? bare.dropFirst(2) : bare)
        }
        let isKnown = known.contains(file.tag) || known == ["*"]
        // A new binary has new pages.
        return page(isKnown ? nil : file.bytes, file.contentType, cache: "no-cache")
            .adding("ETag", file.tag)
    }

    /// A file of a page; without bytes one that the client has already.
    static func page(_ bytes: [UInt8]?, _ contentType: String, cache: String) -> HTTPResponse {
        let headers = [
            (name: "Content-Type", value: contentType), (name: "Cache-Control", value: cache),
            (name: "Content-Security-Policy", value: pagePolicy),
            (name: "X-Content-Type-Options", value: "nosniff"),
            (name: "Referrer-Policy", value: "no-referrer"),
        ]
        return HTTPResponse(status: bytes == nil ? 304 : 200, headers: headers, body: bytes ?? [])
    }
}
