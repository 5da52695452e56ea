import JSONTree
import Testing
import WireProtocol

@testable import SyncCore

private let token = "h.p.s"

@Test("a refused credential is replaced by a fresh one on a new connection")
func refusedCredential() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    driver.fetched(.token(token))
    driver.opened()
    driver.hello()
    _ = driver.take()
    driver.receive(.reply(2, .refused(.expiredToken, "late")))
    #expect(driver.take() == ["close 1"])
    driver.pass(1_000)
    #expect(driver.take() == ["token, forced"])
    driver.fetched(.token("h.p.2"))
    driver.opened()
    driver.hello()
    #expect(driver.take().last == #"send {"r":3,"a":"auth","b":{"cred":"h.p.2"}}"#)
    driver.receive(.reply(3, .authenticated(nil)))
    #expect(driver.take() == ["connected, clock 7"])
    // The next connection need not force anything.
    driver.pass(31_000)
    driver.close()
    #expect(driver.take().contains("token"))
}

@Test("a revoked credential ends a live connection")
func revokedCredential() {
    var driver = LinkDriver()
    driver.connect(token: token)
    driver.pass(31_000)
    _ = driver.take()
    driver.receive(.authRevoked(.expiredToken, "Auth token is expired"))
    #expect(driver.take() == ["close 1", "token, forced", "disconnected"])
}

@Test("three invalid credentials in a row slow the client down and are worth a warning")
func invalidCredentials() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    for round in 1...4 {
        driver.fetched(.token(token))
        driver.opened()
        driver.hello()
        _ = driver.take()
        driver.receive(.reply(driver.link.credentials.request, .refused(.invalidToken, "bad")))
        let log = driver.take()
        #expect(log.contains(#"warn credentialRefused("bad")"#) == (round >= 3), "\(round) \(log)")
        if round >= 3 {
            driver.pass(8_999)
            #expect(!driver.isTokenWanted)
            driver.pass(21_001)
        } else {
            driver.pass(1_300)
        }
        #expect(driver.isTokenWanted, "\(round)")
    }
    driver.connect(token: "h.p.good")
    #expect(driver.link.credentials.sent == .some("h.p.good"))
    // One that is accepted ends the row.
    driver.receive(.authRevoked(.invalidToken, "bad"))
    #expect(!driver.take().contains(#"warn credentialRefused("bad")"#))
}

@Test("a token that cannot be had now is asked for again after a wait")
func unavailableToken() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    driver.fetched(.unavailable("no network"))
    #expect(driver.take() == ["token"])
    driver.pass(1_000)
    #expect(driver.take() == ["token"])
    driver.fetched(.token(token))
    #expect(driver.take() == ["open 1 ws://localhost:9000/.ws?v=5&ns=demo"])
}

@Test("a forced refresh that fails is forced again")
func forcedAgain() {
    var driver = LinkDriver()
    driver.connect(token: token)
    driver.receive(.authRevoked(.expiredToken, "late"))
    driver.pass(1_000)
    driver.fetched(.unavailable("no network"))
    _ = driver.take()
    driver.pass(2_000)
    #expect(driver.take() == ["token, forced"])
}

@Test("signing in and out on a live connection is said there")
func credentialChanges() {
    var driver = LinkDriver()
    driver.connect()
    _ = driver.take()
    driver.step { link, now in link.credentialChanged(nil, now: now) }
    #expect(driver.take() == [])
    driver.step { link, now in link.credentialChanged(token, now: now) }
    #expect(driver.take() == [#"send {"r":2,"a":"auth","b":{"cred":"h.p.s"}}"#])
    driver.step { link, now in link.credentialChanged(token, now: now) }
    #expect(driver.take() == [])
    driver.step { link, now in link.credentialChanged(nil, now: now) }
    #expect(driver.take() == [#"send {"r":3,"a":"unauth","b":{}}"#])
    // What is said of the token before is out of date.
    driver.receive(.reply(2, .refused(.invalidToken, "bad")))
    driver.receive(.reply(3, .text("unauthenticated")))
    #expect(driver.take() == [])
    #expect(driver.link.isConnected)
    // A secret is no signed token.
    driver.step { link, now in link.credentialChanged("owner", now: now) }
    #expect(driver.take() == [#"send {"r":4,"a":"gauth","b":{"cred":"owner"}}"#])
}

@Test("a token refreshed while the server decides the one before is decided instead")
func changeWhileAuthenticating() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    driver.fetched(.token(token))
    driver.opened()
    driver.hello()
    _ = driver.take()
    driver.step { link, now in link.credentialChanged("h.p.2", now: now) }
    #expect(driver.take() == [#"send {"r":3,"a":"auth","b":{"cred":"h.p.2"}}"#])
    driver.receive(.reply(2, .refused(.expiredToken, "late")))
    #expect(driver.take() == [])
    driver.receive(.reply(3, .authenticated(nil)))
    #expect(driver.take() == ["connected, clock 7"])
}

@Test("a token that comes while one is fetched is taken, and the answer to the fetch is not")
func changeWhileFetching() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    driver.step { link, now in link.credentialChanged("h.p.2", now: now) }
    #expect(driver.take() == ["token", "open 1 ws://localhost:9000/.ws?v=5&ns=demo"])
    driver.fetched(.token("h.p.1"))
    #expect(driver.link.credentials.token == "h.p.2")
    driver.opened()
    driver.hello()
    #expect(driver.take().last == #"send {"r":2,"a":"auth","b":{"cred":"h.p.2"}}"#)
}

@Test(
    "there is one fetch at a time: an answer that is out of date is waited for, then there is another"
)
func oneFetchAtATime() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    driver.step { link, now in link.credentialChanged("h.p.2", now: now) }
    driver.close()
    driver.pass(2_000)
    #expect(driver.take() == ["token", "open 1 ws://localhost:9000/.ws?v=5&ns=demo"])
    driver.fetched(.token("h.p.1"))
    #expect(driver.take() == ["token"])
    driver.fetched(.token("h.p.3"))
    #expect(driver.link.credentials.token == "h.p.3")
}

@Test("a fetch outlives going offline and is of use when online again")
func fetchWhileOffline() {
    var driver = LinkDriver()
    driver.step { link, now in link.start(now: now) }
    driver.step { link, now in link.goOffline(now: now) }
    driver.step { link, now in link.goOnline(now: now) }
    #expect(driver.take() == ["token"])
    driver.fetched(.token(token))
    #expect(driver.take() == ["open 1 ws://localhost:9000/.ws?v=5&ns=demo"])
    driver.step { link, now in link.goOffline(now: now) }
    driver.fetched(.token("h.p.late"))
    #expect(driver.take() == ["close 1"])
}
