import HTTPClient
import JSONTree

/// Parameters of a request, in their order.
typealias Parameters = [(name: String, value: String)]

extension Parameters {
    /// Those of `all` that have a value.
    init(_ all: [(String, String?)]) {
        self = all.compactMap { name, value in value.map { (name, $0) } }
    }

    /// The end of an address; empty without parameters.
    var query: String {
        let texts = map { "\($0.name)=\(PercentCoding.encode($0.value))" }
        return isEmpty ? "" : "?" + texts.joined(separator: "&")
    }
}

/// A database on a server with the REST API, and the commands' requests to it.
///
/// Belongs to one thread. Answers go to standard output or a file, words to the console.
final class RemoteDatabase {
    let address: ServerAddress
    let client: HTTPClient
    /// Writes messages to the user.
    let console: Console

    /// `isRaw` says that answers are wanted as they are stored, compressed or not.
    ///
    /// - Throws: `CommandError` when HTTP cannot be spoken.
    init(
        _ address: ServerAddress,
        _ options: HTTPOptions,
        _ console: Console,
        isRaw: Bool = false,
    ) throws(CommandError) {
        var options = options
        // Between processes of one machine, compressing costs more than it saves.
        options.acceptsCompressed = !isRaw && !ServerAddress.isLoopback(address.origin)
        self.address = address
        self.console = console
        do throws(HTTPError) {
            client = try HTTPClient(options)
        } catch {
            throw .failed("\(error)")
        }
    }

    /// A request for a location of this database, with the credential of the address.
    func request(
        _ method: HTTPRequest.Method,
        _ path: DatabasePath,
        _ parameters: Parameters = [],
        body: HTTPBody = .none,
    ) -> HTTPRequest {
        HTTPRequest(method, address.url(path, parameters), headers: address.headers, body: body)
    }

    /// A request for a fixed address, such as `/.accounts/keys.json`, with the credential of the address.
    ///
    /// `resource` is percent-encoded, `parameters` are encoded here. No database is named in it.
    func request(
        _ method: HTTPRequest.Method,
        resource: String,
        _ parameters: Parameters = [],
        json: [UInt8]? = nil,
    ) -> HTTPRequest {
        HTTPRequest(
            method,
            address.origin + resource + parameters.query,
            headers: address.headers + (json == nil ? [] : ["Content-Type: application/json"]),
            body: json.map { .bytes($0) } ?? .none
        )
    }

    /// Sends a request and returns a success.
    ///
    /// - Throws: `CommandError` for a refusal, with the server's text, or when there is no answer.
    @discardableResult
    func perform(
        _ request: HTTPRequest,
        receive: HTTPClient.Receiver? = nil,
    ) throws(CommandError) -> HTTPResponse {
        let response = try send(request, receive: receive)
        guard response.isSuccess else { throw refusal(request, response) }
        return response
    }

    /// Sends a request and returns the answer, a refusal too.
    ///
    /// - Throws: `CommandError` when there is no answer, or not that of a database.
    func send(
        _ request: HTTPRequest,
        receive: HTTPClient.Receiver? = nil,
    ) throws(CommandError) -> HTTPResponse {
        let response = try answer(to: request, receive: receive)
        guard response.isSuccess else { return response }
        // A proxy, such as one with a login page, answers 200 too.
        guard response.headers["content-type"]?.hasPrefix("text/html") != true else {
            throw .failed("\(address.origin) answers with a page: it is not a database")
        }
        return response
    }

    /// Sends a request and returns the answer, whatever it is.
    ///
    /// - Throws: `CommandError` when there is none; errors of `receive`.
    func answer(
        to request: HTTPRequest,
        receive: HTTPClient.Receiver? = nil,
    ) throws(CommandError) -> HTTPResponse {
        do {
            return try client.perform(request, receive: receive)
        } catch {
            throw error as? CommandError ?? .failed("\(error)")
        }
    }

    /// Writes an answer to a file, which gets its name when it is whole, or to standard output (nil).
    func write(_ body: [UInt8], to output: String?) throws(CommandError) {
        let file = try OutputFile(output)
        try file.write(body)
        if file.isOnTerminal, body.last != UInt8(ascii: "\n") {
            try file.write([UInt8(ascii: "\n")])
        }
        try file.finish()
        mention(file, at: output)
    }

    /// Mentions the size of a file that is written, unless it is standard output.
    func mention(_ file: OutputFile, at output: String?) {
        guard let output, output != "-" else { return }
        console.mention("\(output): \(Amounts.bytes(file.byteCount))")
    }

    /// The server, for people and for addresses below it: `https://db.example.com`.
    var origin: String { address.origin }

    /// For people: the server, and the database where one is named.
    var location: String {
        origin + (address.instance.map { " (\($0))" } ?? "")
    }

    /// The text of a server's refusal.
    func refusal(_ request: HTTPRequest, _ response: HTTPResponse) -> CommandError {
        let location = request.url.prefix { $0 != "?" }
        var text = "\(request.method.rawValue) \(location): \(response.status) "
        text += Self.words(response)
        if response.status == 401, address.authOverride != nil, address.credential != .none,
            text.hasSuffix("Permission denied")
        {
            // The rules refuse that 'auth'; the credential itself is valid.
            text += " (decided for the 'auth' of --auth-override)"
        } else if response.status == 401, address.credential == .owner {
            text += " (asked as 'owner', which only development servers accept;"
            text += " else use HEARTH_TOKEN or --admin-secret-file)"
        } else if response.status == 401, address.credential == .none {
            text += " (asked without a token; HEARTH_TOKEN and --admin-secret-file give one)"
        }
        if response.status == 400, let fault = Self.keyFault(location) { text += " (\(fault))" }
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
        if let text = Node(answer: response.body)?.member("error").string { return text }
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
