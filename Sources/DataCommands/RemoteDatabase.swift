package import HTTPClient
import JSONTree

/// A database on a server that speaks the REST API, and what the commands do with it.
///
/// Belongs to one thread. Answers go to standard output or a file, words to the console.
package final class RemoteDatabase {
    let address: ServerAddress
    let client: HTTPClient
    /// Words for whoever runs the command.
    package let console: Console

    /// - Throws: `CommandError` when HTTP cannot be spoken.
    package init(
        _ address: ServerAddress,
        _ options: HTTPOptions,
        _ console: Console,
    ) throws(CommandError) {
        var options = options
        // Between processes of one machine, compressing costs more than it saves.
        options.acceptsCompressed = !ServerAddress.isLoopback(address.origin)
        self.address = address
        self.console = console
        do throws(HTTPError) {
            client = try HTTPClient(options)
        } catch {
            throw .failed("\(error)")
        }
    }

    /// A request for a place of this database, as whoever the address says.
    package func request(
        _ method: HTTPRequest.Method,
        _ path: DatabasePath,
        _ parameters: [(name: String, value: String)] = [],
        body: HTTPBody = .none,
    ) -> HTTPRequest {
        HTTPRequest(
            method,
            address.url(path, parameters),
            headers: address.headers,
            body: body
        )
    }

    /// Sends a request and returns a success.
    ///
    /// - Throws: `CommandError` for a refusal, in the server's words, or when there is no answer.
    @discardableResult
    package func perform(
        _ request: HTTPRequest,
        receive: HTTPClient.Receiver? = nil,
    ) throws(CommandError) -> HTTPResponse {
        let response = try send(request, receive: receive)
        guard response.isSuccess else { throw refusal(request, response) }
        return response
    }

    /// Sends a request and returns the answer, a refusal too.
    ///
    /// - Throws: `CommandError` when there is no answer, or none of a database.
    package func send(
        _ request: HTTPRequest,
        receive: HTTPClient.Receiver? = nil,
    ) throws(CommandError) -> HTTPResponse {
        let response: HTTPResponse
        do {
            response = try client.perform(request, receive: receive)
        } catch let error as CommandError {
            throw error
        } catch {
            throw .failed("\(error)")
        }
        guard response.isSuccess else { return response }
        // What stands between us and the server, like a page to log in, says 200 too.
        guard response.headers["content-type"]?.hasPrefix("text/html") != true else {
            throw .failed("\(address.origin) answers with a page: it is no database")
        }
        return response
    }

    /// For people: the server, and the database where one is named.
    package var place: String {
        address.origin + (address.instance.map { " (\($0))" } ?? "")
    }

    /// What a server's refusal says.
    package func refusal(_ request: HTTPRequest, _ response: HTTPResponse) -> CommandError {
        let place = request.url.prefix { $0 != "?" }
        var text = "\(request.method.rawValue) \(place): \(response.status) "
        text += Self.words(response)
        if response.status == 401, address.authOverride != nil, address.credential != .none,
            text.hasSuffix("Permission denied")
        {
            // The rules refuse that 'auth': whoever asks is known.
            text += " (judged as the 'auth' of --auth-override)"
        } else if response.status == 401, address.credential == .owner {
            text += " (asked as 'owner', whom only development servers know;"
            text += " else use HEARTH_TOKEN or --admin-secret-file)"
        } else if response.status == 401, address.credential == .none {
            text += " (asked without a token; HEARTH_TOKEN and --admin-secret-file give one)"
        }
        if response.status == 400, let fault = Self.keyFault(place) { text += " (\(fault))" }
        if response.status == 413 || text.contains("maximum size that can be modified") {
            text += " ('hearth import' writes files of any size)"
        }
        return .failed(text)
    }

    /// Which character of a refused path no key can have; nil when all are good.
    private static func keyFault(_ url: Substring) -> String? {
        guard let start = url.firstRange(of: "://") else { return nil }
        let segments = url[start.upperBound...].split(separator: "/").dropFirst()
        let names = segments.compactMap { PercentCoding.decode($0) }.map { name in
            name.hasSuffix(".json") ? String(name.dropLast(".json".count)) : name
        }
        for name in names where !name.hasPrefix(".") {
            if let character = name.first(where: { ".#$[]/".contains($0) }) {
                return "'\(name)' has a '\(character)', and a key cannot have one of . # $ [ ] /; "
                    + "write another character for it, such as '_'"
            }
        }
        return nil
    }

    /// The reason a server gives: the `error` of its answer, else the text of it.
    static func words(_ response: HTTPResponse) -> String {
        if let text = JSONWord.errorText(response.body) { return text }
        if response.headers["content-type"]?.hasPrefix("text/html") == true {
            return "(with a page: is it a database?)"
        }
        let text = String(
            decoding: response.body.prefix(DataLimits.refusalByteCount),
            as: UTF8.self
        )
        let words = text.split { $0.isWhitespace }.joined(separator: " ")
        return words.isEmpty ? "(without a reason)" : words
    }
}
