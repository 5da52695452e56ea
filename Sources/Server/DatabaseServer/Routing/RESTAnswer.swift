import DatabaseCore
import EventProtocol
import IdentityToolkit
import JSONTree
import SecurityRules
import Transport
import WireProtocol

/// Turns outcomes into HTTP. Pure: any thread may do it.
extension HTTPResponse {
    /// The body of every failure, laid out as clients of this API have always seen it.
    static func error(_ status: Int, _ text: String) -> HTTPResponse {
        var body = Array("{\n  \"error\" : ".utf8)
        appendJSONString(text, to: &body)
        body.append(contentsOf: "\n}\n".utf8)
        return HTTPResponse(status: status, headers: jsonHeaders, body: body)
    }

    /// For a read of more than `--max-response`.
    static var tooLarge: HTTPResponse {
        error(
            400,
            "Data requested exceeds the maximum size that can be accessed with a single request."
        )
    }

    static var tooSlow: HTTPResponse {
        error(400, "The read took longer than its 'timeout' allows.")
    }

    static var unknownDatabase: HTTPResponse {
        error(404, "There is no such database on this server; check 'ns' and the address.")
    }

    static func bad(_ request: BadRequest) -> HTTPResponse { error(400, request.text) }

    static func plain(_ status: Int, _ text: String) -> HTTPResponse {
        let headers = headers(type: "text/plain; charset=utf-8")
        return HTTPResponse(status: status, headers: headers, body: Array(text.utf8))
    }

    static func json(_ body: [UInt8], status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: jsonHeaders, body: body)
    }

    static func json(of value: JSONValue, status: Int = 200) -> HTTPResponse {
        json(value.text, status: status)
    }

    /// 204, for a client that wants no body.
    static var silence: HTTPResponse { HTTPResponse(status: 204, headers: jsonHeaders, body: []) }

    /// What a read found or a write wrote, or 204 when the client wants no body.
    static func value(_ node: Node, _ parameters: RESTParameters) -> HTTPResponse {
        if parameters.print == .silent { return silence }
        let isPretty = parameters.print == .pretty
        var body: [UInt8] = []
        node.appendJSON(to: &body, parameters.form, isPretty ? .pretty() : .compact)
        if isPretty { body.append(0x0A) }
        return json(body)
    }

    /// The object of a multi-path update as it was written, server values filled in.
    static func merged(
        _ entries: [(WriteTarget, Node)],
        base: Path,
        _ parameters: RESTParameters
    ) -> HTTPResponse {
        if parameters.print == .silent { return silence }
        var text = AnswerText(entries, base: base, isPretty: parameters.print == .pretty)
        var body: [UInt8] = []
        while text.next(into: &body, atLeast: 16 * 1024) {}
        return json(body)
    }

    /// The name of a new child.
    static func pushed(_ key: Key, _ parameters: RESTParameters) -> HTTPResponse {
        switch parameters.print {
        case .silent: silence
        case .pretty: json(Array("{\n  \"name\" : \"\(key.string)\"\n}\n".utf8))
        case .compact: json(Array("{\"name\":\"\(key.string)\"}".utf8))
        }
    }

    /// All faults of a rules text, one a line for people and one by one for programs.
    static func badRules(_ error: RulesError) -> HTTPResponse { json(error.json(), status: 400) }

    /// What of an answer's head does not come from its body.
    static func headers(_ tag: EntityTag?, _ parameters: RESTParameters) -> [(
        name: String, value: String
    )] {
        var headers: [(name: String, value: String)] = []
        if let tag { headers.append(("ETag", tag.text)) }
        if let name = parameters.download {
            headers.append(("Content-Disposition", attachment(name)))
        }
        return headers
    }

    /// Names a file to a browser. What could end the quotes or the header, and what is not ASCII, is left to the
    /// form that is percent-encoded (RFC 6266).
    private static func attachment(_ name: String) -> String {
        let plain = String(name.unicodeScalars.map { isPlain($0) ? Character($0) : "_" })
        let text = "attachment; filename=\"\(plain)\""
        return plain == name ? text : text + "; filename*=UTF-8''" + PercentCoding.encode(name)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && scalar.value < 0x7F && scalar != "\"" && scalar != "\\"
    }

    static let jsonHeaders = headers(type: "application/json; charset=utf-8")

    /// What a body is, and how long caches keep it: not without asking, unless something else is said.
    static func headers(
        type: String,
        cache: String = "no-cache"
    ) -> [(name: String, value: String)] {
        [("Content-Type", type), ("Cache-Control", cache)]
    }

    /// The same answer with one more header.
    func adding(_ name: String, _ value: String) -> HTTPResponse {
        var response = self
        response.headers.append((name, value))
        return response
    }
}
