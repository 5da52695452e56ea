import DatabaseCore
import EventProtocol
import JSONTree
import SecurityRules
import Testing
import WireProtocol

/// What a node that follows does with requests of its clients, and with what the owner says.
@Suite("Following: requests and answers")
struct FollowingTests {
    private static let put = #"{"r":1,"a":"p","b":{"p":"/a","d":1}}"#
    private static let done = #"{"r":1,"b":{"s":"ok","d":""}}"#
    private static let auth = #"{"r":1,"a":"auth","b":{"cred":"t"}}"#

    // MARK: - Writes

    @Test(
        "a write goes to the owner as it came, and changes nothing here",
        arguments: [
            put, #"{"r":1, "a":"p","b":{"p":"/a","d":{".sv":"timestamp"},"h":"x"}}"#,
            #"{"r":1,"a":"m","b":{"p":"/a","d":{"x":1,"y/z":null}}}"#,
            #"{"r":1,"a":"o","b":{"p":"/a","d":1}}"#,
            #"{"r":1,"a":"om","b":{"p":"/a","d":{"x":1}}}"#,
            #"{"r":1,"a":"oc","b":{"p":"/a","d":null}}"#,
        ]
    )
    func write(request: String) throws {
        let driver = FollowingDriver()
        driver.connect(1)
        #expect(driver.send(1, request) == ["1 > \(request)"])
        #expect(driver.root.isAbsent)
        #expect(driver.answer(1, Self.done) == ["1 < \(Self.done)"])
    }

    @Test("a write of the plain event protocol goes to the owner as it came")
    func eventWrite() throws {
        let driver = FollowingDriver()
        driver.open(1)
        let push = #"{"id":1,"do":"push","path":"/a","value":2}"#
        #expect(try driver.ask(1, push) == ["1 > \(push)"])
    }

    @Test("writes in a row go to the owner at once, and are answered one by one")
    func writesInARow() throws {
        let driver = FollowingDriver()
        driver.connect(1)
        for number in 1...3 {
            let put = #"{"r":\#(number),"a":"p","b":{"p":"/a","d":\#(number)}}"#
            #expect(driver.send(1, put) == ["1 > \(put)"])
        }
        for number in 1...3 {
            let done = #"{"r":\#(number),"b":{"s":"ok","d":""}}"#
            #expect(driver.answer(1, done) == ["1 < \(done)"])
        }
    }

    @Test("advice of the owner comes ahead of its answer, and is none")
    func advice() throws {
        let driver = FollowingDriver()
        driver.connect(1)
        _ = driver.send(1, Self.put)
        let text = #"{"a":"sd","b":{"msg":"no"}}"#
        let advice = OwnerMessage.advice(text: Array(#"{"t":"d","d":\#(text)}"#.utf8))
        #expect(driver.tell(1, advice) == ["1 < \(text)"])
        #expect(driver.answer(1, Self.done) == ["1 < \(Self.done)"])
    }

    @Test("a follower that is to make a commit stops: it would pass over one of the owner")
    func ownCommit() async {
        await #expect(processExitsWith: .failure) {
            try FollowingDriver().follower.put("/a", Node(true))
        }
    }

    // MARK: - Reads

    @Test(
        "what says something about data waits for the answers of all writes before it",
        arguments: [
            (
                #"{"r":3,"a":"q","b":{"p":"/a","h":""}}"#,
                [#"1 < {"a":"d","b":{"p":"a","d":2}}"#, #"1 < {"r":3,"b":{"s":"ok","d":{}}}"#]
            ),
            (#"{"r":3,"a":"g","b":{"p":"/a"}}"#, [#"1 < {"r":3,"b":{"s":"ok","d":2}}"#]),
            (#"{"r":3,"a":"n","b":{"p":"/b"}}"#, [#"1 < {"r":3,"b":{"s":"ok","d":""}}"#]),
            (#"{"r":3,"a":"s","b":{"c":{}}}"#, [#"1 < {"r":3,"b":{"s":"ok","d":""}}"#]),
            (
                #"{"r":3,"a":"unauth","b":{}}"#,
                [
                    #"1 > {"r":3,"a":"unauth","b":{}}"#,
                    #"1 < {"r":3,"b":{"s":"ok","d":"unauthenticated"}}"#,
                ]
            ),
        ]
    )
    func readsWait(request: String, effects: [String]) throws {
        let driver = FollowingDriver()
        driver.connect(1)
        let second = #"{"r":2,"a":"p","b":{"p":"/a","d":2}}"#
        _ = driver.send(1, Self.put) + driver.send(1, second)
        #expect(driver.send(1, request) == [])
        // What comes behind it waits too.
        #expect(driver.send(1, #"{"r":4,"a":"p","b":{"p":"/a","d":4}}"#) == [])
        try driver.put("/a", "1")
        try driver.put("/a", "2")
        #expect(try driver.enter() == [])
        #expect(driver.answer(1, Self.done) == ["1 < \(Self.done)"])
        let done = #"{"r":2,"b":{"s":"ok","d":""}}"#
        let last = #"1 > {"r":4,"a":"p","b":{"p":"/a","d":4}}"#
        #expect(driver.answer(1, done) == ["1 < \(done)"] + effects + [last])
    }

    @Test("reads and writes one by one keep their order")
    func alternating() throws {
        let driver = FollowingDriver()
        driver.connect(1)
        let requests = (1...6).map { number in
            number % 2 == 0
                ? #"{"r":\#(number),"a":"g","b":{"p":"/a"}}"#
                : #"{"r":\#(number),"a":"p","b":{"p":"/a","d":1}}"#
        }
        let sent = requests.flatMap { driver.send(1, $0) }
        #expect(sent == ["1 > \(requests[0])"])
        for number in [1, 3, 5] {
            let done = #"{"r":\#(number),"b":{"s":"ok","d":""}}"#
            let read = #"1 < {"r":\#(number + 1),"b":{"s":"ok","d":null}}"#
            let next = number < 5 ? ["1 > \(requests[number + 1])"] : []
            #expect(driver.answer(1, done) == ["1 < \(done)", read] + next)
        }
    }

    @Test("a ping of the plain event protocol is answered in its turn")
    func eventPing() throws {
        let driver = FollowingDriver()
        driver.open(1)
        let put = #"{"id":1,"do":"set","path":"/a","value":1}"#
        #expect(try driver.ask(1, put) == ["1 > \(put)"])
        #expect(try driver.ask(1, #"{"id":2,"do":"ping"}"#) == [])
        let answers = driver.tell(1, .answer(text: Array(#"{"id":1,"ok":true}"#.utf8), isOK: true))
        #expect(answers.count == 2)
        #expect(answers.last == #"1 < {"id":2,"ok":true,"serverTime":1000}"#)
    }

    @Test("a ping waits for no answer, and no session waits for the write of another")
    func independent() throws {
        let driver = FollowingDriver()
        driver.connect(1)
        driver.connect(2)
        _ = driver.send(1, Self.put)
        #expect(driver.follower.step(.received(.ping, from: ConnectionID(1))).words.count == 1)
        let get = #"{"r":1,"a":"g","b":{"p":"/a"}}"#
        #expect(driver.send(2, get) == [#"2 < {"r":1,"b":{"s":"ok","d":null}}"#])
    }

    // MARK: - Credentials

    @Test("a credential counts here, and goes to the owner ahead of the first write")
    func lateCredential() throws {
        let driver = FollowingDriver(
            rules: try Ruleset.load(#"{"rules":{".read":"auth != null"}}"#)
        )
        driver.connect(1, user: "ann")
        let get = #"{"r":2,"a":"g","b":{"p":"/a"}}"#
        #expect(driver.send(1, get) == [#"1 < {"r":2,"b":{"s":"ok","d":null}}"#])
        #expect(driver.send(1, Self.put) == ["1 > \(Self.auth)", "1 > \(Self.put)"])
        // Its client has had the answer.
        #expect(driver.answer(1, Self.done) == [])
        #expect(driver.answer(1, Self.done) == ["1 < \(Self.done)"])
    }

    @Test("a credential goes to the owner at once where the session is known there")
    func knownCredential() throws {
        let driver = FollowingDriver()
        driver.connect(1)
        _ = driver.send(1, Self.put)
        _ = driver.answer(1, Self.done)
        let effects = signIn(
            driver,
            .user(AuthVariable(Node.absent.with("uid", Node(string: "ann"))))
        )
        #expect(effects.first == "1 > \(Self.auth)")
        #expect(effects.count == 2)
        // Reads do not wait for what the client has been answered.
        let get = #"{"r":2,"a":"g","b":{"p":"/a"}}"#
        #expect(driver.send(1, get) == [#"1 < {"r":2,"b":{"s":"ok","d":null}}"#])
        #expect(driver.answer(1, Self.done) == [])
        let unauth = #"{"r":3,"a":"unauth","b":{}}"#
        #expect(driver.send(1, unauth).first == "1 > \(unauth)")
    }

    @Test("the owner is not shown a credential that is refused here, or is given up before a write")
    func credentialForNobody() throws {
        let driver = FollowingDriver()
        driver.connect(1)
        #expect(signIn(driver, .refused(.invalid("no"))).count == 1)
        #expect(driver.send(1, Self.put) == ["1 > \(Self.put)"])
        driver.connect(2, user: "ann")
        #expect(driver.send(2, #"{"r":3,"a":"unauth","b":{}}"#).count == 1)
        #expect(driver.send(2, Self.put) == ["2 > \(Self.put)"])
    }

    @Test("the owner is not shown a credential that has expired here")
    func expired() throws {
        let driver = FollowingDriver()
        driver.open(1)
        let (connection, key) = (ConnectionID(1), try Key("k"))
        let auth = AuthVariable(Node.absent.with("uid", Node(string: "ann")))
        let term = CredentialTerm(expiry: Timestamp(milliseconds: 900))
        let request = try EventRequest.parse(Array(#"{"id":1,"do":"auth","token":"t"}"#.utf8)) {
            key
        }
        for case .verify(let inquiry, _) in driver.follower.step(.asked(request, from: connection))
        {
            driver.follower.step(.verified(inquiry, .user(auth, term)))
        }
        driver.follower.step(.tick)
        let set = #"{"id":2,"do":"set","path":"/a","value":1}"#
        #expect(try driver.ask(1, set) == ["1 > \(set)"])
    }

    /// Signs in connection 1, with the outcome of its credential.
    private func signIn(_ driver: FollowingDriver, _ outcome: CredentialOutcome) -> [String] {
        for case .verify(let inquiry, _) in driver.follower.send(1, Self.auth) {
            return driver.follower.step(.verified(inquiry, outcome)).words
        }
        return []
    }

    // MARK: - The end

    @Test(
        "a session ends when the owner refuses its credential, answers what was not asked, or is lost"
    )
    func ends() throws {
        let driver = FollowingDriver()
        driver.connect(1, user: "ann")
        _ = driver.send(1, Self.put)
        #expect(driver.answer(1, Self.done, isOK: false) == ["close 1 ownerLost"])
        #expect(driver.answer(1, Self.done) == [], "it is over")
        driver.connect(2)
        #expect(driver.answer(2, Self.done) == ["close 2 ownerLost"])
        driver.connect(3)
        _ = driver.send(3, Self.put)
        #expect(driver.tell(3, .lost) == ["close 3 ownerLost"])
    }

    @Test("a session that ends one with stored writes begins at the owner, and reads behind these")
    func returning() throws {
        let driver = FollowingDriver()
        try store(1, on: driver)
        let handshake = Handshake(
            database: driver.owner.database,
            host: "h",
            session: SessionID("s2"),
            lastSession: SessionID("s1")
        )
        let begun = driver.follower.step(.connected(ConnectionID(2), handshake)).words
        #expect(begun.first == "close 1 replaced")
        #expect(begun.last == "2 > ")
        #expect(driver.send(2, #"{"r":1,"a":"g","b":{"p":"/gone/s1"}}"#) == [])
        driver.log(driver.owner.step(.disconnected(ConnectionID(1))))
        _ = try driver.enter()
        #expect(driver.tell(2, .began) == [#"2 < {"r":1,"b":{"s":"ok","d":true}}"#])
        // One that ends no such session has nothing at the owner.
        let other = Handshake(
            database: driver.owner.database,
            host: "h",
            session: SessionID("s3"),
            lastSession: SessionID("s2")
        )
        let quiet = driver.follower.step(.connected(ConnectionID(3), other)).words
        #expect(!quiet.contains("3 > "))
        #expect(driver.tell(3, .began) == [])
    }

    @Test("a refused write does not end a session")
    func refusedWrite() throws {
        let driver = FollowingDriver()
        driver.connect(1)
        _ = driver.send(1, Self.put)
        let denied = #"{"r":1,"b":{"s":"permission_denied","d":"Permission denied"}}"#
        #expect(driver.answer(1, denied, isOK: false) == ["1 < \(denied)"])
    }

    /// A session of the owner, of the same name as one of the follower, stores what is to run at its end.
    private func store(_ number: UInt64, on driver: FollowingDriver) throws {
        driver.log(driver.owner.connect(number))
        driver.log(driver.owner.send(number, "o", #""p":"/gone/s\#(number)","d":true"#))
        _ = try driver.enter()
        driver.connect(number)
    }

    @Test(
        "what a session has stored runs where the owner is, and not here: neither its end nor its identity is a commit"
    )
    func stored() throws {
        let driver = FollowingDriver()
        try store(1, on: driver)
        let auth = AuthVariable(Node.absent.with("uid", Node(string: "ann")))
        #expect(signIn(driver, .user(auth)).contains { $0.hasPrefix("commit") } == false)
        #expect(driver.send(1, #"{"r":3,"a":"unauth","b":{}}"#).count == 1)
        #expect(driver.follower.step(.disconnected(ConnectionID(1))).words == [])
        driver.log(driver.owner.step(.disconnected(ConnectionID(1))))
        #expect(driver.commits.count == 1)
        #expect(try driver.enter() == [])
        #expect(driver.root == Node.absent.with("gone", Node.absent.with("s1", Node(true))))
        #expect(driver.recover() == [], "it has run")
    }

    @Test(
        "a follower that becomes the owner ends sessions that had something there, runs what is stored, and writes"
    )
    func takeOver() throws {
        let driver = FollowingDriver()
        try store(1, on: driver)
        try store(2, on: driver)
        driver.connect(3)
        _ = driver.send(2, Self.put)
        _ = driver.send(2, #"{"r":2,"a":"g","b":{"p":"/a"}}"#)
        let listen = #"{"r":1,"a":"q","b":{"p":"/","h":""}}"#
        _ = driver.send(3, listen)
        #expect(
            driver.recover() == [
                "close 2 ownerLost", "commit 3", "commit 4",
                #"3 < {"a":"d","b":{"p":"gone/s1","d":true}}"#,
                #"3 < {"a":"d","b":{"p":"gone/s2","d":true}}"#,
            ]
        )
        let put = #"{"r":2,"a":"p","b":{"p":"/a","d":2}}"#
        #expect(
            driver.send(3, put) == [
                "commit 5", #"3 < {"a":"d","b":{"p":"a","d":2}}"#,
                #"3 < {"r":2,"b":{"s":"ok","d":""}}"#,
            ]
        )
        #expect(driver.recover() == [], "rows run once")
        #expect(driver.answer(3, Self.done) == [], "an owner has no other to ask")
    }

    @Test("a session whose first write comes after the change of owner is not ended by it")
    func outlives() throws {
        let driver = FollowingDriver()
        driver.connect(1, user: "ann")
        #expect(driver.recover() == [])
        #expect(
            driver.send(1, Self.put) == ["commit 1", "1 < \(Self.done)"]
        )
    }
}
