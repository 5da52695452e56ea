package import JSONTree

/// One answer: status, headers, and a body that is whole.
package struct FileAnswer: Sendable {
    package var status: Int
    /// Without Content-Length, which the transport knows, and without what CORS adds.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(
        _ status: Int,
        headers: [(name: String, value: String)] = [],
        body: [UInt8] = []
    ) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// JSON that no cache keeps.
    package init(_ status: Int = 200, json: JSONValue) {
        self.init(
            status,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
            body: json.text
        )
    }

    /// The answer to `hello`, by which clients know an emulator.
    package static let hello = FileAnswer(json: ["emulator": "storage"])

    /// A refusal in the form of a dialect.
    ///
    ///     client   {"error":{"code":404,"message":"Not Found."}}
    ///     server   {"error":{"code":404,"message":"M","errors":[{"message":"M","domain":"global","reason":"notFound"}]}}
    ///     plain    <?xml …?><Error><Code>NoSuchKey</Code><Message>M</Message></Error>
    ///
    /// A failed read of bytes over the protocol of servers (`isMedia`) has the sentence as plain text.
    package init(_ fault: FileFault, _ dialect: FileDialect, isMedia: Bool = false) {
        switch dialect {
        case .client where fault.isPlain, .server where isMedia:
            self.init(
                fault.status,
                headers: [("Content-Type", "text/plain; charset=utf-8")],
                body: Array(fault.message.utf8)
            )
        case .client:
            self.init(
                fault.status,
                json: ["error": ["code": .number(fault.status), "message": .string(fault.message)]]
            )
        case .server:
            self.init(fault.status, json: Self.serverError(fault))
        case .plain:
            let text =
                "<?xml version='1.0' encoding='UTF-8'?><Error><Code>\(Self.xml(fault.xmlCode))</Code>"
                + "<Message>\(Self.xml(fault.message))</Message></Error>"
            self.init(
                fault.status,
                headers: [("Content-Type", "application/xml; charset=UTF-8")],
                body: Array(text.utf8)
            )
        }
        if let seconds = fault.retryAfter { headers.append(("Retry-After", "\(seconds)")) }
    }

    private static func serverError(_ fault: FileFault) -> JSONValue {
        let isLogin = fault.status == 401
        let detail: JSONValue = [
            "message": .string(fault.message), "domain": "global",
            "reason": .string(fault.reason), "locationType": isLogin ? "header" : nil,
            "location": isLogin ? "Authorization" : nil,
        ]
        return [
            "error": [
                "code": .number(fault.status), "message": .string(fault.message),
                "errors": .list([detail]),
            ]
        ]
    }

    private static func xml(_ text: String) -> String {
        var out = ""
        for character in text.unicodeScalars {
            switch character {
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "&": out += "&amp;"
            default: out.unicodeScalars.append(character.value < 0x20 ? " " : character)
            }
        }
        return out
    }

    /// The first header of this name.
    package func header(_ name: String) -> String? {
        headers.first { FileRequestHead.isEqual($0.name, name) }?.value
    }
}
