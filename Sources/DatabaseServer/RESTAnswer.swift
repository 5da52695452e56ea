import DatabaseCore
import JSONTree
import SecurityRules
import Transport
import WireProtocol

/// Turns outcomes into HTTP.
enum RESTAnswer {
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

    static var unknownDatabase: HTTPResponse {
        error(404, "There is no such database on this server; check 'ns' and the address.")
    }

    static func bad(_ request: BadRequest) -> HTTPResponse { error(400, request.text) }

    static func text(_ status: Int, _ text: String) -> HTTPResponse {
        let headers = [
            (name: "Content-Type", value: "text/plain; charset=utf-8"),
            (name: "Cache-Control", value: "no-cache"),
        ]
        return HTTPResponse(status: status, headers: headers, body: Array(text.utf8))
    }

    static func json(_ body: [UInt8], status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: jsonHeaders, body: body)
    }

    /// A 200 with a value, or 204 when the client wants no body.
    static func value(_ node: Node, _ parameters: RESTParameters) -> HTTPResponse {
        let form = parameters.form
        switch parameters.print {
        case .silent: return HTTPResponse(status: 204, headers: jsonHeaders, body: [])
        case .pretty: return json(node.prettyJSON(form))
        case .compact:
            var body: [UInt8] = []
            node.appendJSON(to: &body, form)
            return json(body)
        }
    }

    /// The children of a node, each as `true`, always as an object; a leaf as itself.
    static func shallow(_ node: Node, _ parameters: RESTParameters) -> HTTPResponse {
        guard node.isMap, parameters.print != .silent else {
            return value(node.settingPriority(.absent), parameters)
        }
        let isPretty = parameters.print == .pretty
        var body: [UInt8] = [UInt8(ascii: "{")]
        var separator = isPretty ? "\n  " : ""
        node.visitChildren { key, _ in
            body.append(contentsOf: separator.utf8)
            appendJSONString(Key(key).string, to: &body)
            body.append(contentsOf: (isPretty ? " : true" : ":true").utf8)
            separator = isPretty ? ",\n  " : ","
            return true
        }
        body.append(contentsOf: (isPretty ? "\n}\n" : "}").utf8)
        return json(body)
    }

    /// The object of a multi-path update as it was written, server values filled in.
    static func merged(
        _ entries: [(WriteTarget, Node)],
        base: Path,
        _ parameters: RESTParameters
    ) -> HTTPResponse {
        if parameters.print == .silent { return value(.absent, parameters) }
        var body: [UInt8] = [UInt8(ascii: "{")]
        for (index, (target, node)) in entries.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            let path = target.path.dropFirst(base.keyCount).wireText
            let suffix = target.isPriority ? (path.isEmpty ? ".priority" : "/.priority") : ""
            appendJSONString(path + suffix, to: &body)
            body.append(UInt8(ascii: ":"))
            node.appendJSON(to: &body, .value)
        }
        body.append(UInt8(ascii: "}"))
        return json(body)
    }

    /// All faults of a rules text, one a line for people and one by one for programs.
    static func badRules(_ error: RulesError) -> HTTPResponse { json(error.json(), status: 400) }

    static let jsonHeaders = [
        (name: "Content-Type", value: "application/json; charset=utf-8"),
        (name: "Cache-Control", value: "no-cache"),
    ]
}
