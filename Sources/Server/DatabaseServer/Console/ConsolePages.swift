import JSONTree
import Transport

/// The pages of the console: `/.console/...`.
///
/// Every address of it is answered with one page, which shows what the address says. The page names its files with the
/// digest of all of them, `/.console/-/DIGEST/console.js`, so they are kept for a year and are never those of another
/// binary.
extension ConsoleService {
    func answerPage(_ exchange: HTTPExchange) {
        let request = ResolvedRequest.of(exchange)
        guard isServed(to: request) else { return answer(exchange, absence(for: request)) }
        let name = request.name.split(separator: "/", maxSplits: 2)
        guard name.first == "-" else { return answer(exchange, Self.page) }
        guard name.count == 3, name[1] == PageSet.console.shortDigest,
            let file = PageSet.console.files[String(name[2])]
        else { return answer(exchange, .plain(404, "There is no such file of the console.\n")) }
        answer(exchange, .page(file.bytes, file.contentType, cache: "max-age=31536000, immutable"))
    }

    /// The page with the addresses of its files.
    private static let page: HTTPResponse = {
        guard let page = PageSet.console.files[""] else {
            preconditionFailure("the console has a page")
        }
        let files = "/.console/-/\(PageSet.console.shortDigest)/"
        let text = String(decoding: page.bytes, as: UTF8.self)
            .replacing("/.console/-/0/", with: files)
        return .page(Array(text.utf8), page.contentType, cache: "no-cache")
    }()

    /// Whether `/` leads who asks to the console: in development, and at its own port. Browsers say that they take pages,
    /// and tools do not.
    func takesVisitor(_ exchange: HTTPExchange) -> Bool {
        let request = ResolvedRequest.of(exchange)
        return isServed(to: request)
            && (configuration.mode == .development || request.isOnConsolePort)
            && AcceptedTypes(exchange.head.headers("accept")).contains("text/html")
    }
}

extension PageSet {
    fileprivate var shortDigest: Substring { digest.prefix(16) }
}

extension HTTPResponse {
    /// Leads to a page of the console, with what of a query it understands. Credentials stay behind.
    static func console(_ page: String, _ query: [(name: String, value: String)]) -> HTTPResponse {
        let kept = query.filter { ["ns", "path", "uid", "refused", "coverage"].contains($0.name) }
            .map { "\($0.name)=\(PercentCoding.encode($0.value))" }
        let search = kept.isEmpty ? "" : "?" + kept.joined(separator: "&")
        return HTTPResponse(status: 302, headers: [("Location", "/.console/\(page)\(search)")])
    }
}
