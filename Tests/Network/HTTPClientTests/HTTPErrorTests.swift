import Testing

@testable import HTTPClient

@Suite("requests that have no answer")
struct HTTPErrorTests {
    private static func error(of url: String, _ method: HTTPRequest.Method = .get) -> HTTPError? {
        do {
            let client = try HTTPClient(HTTPOptions())
            _ = try client.perform(HTTPRequest(method, url))
            return nil
        } catch {
            return error as? HTTPError
        }
    }

    @Test(
        "say why, and whether to try again",
        arguments: [
            // No program serves port 1.
            ("http://127.0.0.1:1/a.json?auth=secret", .notConnected, true),
            ("ftp://127.0.0.1:1/a", .unusable, false),
            ("http://127.0.0.1:99999999/", .unusable, false),
            ("http://", .unusable, false),
        ] as [(String, HTTPError.Reason, Bool)]
    )
    func reasons(url: String, reason: HTTPError.Reason, isPassing: Bool) throws {
        let error = try #require(Self.error(of: url))
        #expect(error.reason == reason, "\(error)")
        #expect(error.isPassing == isPassing)
        #expect(!error.description.contains("secret"))
    }

    @Test("name the server")
    func origin() throws {
        let error = try #require(Self.error(of: "http://127.0.0.1:1/a/b.json"))
        #expect(error.origin == "http://127.0.0.1:1")
        #expect(error.description.hasPrefix("cannot reach http://127.0.0.1:1: "))
    }

    @Test("end one by one when several are in flight")
    func several() throws {
        let client = try HTTPClient(HTTPOptions())
        var ids: Set<HTTPClient.RequestID> = []
        for _ in 0..<5 {
            ids.insert(
                try client.start(HTTPRequest(.patch, "http://127.0.0.1:1/", body: .bytes([])))
            )
        }
        #expect(ids.count == 5)
        while let ended = try client.next() {
            #expect(ids.remove(ended.id) != nil)
            #expect(throws: HTTPError.self) { try ended.result.get() }
        }
        #expect(ids.isEmpty)
        #expect(client.inFlightCount == 0)
    }

    @Test("leave the client of use after a client is given up with requests in flight")
    func givenUp() throws {
        do {
            let client = try HTTPClient(HTTPOptions())
            try client.start(HTTPRequest(.get, "http://127.0.0.1:1/"))
        }
        #expect(Self.error(of: "http://127.0.0.1:1/")?.reason == .notConnected)
    }
}
