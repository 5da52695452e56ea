import Transport

/// The pages of the sample services: `/.samples/...`, in development, when they are asked for.
extension Server {
    func receive(_ exchange: HTTPExchange, sample name: String) {
        guard configuration.servesSamples else {
            let text = "The sample pages are off; start the server with --dev --samples.\n"
            answer(exchange, RESTAnswer.text(404, text))
            return
        }
        guard let page = SamplePage.all[name] else {
            let text = "There is no such page; /.samples/ lists those that are.\n"
            answer(exchange, RESTAnswer.text(404, text))
            return
        }
        let head = exchange.head
        guard head.method == "GET" || head.method == "HEAD" else {
            answer(exchange, methodNotAllowed(.sample(name)))
            return
        }
        answer(exchange, RESTAnswer.sample(page, ifNoneMatch: head.headers("if-none-match")))
    }
}

extension RESTAnswer {
    /// What a page may do: run the scripts that came with it, talk to this server, show pictures.
    private static let samplePolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
        "img-src 'self' data: https: http:", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; ")

    /// A page, or 304 to who has it already.
    static func sample(_ page: SamplePage, ifNoneMatch tags: [String]) -> HTTPResponse {
        let known = tags.flatMap { $0.split(separator: ",") }.map { tag in
            let bare = tag.drop { $0 == " " }.prefix { $0 != " " }
            return String(bare.hasPrefix("W/") ? bare.dropFirst(2) : bare)
        }
        let isKnown = known.contains(page.tag) || known == ["*"]
        let headers = [
            (name: "Content-Type", value: page.contentType),
            // A new binary has new pages.
            (name: "Cache-Control", value: "no-cache"), (name: "ETag", value: page.tag),
            (name: "Content-Security-Policy", value: samplePolicy),
            (name: "X-Content-Type-Options", value: "nosniff"),
            (name: "Referrer-Policy", value: "no-referrer"),
        ]
        return HTTPResponse(
            status: isKnown ? 304 : 200,
            headers: headers,
            body: isKnown ? [] : page.bytes
        )
    }
}
