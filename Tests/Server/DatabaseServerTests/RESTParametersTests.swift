import DatabaseCore
import EventProtocol
import JSONTree
import Queries
import Testing

@testable import DatabaseServer
@testable import Transport

@Suite("Parameters and headers of REST requests")
struct RESTParametersTests {
    /// A head as a client would send it.
    private func head(
        _ method: String,
        _ target: String,
        _ headers: [String] = []
    ) throws -> RequestHead {
        let lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"] + headers
        let text = lines.joined(separator: "\r\n") + "\r\n\r\n"
        let parts = try RequestHeadParser.parse(Array(text.utf8), limits: TransportLimits())
        let peer = Endpoint(address: "127.0.0.1", port: 1, network: 0)
        return RequestHead(parts, peer: peer, isTLS: false)
    }

    private func parameters(_ query: String, _ method: String = "GET") throws -> RESTParameters {
        try RESTParameters(head(method, "/a.json?\(query)"), method)
    }

    @Test(
        "a parameter that makes no sense is refused",
        arguments: [
            "print=loud", "print=", "shallow=yes", "format=xml", "dryRun=1", "timeout=3",
            "timeout=s", "timeout=0s", "timeout=-1s", "timeout=1h",
            "timeout=9999999999s", "timeout=1.5s", "writeSizeLimit=huge",
            "writeSizeLimit=", "callback=", "callback=a(b)", "callback=a%3Bb", "callback=1a",
            "callback=a..b", "callback=.a", "callback=%C3%A9",
            "auth_variable_override=1",
            "auth_variable_override=%7B", "limitToFirst=2", "orderBy=a",
        ]
    )
    func refused(query: String) throws {
        #expect(throws: BadRequest.self) { try parameters(query) }
    }

    @Test(
        "what is only for reads is not looked at by writes",
        arguments: ["timeout=3", "callback=a(b)", "download=", "orderBy=a", "limitToFirst=x"]
    )
    func onlyForReads(query: String) throws {
        for method in ["PUT", "POST", "PATCH", "DELETE"] {
            let parameters = try parameters(query, method)
            #expect(parameters.callback == nil && parameters.timeout == nil)
        }
    }

    @Test(
        "a timeout has a unit and counts as 15 minutes at most",
        arguments: [
            ("1ms", Duration.milliseconds(1)), ("900000ms", .seconds(900)), ("3s", .seconds(3)),
            ("900s", .seconds(900)), ("15min", .seconds(900)), ("01s", .seconds(1)),
            ("16min", .seconds(900)), ("999999999min", .seconds(900)),
        ]
    )
    func timeout(text: String, duration: Duration) throws {
        #expect(try parameters("timeout=\(text)").timeout == duration)
    }

    @Test("each size of a write has its name", arguments: WriteSizeLimit.allCases)
    func sizeLimit(limit: WriteSizeLimit) throws {
        #expect(try parameters("writeSizeLimit=\(limit.rawValue)", "PUT").sizeLimit == limit)
    }

    @Test(
        "unknown parameters are ignored, and those that other servers need",
        arguments: [
            "", "x=1", "disableTriggers=true", "disableTriggers=maybe", "ac=t", "&&", "=", "_=1",
        ]
    )
    func ignored(query: String) throws {
        let parameters = try parameters(query)
        #expect(parameters.query == .everything && parameters.token == nil)
        #expect(!parameters.choosesChildren)
    }

    @Test(
        "a header goes before access_token, and that before auth",
        arguments: [
            ("auth=a", [], "a"), ("access_token=b&auth=a", [], "b"),
            ("auth=a&access_token=b", [], "b"),
            ("auth=a&auth=c", [], "a"), ("access_token=&auth=a", [], "a"), ("auth=", [], nil),
            ("auth=a&access_token=b", ["Authorization: Bearer c"], "c"),
            ("auth=a", ["authorization: bearer c"], "c"),
            ("auth=a", ["Authorization: Basic c"], "a"),
        ] as [(String, [String], String?)]
    )
    func token(query: String, headers: [String], token: String?) throws {
        let head = try head("GET", "/a.json?\(query)", headers)
        #expect(try RESTParameters(head, "GET").token == token)
    }

    @Test("a script is an answer of status 200 that calls the function")
    func script() throws {
        let callback = try ScriptCallback("page.show_1$")
        var refusal = HTTPResponse.error(401, "Permission denied")
        refusal.headers.append((name: "ETag", value: "t"))
        let script = callback.wrap(refusal)
        #expect(script.status == 200)
        let text = "/**/page.show_1$({\n  \"error\" : \"Permission denied\"\n}\n);"
        #expect(String(decoding: script.body, as: UTF8.self) == text)
        let types = script.headers.filter { $0.name == "Content-Type" }.map(\.value)
        #expect(types == ["application/javascript; charset=utf-8"])
        #expect(script.headers.contains { $0.name == "ETag" && $0.value == "t" })
    }

    @Test(
        "a file name in a header cannot leave its quotes",
        arguments: [
            ("a.json", "attachment; filename=\"a.json\""),
            ("a b;c.json", "attachment; filename=\"a b;c.json\""),
            (
                "a%22b%5C%0D%0Ac",
                "attachment; filename=\"a_b___c\"; filename*=UTF-8''a%22b%5C%0D%0Ac"
            ),
            ("", "attachment; filename=\"\""),
            ("%C3%A9.json", "attachment; filename=\"_.json\"; filename*=UTF-8''%C3%A9.json"),
        ]
    )
    func download(name: String, header: String) throws {
        let encoded = name.replacing(" ", with: "+")
        let headers = HTTPResponse.headers(nil, try parameters("download=\(encoded)"))
        #expect(headers.map(\.value) == [header])
    }

    // MARK: - Conditions

    private func conditions(
        _ method: String,
        _ query: String,
        _ headers: [String]
    ) throws -> RESTConditions {
        let head = try head(method, "/a.json?\(query)", headers)
        return try RESTConditions(head, method, RESTParameters(head, method))
    }

    @Test("a tag is wanted by name, by a condition, and by a tag that is known")
    func wanted() throws {
        #expect(try !conditions("GET", "", []).wantsTag)
        #expect(try !conditions("GET", "", ["X-Firebase-ETag: false"]).wantsTag)
        #expect(try conditions("GET", "", ["X-Firebase-ETag: true"]).wantsTag)
        #expect(try conditions("PATCH", "", ["x-firebase-etag: TRUE"]).wantsTag)
        #expect(try conditions("PUT", "", ["if-match: a"]).wantsTag)
        let known = try conditions("GET", "", ["If-None-Match: W/\"a\", b"])
        #expect(known.wantsTag && known.known.map(\.text) == ["a", "b"])
        #expect(try conditions("PUT", "", ["If-None-Match: a"]).known.isEmpty)
    }

    @Test(
        "what conditions do not go with is refused",
        arguments: [
            ("PATCH", "", "if-match: a"), ("POST", "", "if-match: a"),
            ("PUT", "print=silent", "if-match: a"), ("DELETE", "print=silent", "if-match: a"),
            ("GET", "shallow=true", "X-Firebase-ETag: true"),
            ("GET", "shallow=true", "If-None-Match: a"),
            ("GET", "orderBy=%22$key%22", "X-Firebase-ETag: true"),
            ("PUT", "orderBy=%22$key%22", "if-match: a"),
        ]
    )
    func refusedConditions(method: String, query: String, header: String) throws {
        #expect(throws: BadRequest.self) { try conditions(method, query, [header]) }
    }

    @Test(
        "a condition is quoted or not",
        arguments: [("a=", "a="), ("\"a=\"", "a="), ("W/\"a=\"", "a="), ("null_etag", "null_etag")]
    )
    func match(text: String, tag: String) throws {
        #expect(try conditions("DELETE", "", ["If-Match: \(text)"]).match?.text == tag)
    }
}
