import Testing

@testable import DatabaseServer

/// One row: what the request says, and whether it passes.
struct OriginCase: Sendable, CustomTestStringConvertible {
    let passes: Bool
    let host: String?
    var origin: String?
    var site: String?
    var referer: String?
    var path = "/a.json"
    var isLive = false

    var testDescription: String {
        "\(passes ? "passes" : "refused") host=\(host ?? "-") origin=\(origin ?? "-") "
            + "site=\(site ?? "-") referer=\(referer ?? "-") path=\(path) live=\(isLive)"
    }

    func outcome(of originGuard: OriginGuard) -> OriginGuard.Outcome {
        originGuard.check(
            OriginGuard.Request(
                path: path,
                host: host,
                origin: origin,
                secFetchSite: site,
                referer: referer,
                hasLivePollCredentials: isLive,
            )
        )
    }
}

private func pass(
    _ host: String?,
    origin: String? = nil,
    site: String? = nil,
    referer: String? = nil,
    path: String = "/a.json",
    live: Bool = false
) -> OriginCase {
    OriginCase(
        passes: true,
        host: host,
        origin: origin,
        site: site,
        referer: referer,
        path: path,
        isLive: live
    )
}

private func stop(
    _ host: String?,
    origin: String? = nil,
    site: String? = nil,
    referer: String? = nil,
    path: String = "/a.json",
    live: Bool = false
) -> OriginCase {
    OriginCase(
        passes: false,
        host: host,
        origin: origin,
        site: site,
        referer: referer,
        path: path,
        isLive: live
    )
}

private let hostCases: [OriginCase] = [
    pass("localhost"), pass("localhost:9000"), pass("LOCALHOST:9000"), pass("LocalHost"),
    pass("chat.localhost"), pass("chat.localhost:9000"), pass("a.b.localhost"),
    pass("127.0.0.1"), pass("127.0.0.1:1"), pass("127.0.0.1:65535"), pass("127.1.2.3:80"),
    pass("[::1]"), pass("[::1]:9000"), pass("[0:0:0:0:0:0:0:1]:9000"),
    pass("[::ffff:127.0.0.1]:9000"), pass("[::FFFF:7f00:1]"),
    pass("db.example.com"), pass("DB.Example.COM:443"), pass("10.1.2.3:9000"),
    pass("chat.data.test"), pass("a.b.data.test:8080"),
    stop(nil), stop(""), stop(" "), stop(":9000"), stop("localhost,localhost"),
    stop("localhost, evil.com"), stop("localhost:9000, localhost:9000"),
    stop("evil.com"), stop("evil.com:9000"), stop("localhost.evil.com"), stop("localhost.evil"),
    stop("127.0.0.1.nip.io"), stop("127.0.0.1.evil.com:9000"), stop("evil-localhost"),
    stop("xlocalhost"), stop("localhost."), stop("localhost.:9000"), stop("127.0.0.1."),
    stop(".localhost"), stop("a..localhost"), stop("localhost:"), stop("localhost:90000"),
    stop("localhost:-1"), stop("localhost:+1"), stop("localhost:9000:9000"), stop("localhost:9 "),
    stop("user@localhost"), stop("localhost@evil.com"), stop("localhost:9000@evil.com"),
    stop("localhost/evil.com"), stop("localhost#evil.com"), stop("localhost?evil.com"),
    stop("localhost\\evil.com"), stop("localhost evil.com"), stop("localhost\t"),
    stop("evil.com\u{0}.localhost"), stop("lоcalhost"), stop("localhost\u{2024}"),
    stop("127.1"), stop("127.0.1"), stop("2130706433"), stop("0x7f000001"), stop("0x7f.0.0.1"),
    stop("0177.0.0.1"), stop("127.0.0.01"), stop("127.0.0.256"), stop("127.0.0.1.1"),
    stop("0.0.0.0"), stop("0.0.0.0:9000"), stop("128.0.0.1"), stop("10.1.2.4"),
    stop("192.168.1.5:9000"), stop("1.127.0.0"),
    stop("::1"), stop("[::1"), stop("::1]"), stop("[::1]x"), stop("[::1]:"), stop("[::1]9000"),
    stop("[::1%lo]"), stop("[::2]"), stop("[::]"), stop("[fe80::1]"), stop("[127.0.0.1]"),
    stop("[::ffff:10.0.0.1]"), stop("[localhost]"), stop("[[::1]]"), stop("[]"),
    stop("data.test"), stop("evildata.test"), stop("chat.data.test.evil.com"),
    stop("db.example.com.evil.com"), stop("x.db.example.com"),
    stop(String(repeating: "a", count: 64) + ".localhost"),
    stop(String(repeating: "a.", count: 200) + "localhost"),
]

private let pageCases: [OriginCase] = [
    pass("localhost:9000", origin: "http://localhost:9000"),
    pass("localhost:9000", origin: "http://localhost:3000"),
    pass("localhost:9000", origin: "https://localhost"),
    pass("localhost:9000", origin: "HTTP://LocalHost:3000"),
    pass("localhost:9000", origin: "http://127.0.0.1:5173", site: "cross-site"),
    pass("127.0.0.1:9000", origin: "http://[::1]:3000", site: "cross-site"),
    pass("127.0.0.1:9000", origin: "http://app.localhost:3000", site: "cross-site"),
    pass("localhost:9000", origin: "https://db.example.com"),
    pass("localhost:9000", origin: "https://app.example.com", site: "cross-site"),
    pass("localhost:9000", origin: "https://APP.example.com:443"),
    pass("localhost:9000", origin: "capacitor://localhost"),
    pass("localhost:9000", origin: "http://chat.data.test:1234"),
    stop("localhost:9000", origin: "http://app.example.com"),
    stop("localhost:9000", origin: "https://app.example.com:8443"),
    stop("localhost:9000", origin: "https://app.example.com.evil.com"),
    stop("localhost:9000", origin: "https://evil.com"),
    stop("localhost:9000", origin: "https://evil.com", site: "same-origin"),
    stop("localhost:9000", origin: "http://localhost.evil.com"),
    stop("localhost:9000", origin: "http://127.0.0.1.nip.io"),
    stop("localhost:9000", origin: "http://localhost."),
    stop("localhost:9000", origin: "http://localhost@evil.com"),
    stop("localhost:9000", origin: "http://evil.com@localhost"),
    stop("localhost:9000", origin: "http://localhost:3000/"),
    stop("localhost:9000", origin: "http://localhost:3000/path"),
    stop("localhost:9000", origin: "http://localhost http://evil.com"),
    stop("localhost:9000", origin: "http://localhost,http://localhost"),
    stop("localhost:9000", origin: "null"), stop("localhost:9000", origin: "NULL"),
    stop("localhost:9000", origin: ""), stop("localhost:9000", origin: "localhost"),
    stop("localhost:9000", origin: "//localhost"), stop("localhost:9000", origin: "://localhost"),
    stop("localhost:9000", origin: "http:localhost"), stop("localhost:9000", origin: "file://"),
    stop("localhost:9000", origin: "file:///home"),
    stop("localhost:9000", origin: "ionic://localhost"),
    stop("localhost:9000", origin: "chrome-extension://abcdefghijklmnop"),
    stop("localhost:9000", origin: "http://"), stop("localhost:9000", origin: "http://:3000"),
    stop("localhost:9000", origin: "http://0.0.0.0:3000"),
    stop("localhost:9000", origin: "http://192.168.1.5"),
    // A good page does not make up for a bad host: that is DNS rebinding.
    stop("evil.com", origin: "http://localhost:3000"),
    stop("evil.com", origin: "https://app.example.com"), stop("evil.com", site: "same-origin"),
]

private let fetchSiteCases: [OriginCase] = [
    pass("localhost", site: "same-origin"), pass("localhost", site: "same-site"),
    pass("localhost", site: "none"), pass("localhost", site: nil),
    stop("localhost", site: "cross-site"), stop("localhost", site: "Cross-Site"),
    stop("localhost", site: ""), stop("localhost", site: "none, none"),
    stop("localhost", site: "something-new"),
    stop("localhost", site: "cross-site", path: "/.ws"),
    stop("localhost", site: "cross-site", path: "/.simulate"),
    // The referer stands in for the origin on long polling and for scripts alone.
    stop("localhost", site: "cross-site", referer: "http://localhost:3000/"),
    pass("localhost", referer: "https://evil.com/page"),
]

private let longPollCases: [OriginCase] = [
    pass("localhost", path: "/.lp"),
    pass("localhost", referer: "http://localhost:3000/page", path: "/.lp"),
    pass("localhost", site: "cross-site", referer: "http://localhost:3000/page?a#b", path: "/.lp"),
    pass("localhost", site: "cross-site", referer: "http://127.0.0.1:3000", path: "/.lp"),
    pass("localhost", site: "cross-site", referer: "https://app.example.com/x", path: "/.lp"),
    pass("localhost", origin: "http://localhost:1", referer: "https://evil.com/", path: "/.lp"),
    stop("localhost", origin: "https://evil.com", referer: "http://localhost/", path: "/.lp"),
    stop("localhost", site: "cross-site", path: "/.lp"),
    stop("localhost", referer: "https://evil.com/", path: "/.lp"),
    stop("localhost", site: "cross-site", referer: "https://evil.com/", path: "/.lp"),
    stop("localhost", referer: "https://evil.com?http://localhost/", path: "/.lp"),
    stop("localhost", referer: "https://evil.com#@localhost/", path: "/.lp"),
    stop("localhost", referer: "https://localhost@evil.com/", path: "/.lp"),
    stop("localhost", referer: "about:blank", path: "/.lp"),
    stop("localhost", referer: "", path: "/.lp"),
    pass("localhost", site: "cross-site", path: "/.lp", live: true),
    pass("localhost", referer: "https://evil.com/", path: "/.lp", live: true),
    stop("evil.com", path: "/.lp", live: true),
    stop(nil, path: "/.lp", live: true),
    // Credentials of long polling open no other door.
    stop("localhost", site: "cross-site", path: "/a.json", live: true),
]

@Suite("the guard of a loopback server")
struct OriginGuardTests {
    private func configured(bindIsLoopback: Bool) throws -> OriginGuard {
        OriginGuard(
            bindIsLoopback: bindIsLoopback,
            hosts: [
                try #require(Authority.Host("db.example.com")),
                try #require(Authority.Host("10.1.2.3")),
            ],
            domain: "data.test",
            origins: [
                try #require(WebOrigin("https://app.example.com")),
                try #require(WebOrigin("capacitor://localhost")),
            ],
        )
    }

    @Test(
        "decides by Host, Origin, Sec-Fetch-Site and Referer as the table says",
        arguments: hostCases + pageCases + fetchSiteCases + longPollCases
    )
    func table(row: OriginCase) throws {
        let outcome = row.outcome(of: try configured(bindIsLoopback: true))
        #expect((outcome == .accept) == row.passes)
    }

    @Test(
        "lets everything pass on a bind that others can reach",
        arguments: hostCases + pageCases + fetchSiteCases + longPollCases
    )
    func otherBinds(row: OriginCase) throws {
        #expect(row.outcome(of: try configured(bindIsLoopback: false)) == .accept)
    }

    @Test("without configuration lets configured names in no longer")
    func bare() {
        let bare = OriginGuard(bindIsLoopback: true)
        for row in hostCases
        where row.passes && row.host?.lowercased().contains("localhost") == true {
            #expect(row.outcome(of: bare) == .accept)
        }
        #expect(pass("db.example.com").outcome(of: bare) != .accept)
        #expect(pass("chat.data.test").outcome(of: bare) != .accept)
        #expect(pass("localhost", origin: "https://app.example.com").outcome(of: bare) != .accept)
    }

    @Test("names the flag and the value that would let the request pass")
    func advice() {
        let bare = OriginGuard(bindIsLoopback: true)
        let cases = [
            (stop("evil.com:9000"), "start hearth with --allow-host evil.com."),
            (stop("[fe80::1]:9000"), "start hearth with --allow-host [fe80::1]."),
            (
                stop("localhost", origin: "https://evil.com"),
                "start hearth with --allow-origin https://evil.com."
            ),
            (
                stop("localhost", referer: "http://evil.com:81/a?token=x", path: "/.lp"),
                "'http://evil.com:81' may not use this server, which listens on loopback. "
                    + "To let its pages in, start hearth with --allow-origin http://evil.com:81."
            ),
            (stop("localhost", origin: "null"), "Serve the page from http://localhost."),
            (stop("localhost", origin: "x"), "--allow-origin ORIGIN"),
            (stop("localhost", site: "cross-site"), "--allow-origin ORIGIN"),
        ]
        for (row, flag) in cases {
            guard case .refuse(let text) = row.outcome(of: bare) else {
                Issue.record("\(row) passed")
                continue
            }
            #expect(text.contains(flag))
        }
    }

    @Test("repeats nothing of a stranger's header but printable ASCII, 100 characters of it")
    func quoting() {
        let host = "evil\r\nSet-Cookie: a'\u{7f}é" + String(repeating: "x", count: 500)
        let outcome = OriginGuard(bindIsLoopback: true).check(.init(path: "/", host: host))
        guard case .refuse(let text) = outcome else {
            Issue.record("passed")
            return
        }
        #expect(text.contains("'evil??Set-Cookie: a???xxx"))
        #expect(text.utf8.count < 400)
        #expect(text.unicodeScalars.allSatisfy { $0.isASCII && $0.value >= 32 })
    }
}
