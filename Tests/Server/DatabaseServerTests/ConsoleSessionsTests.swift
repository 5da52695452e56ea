import DatabaseCore
import JSONTree
import Testing

@testable import DatabaseServer

private func random(_ number: Int) -> [UInt8] {
    (0..<ConsoleSessions.secretByteCount).map { UInt8(truncatingIfNeeded: number >> ($0 % 8)) }
}

private func time(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

@Suite("sessions of the console")
struct ConsoleSessionsTests {
    @Test("are found by their cookie alone, for an hour")
    func lifetime() {
        var sessions = ConsoleSessions()
        let (cookie, session, ended) = sessions.begin(
            .secret,
            .admin,
            now: time(5),
            random: random(1)
        )
        #expect(ended == nil)
        #expect(cookie.utf8.count == 43)
        #expect(sessions.session(cookie, now: time(5)) == session)
        #expect(sessions.session(cookie, now: time(5 + ConsoleSessions.lifetime - 1)) == session)
        #expect(sessions.session(cookie, now: time(5 + ConsoleSessions.lifetime)) == nil)
        #expect(!sessions.isOpen(session.number, now: time(5 + ConsoleSessions.lifetime)))
        for other in ["", String(cookie.dropLast()), cookie + "A", cookie.lowercased()] {
            #expect(sessions.session(other, now: time(5)) == nil)
        }
    }

    @Test("are 256 at most: one more ends the oldest")
    func limit() {
        var sessions = ConsoleSessions()
        let first = sessions.begin(.secret, .admin, now: time(0), random: random(0))
        for number in 1..<ConsoleSessions.limit {
            let begun = sessions.begin(.secret, .admin, now: time(0), random: random(number))
            #expect(begun.ended == nil)
        }
        let more = sessions.begin(.secret, .viewer, now: time(0), random: random(999))
        #expect(more.ended == first.session)
        #expect(sessions.count == ConsoleSessions.limit)
        #expect(sessions.session(first.cookie, now: time(0)) == nil)
        // What has expired makes room first.
        let late = sessions.begin(
            .secret,
            .admin,
            now: time(ConsoleSessions.lifetime),
            random: random(1000)
        )
        #expect(late.ended == nil)
        #expect(sessions.count == 1)
    }

    @Test("end one by one, or by whose they are")
    func end() {
        var sessions = ConsoleSessions()
        let ann = ConsoleSessions.Holder.account(uid: "ann", issuedAt: 7)
        let one = sessions.begin(ann, .viewer, now: time(0), random: random(1))
        let other = sessions.begin(.secret, .admin, now: time(0), random: random(2))
        #expect(sessions.end(where: { $0.holder == ann }) == [one.session])
        #expect(sessions.end(one.cookie) == nil)
        #expect(sessions.end(other.cookie) == other.session)
        #expect(sessions.isEmpty)
    }

    @Test("let a viewer only read, and an administrator who sees as another person")
    func terms() {
        var sessions = ConsoleSessions()
        let admin = sessions.begin(.secret, .admin, now: time(0), random: random(1)).session
        let viewer = sessions.begin(.secret, .viewer, now: time(0), random: random(2)).session
        #expect(!admin.term.isReadOnly)
        #expect(viewer.term.isReadOnly)
        #expect(admin.term(isReadOnly: true).isReadOnly)
        #expect(viewer.term(isReadOnly: false).isReadOnly)
        #expect(admin.term.expiry == admin.expiry)
    }

    @Test(
        "have one cookie, and only under its own name",
        arguments: [
            (["__Host-hearth-console=abc"], "abc"), (["a=b; __Host-hearth-console=abc;c=d"], "abc"),
            (["a=b", "__Host-hearth-console=abc"], "abc"), (["__Host-hearth-console="], ""),
            (["__Host-hearth-console=a; __Host-hearth-console=b"], nil),
            (["__Host-hearth-console=a", "__Host-hearth-console=a"], nil),
            (["__host-hearth-console=abc"], nil), (["x__Host-hearth-console=abc"], nil), ([], nil),
            (["__Host-hearth-consol=abc"], nil),
        ] as [([String], String?)]
    )
    func cookie(headers: [String], value: String?) {
        #expect(ConsoleCookie.value(in: headers) == value)
    }

    @Test(
        "count for pages of their own origin alone",
        arguments: [
            (["https://db.test"], [], true), ([], ["same-origin"], true),
            (["https://db.test"], ["same-origin"], true), (["https://db.test:443"], [], true),
            ([], [], false), (["https://db.test"], ["same-site"], false),
            (["https://db.test"], ["none"], false), (["https://evil.test"], ["same-origin"], false),
            (["http://db.test"], [], false), (["https://db.test:444"], [], false),
            (["null"], [], false),
            (["https://db.test", "https://db.test"], [], false),
            (["https://db.test.evil"], [], false),
            ([], ["same-origin", "same-origin"], false), ([], ["same-origin,same-origin"], false),
            ([""], ["same-origin"], false),
        ] as [([String], [String], Bool)]
    )
    func ownPage(origins: [String], sites: [String], isOwn: Bool) {
        let own = WebOrigin("https://db.test")
        #expect(ConsoleCookie.isFromOwnPage(origins: origins, sites: sites, own: own) == isOwn)
        // Without a host that can be read no origin is that of the server.
        if !origins.isEmpty {
            #expect(!ConsoleCookie.isFromOwnPage(origins: origins, sites: sites, own: nil))
        }
    }
}
