import Transport

/// The function of a page that an answer is a call of (`callback=show`), so that a script element can load it.
///
/// The name stands in a script, so it may hold nothing that could be anything but a name.
struct ScriptCallback: Equatable {
    let name: String

    /// Bytes of a name.
    private static let byteCount = 256

    /// Takes names such as `show` or `page.show_2`: of `A-Z`, `a-z`, `0-9`, `_` and `$`, with dots between.
    init(_ name: String) throws(BadRequest) {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isName = parts.allSatisfy { part in
            guard let first = part.first else { return false }
            return !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
                && part.allSatisfy(ScriptCallback.isNameByte)
        }
        guard isName, name.utf8.count <= ScriptCallback.byteCount else {
            throw BadRequest(
                "'callback' must be a name of characters of ASCII: A-Z, a-z, 0-9, '_', '$' and '.'"
            )
        }
        self.name = name
    }

    /// The callback of a read whose other parameters make no sense; nil when this one makes none either.
    init?(_ head: RequestHead) {
        guard head.method == "GET" || head.method == "HEAD" else { return nil }
        guard let name = head.queryValue("callback") else { return nil }
        do throws(BadRequest) { try self.init(name) } catch { return nil }
    }

    /// What stands before the JSON. The comment keeps a reader that guesses types from seeing another one.
    var prefix: [UInt8] { Array("/**/\(name)(".utf8) }
    /// What stands behind it.
    static let suffix = Array(");".utf8)

    /// The same answer as a script. It is status 200 whatever happened, since a page does not see the body of another.
    func wrap(_ response: HTTPResponse) -> HTTPResponse {
        let body = response.body.isEmpty ? Array("null".utf8) : response.body
        var wrapped = HTTPResponse(status: 200, body: prefix + body + ScriptCallback.suffix)
        wrapped.headers =
            ScriptCallback.headers
            + response.headers.filter { $0.name != "Content-Type" && $0.name != "Cache-Control" }
        return wrapped
    }

    /// Those of every answer that is a script.
    static let headers =
        HTTPResponse.headers(type: "application/javascript; charset=utf-8")
        + [("X-Content-Type-Options", "nosniff")]

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"):
            true
        default: false
        }
    }
}
