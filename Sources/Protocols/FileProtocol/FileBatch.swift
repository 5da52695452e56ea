/// Several requests in one body of `multipart/mixed`, each as a part of type `application/http`.
package enum FileBatch {
    /// One request of a batch.
    package struct Part: Sendable {
        /// What the answer names: `<response-ID>`; nil when the part has no identifier.
        package let contentID: String?
        package let head: FileRequestHead
        package let body: [UInt8]
    }

    /// The requests of a body.
    ///
    /// - Throws: `FileFault` (400) for more than `FileProtocolLimits.batchCount`, and for parts that are no requests.
    package static func parts(
        _ body: [UInt8],
        boundary: [UInt8]
    ) throws(FileFault) -> [Part] {
        let body = withReturns(body)
        var search = DelimiterSearch([0x0D, 0x0A, 0x2D, 0x2D] + boundary)
        search.matchCount = 2
        var parts: [Part] = []
        var start: Int?
        for index in body.indices where search.isFound(body[index]) {
            let end = index + 1 - search.pattern.count
            if let start, start <= end { parts.append(try part(body[start..<end])) }
            guard parts.count <= FileProtocolLimits.batchCount else {
                throw FileFault(
                    400,
                    "A batch must have at most \(FileProtocolLimits.batchCount) requests."
                )
            }
            if body[(index + 1)...].starts(with: "--".utf8) { return parts }
            let lineEnd = body[(index + 1)...].firstIndex(of: 0x0A) ?? body.count - 1
            start = lineEnd + 1
        }
        throw FileFault(400, "The batch must end with its boundary and '--'.")
    }

    /// A body whose first line ends without a carriage return, as the Python library writes it, with one in each line.
    private static func withReturns(_ body: [UInt8]) -> [UInt8] {
        guard let end = body.firstIndex(of: 0x0A), end > 0, body[end - 1] != 0x0D else {
            return body
        }
        var out: [UInt8] = []
        out.reserveCapacity(body.count + body.count / 16)
        for byte in body {
            if byte == 0x0A, out.last != 0x0D { out.append(0x0D) }
            out.append(byte)
        }
        return out
    }

    private static func part(_ bytes: ArraySlice<UInt8>) throws(FileFault) -> Part {
        guard let outer = cut(bytes), let inner = cut(outer.rest) else {
            throw FileFault(400, "A part of a batch must have headers and a request.")
        }
        let lines = String(decoding: inner.head, as: UTF8.self)
            .split(separator: "\r\n", omittingEmptySubsequences: true)
        let words = (lines.first ?? "").split(separator: " ")
        let target = words.count == 3 ? path(words[1]) : ""
        guard target.hasPrefix("/"), words[2].hasPrefix("HTTP/1.") else {
            throw FileFault(
                400,
                "A part of a batch must begin with a line such as 'GET /b/… HTTP/1.1'."
            )
        }
        var headers: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers.append((name: String(line[..<colon]), value: String(value)))
        }
        return Part(
            contentID: PartHead.value("content-id", Array(outer.head)),
            head: try FileRequestHead(
                method: String(words[0]),
                target: String(target),
                headers: headers
            ),
            body: Array(inner.rest)
        )
    }

    /// A target without the scheme and the authority that the Python library puts before it.
    private static func path(_ target: Substring) -> Substring {
        guard let mark = target.firstRange(of: "://"), !target.hasPrefix("/") else { return target }
        let rest = target[mark.upperBound...]
        return rest.firstIndex(of: "/").map { rest[$0...] } ?? ""
    }

    /// Cuts at the first empty line.
    private static func cut(
        _ bytes: ArraySlice<UInt8>
    ) -> (head: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
        var search = DelimiterSearch([0x0D, 0x0A, 0x0D, 0x0A])
        search.matchCount = 2
        for index in bytes.indices where search.isFound(bytes[index]) {
            return (bytes[..<(index + 1)], bytes[(index + 1)...])
        }
        return nil
    }

    /// The answers of a batch as one.
    package static func answer(
        _ answers: [(contentID: String?, answer: FileAnswer)],
        boundary: String
    ) -> FileAnswer {
        var body: [UInt8] = []
        for (contentID, answer) in answers {
            body += Array("--\(boundary)\r\nContent-Type: application/http\r\n".utf8)
            if let contentID { body += Array("Content-ID: \(reply(contentID))\r\n".utf8) }
            body += Array("\r\nHTTP/1.1 \(answer.status) \(reason(answer.status))\r\n".utf8)
            for (name, value) in answer.headers { body += Array("\(name): \(value)\r\n".utf8) }
            body += Array("Content-Length: \(answer.body.count)\r\n\r\n".utf8)
            body += answer.body + [0x0D, 0x0A]
        }
        body += Array("--\(boundary)--\r\n".utf8)
        return FileAnswer(
            200,
            headers: [("Content-Type", "multipart/mixed; boundary=\(boundary)")],
            body: body
        )
    }

    /// `<a+1>` is answered as `<response-a+1>`.
    private static func reply(_ contentID: String) -> String {
        contentID.hasPrefix("<") ? "<response-\(contentID.dropFirst())" : "response-\(contentID)"
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 204: "No Content"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 412: "Precondition Failed"
        case 501: "Not Implemented"
        default: status < 400 ? "OK" : "Error"
        }
    }
}
