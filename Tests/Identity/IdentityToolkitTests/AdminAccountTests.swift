import Accounts
import JSONTree
import Passwords
import Testing

@testable import IdentityToolkit

@Suite("accounts as administrators make and change them")
struct AdminAccountTests {
    @Test("a new account has what is said of it, and no sign-in")
    func create() throws {
        var realm = AdminRealm()
        let reply = try realm.call(
            .adminCreate,
            #"""
            {"localId":"ann","email":"Ann@Example.com","phone_number":"+49 30 123","password":"secret",
             "displayName":"Ann","photoUrl":"https://example.com/a.png","emailVerified":true,
             "customAttributes":"{\"staff\":true}"}
            """#
        )
        #expect(
            reply.text
                == #"{"kind":"identitytoolkit#SignupNewUserResponse","localId":"ann","email":"ann@example.com","displayName":"Ann"}"#
        )
        let ann = try #require(realm.directory.account("ann"))
        #expect(ann.email == "ann@example.com")
        #expect(ann.phoneNumber == "+4930123")
        #expect(ann.password == AdminRealm.stored(Array("secret".utf8)))
        #expect(ann.passwordUpdatedAt == realm.now)
        #expect(ann.displayName == "Ann")
        #expect(ann.photoURL == "https://example.com/a.png")
        #expect(ann.isEmailVerified)
        #expect(ann.customAttributes == #"{"staff":true}"#)
        #expect(ann.lastLoginAt == nil)
        #expect(ann.lastRefreshAt == nil)
        #expect(!ann.isDisabled)
        #expect(reply.events.isEmpty)
    }

    @Test("an account without a uid gets one of 28 ASCII letters and digits")
    func madeUID() throws {
        var realm = AdminRealm()
        let replies = [
            try realm.call(.adminCreate), try realm.call(.adminCreate),
            try realm.call(.adminCreate),
        ]
        let uids = replies.compactMap { $0.body.member("localId").string }
        for uid in uids {
            #expect(uid.count == 28)
            #expect(uid.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
        }
        #expect(Set(uids).count == 3)
        #expect(realm.directory.accountCount == 3)
    }

    @Test("tokens of a deleted account do not count for one that takes its uid in the same second")
    func reusedUID() throws {
        var realm = try AdminRefusalTests.realm()
        let first = try #require(realm.directory.account("ann")).validSince
        _ = try realm.call(.adminDelete, #"{"localId":"ann"}"#)
        _ = try realm.call(.adminCreate, #"{"localId":"ann"}"#)
        let second = try #require(realm.directory.account("ann")).validSince
        #expect(second > realm.now.milliseconds / 1000)
        #expect(first <= second)
        // Its last token may be dated ahead of the clock.
        for _ in 0..<5 {
            _ = try realm.call(.adminUpdate, #"{"localId":"ann","validSince":"9999999999"}"#)
        }
        let last = try #require(realm.directory.account("ann")).validSince
        _ = try realm.call(.batchDelete, #"{"localIds":["ann"],"force":true}"#)
        _ = try realm.call(.batchCreate, #"{"users":[{"localId":"ann"}]}"#)
        #expect(try #require(realm.directory.account("ann")).validSince > last)
    }

    @Test("what another account has taken while a password was hashed is refused")
    func overtaken() throws {
        var realm = AdminRealm()
        let fields = try RequestFields(json: Array(#"{"email":"a@b","password":"secret"}"#.utf8))
        let route = try #require(IdentityRoute(["v1", "projects", "p", "accounts"]))
        let request = IdentityRequest(
            route: route,
            verb: "POST",
            fields: fields,
            query: [:],
            isAdmin: true
        )
        func context() -> IdentityContext {
            IdentityContext(
                directory: realm.directory,
                policy: IdentityPolicy(),
                now: realm.now,
                address: "",
                random: { [UInt8](repeating: 7, count: $0) }
            )
        }
        guard case .password(_, let then) = IdentityToolkit.begin(request, context()) else {
            Issue.record("a password is hashed first")
            return
        }
        _ = try realm.call(.adminCreate, #"{"localId":"first","email":"a@b"}"#)
        guard case .refuse(let error) = then(.hashed(AdminRealm.stored([1])), context()) else {
            Issue.record("the address is taken")
            return
        }
        #expect(error.message == "EMAIL_EXISTS")
    }

    struct Change: CustomTestStringConvertible {
        let fields: String
        let isRevoking: Bool
        let check: @Sendable (Account) -> Bool

        init(
            _ fields: String,
            revokes: Bool = false,
            _ check: @escaping @Sendable (Account) -> Bool
        ) {
            self.fields = fields
            isRevoking = revokes
            self.check = check
        }

        var testDescription: String { fields }
    }

    @Test("an update changes what it names, and revokes where that is due", arguments: changes)
    func update(change: Change) throws {
        var realm = try AdminRefusalTests.realm()
        _ = try realm.call(
            .adminUpdate,
            #"{"localId":"ann","displayName":"Ann","photoUrl":"https://a","customAttributes":"{\"a\":1}"}"#
        )
        let old = try #require(realm.directory.account("ann"))
        let reply = try realm.call(.adminUpdate, #"{"localId":"ann",\#(change.fields)}"#)
        #expect(reply.body.member("localId").string == "ann")
        let new = try #require(realm.directory.account("ann"))
        #expect(change.check(new))
        #expect((new.validSince > old.validSince) == change.isRevoking)
        var isSent = false
        for case .revoked("ann", new.validSince) in reply.events { isSent = true }
        #expect(isSent == change.isRevoking)
        #expect(realm.directory.account("bob")?.email == "bob@example.com")
    }

    static let changes: [Change] = [
        Change(#""displayName":"A""#) { $0.displayName == "A" && $0.photoURL == "https://a" },
        Change(#""displayName":"""#) { $0.displayName == nil },
        Change(#""deleteAttribute":["DISPLAY_NAME","PHOTO_URL"]"#) {
            $0.displayName == nil && $0.photoURL == nil
        },
        Change(#""deleteAttribute":[2,4]"#) { $0.displayName == nil && $0.photoURL == nil },
        Change(#""delete_attribute":["USER_ATTRIBUTE_NAME_UNSPECIFIED"]"#) {
            $0.displayName == "Ann"
        },
        Change(#""email":"ann@example.com","emailVerified":true"#) { $0.isEmailVerified },
        Change(#""email":"ann@example.org""#, revokes: true) {
            $0.email == "ann@example.org" && !$0.isEmailVerified
                && $0.initialEmail == "ann@example.com"
        },
        Change(#""email":"ann@example.org","emailVerified":true"#, revokes: true) {
            $0.isEmailVerified
        },
        Change(#""email":"""#) { $0.email == "ann@example.com" },
        Change(#""password":"another""#, revokes: true) {
            $0.password == AdminRealm.stored(Array("another".utf8))
        },
        Change(#""deleteAttribute":["PASSWORD"]"#, revokes: true) {
            $0.password == nil && $0.email != nil
        },
        Change(#""deleteProvider":["password"]"#, revokes: true) {
            $0.password == nil && $0.email == nil
        },
        Change(#""deleteProvider":["phone","a.com","unknown"]"#) {
            $0.phoneNumber == nil && $0.federated.isEmpty && $0.email != nil
        },
        Change(#""phoneNumber":"+1 555 555 0100""#) { $0.phoneNumber == "+15555550100" },
        Change(#""disableUser":true"#, revokes: true) { $0.isDisabled },
        Change(#""disableUser":false"#) { !$0.isDisabled },
        Change(#""validSince":"1700000000""#, revokes: true) { $0.validSince > 1_700_000_000 },
        Change(#""validSince":1"#) { $0.validSince >= 1_700_000_000 },
        Change(#""customAttributes":"{}""#) { $0.customAttributes == nil },
        Change(#""customAttributes":"{\"b\":[]}""#) { $0.customAttributes == #"{"b":[]}"# },
        Change(#""createdAt":"5","lastLoginAt":6"#) {
            $0.createdAt.milliseconds == 5 && $0.lastLoginAt?.milliseconds == 6
        },
        Change(#""linkProviderUserInfo":{"providerId":"a.com","rawId":"2","email":"X@y"}"#) {
            $0.federated.map(\.rawID) == ["2"] && $0.federated[0].email == "x@y"
        },
        Change(#""linkProviderUserInfo":{"providerId":"b.com","rawId":"1"}"#) {
            $0.federated.map(\.provider) == ["a.com", "b.com"]
        },
        Change(#""mfa":{"enrollments":[]}"#) { $0.displayName == "Ann" },
    ]

    @Test("a disabled account is shut out at once")
    func disable() throws {
        var realm = try AdminRefusalTests.realm()
        let reply = try realm.call(.adminUpdate, #"{"localId":"ann","disableUser":true}"#)
        var shut: [String] = []
        for case .shutOut(let uid) in reply.events { shut.append(uid) }
        #expect(shut == ["ann"])
    }

    @Test("names that are given up are free for others")
    func freedNames() throws {
        var realm = try AdminRefusalTests.realm()
        _ = try realm.call(
            .adminUpdate,
            #"{"localId":"ann","deleteProvider":["password","phone","a.com"]}"#
        )
        let reply = try realm.call(
            .adminCreate,
            #"{"localId":"eve","email":"ann@example.com","phoneNumber":"+4930123"}"#
        )
        #expect(reply.status == 200)
        let link = #"{"localId":"eve","linkProviderUserInfo":{"providerId":"a.com","rawId":"1"}}"#
        let linked = try realm.call(.adminUpdate, link)
        #expect(linked.status == 200)
    }

    @Test(
        "accounts are looked up by any of their names, each once, in the order of the request",
        arguments: [
            (#"{"localId":["bob","ann"]}"#, ["bob", "ann"]),
            (#"{"localId":"ann"}"#, ["ann"]),
            (#"{"email":["ANN@example.com"],"localId":["ann","unknown"]}"#, ["ann"]),
            (#"{"phoneNumber":["+49 30 123"],"email":["bob@example.com","x"]}"#, ["bob", "ann"]),
            (#"{"federatedUserId":[{"providerId":"a.com","rawId":"1"}]}"#, ["ann"]),
            (#"{"federatedUserId":[{"providerId":"a.com","rawId":"2"},{"rawId":"1"}]}"#, []),
            (#"{"federatedUserId":[{"providerId":"phone","rawId":"+4930123"}]}"#, ["ann"]),
            (
                #"{"federatedUserId":[{"provider_id":"password","raw_id":"bob@example.com"}]}"#,
                ["bob"]
            ),
            ("{}", []), (#"{"localId":["a/b","..","%2e"]}"#, []),
        ]
    )
    func lookup(json: String, uids: [String]) throws {
        var realm = try AdminRefusalTests.realm()
        let reply = try realm.call(.adminLookup, json)
        #expect(reply.status == 200)
        #expect(reply.users("users") == uids)
        // Without a user the member is not there: Node's SDK would take an empty list for one.
        #expect(reply.text.contains("\"users\"") == !uids.isEmpty)
    }

    @Test("deleting leaves nothing, and shuts out")
    func delete() throws {
        var realm = AdminRealm()
        _ = try realm.call(.adminCreate, #"{"localId":"ann","email":"a@b","phoneNumber":"+12345"}"#)
        let reply = try realm.call(.adminDelete, #"{"localId":"ann"}"#)
        #expect(reply.text == #"{"kind":"identitytoolkit#DeleteAccountResponse"}"#)
        let later = Timestamp(milliseconds: realm.now.milliseconds + 2_000)
        let changes = realm.directory.forgettingRemovals(now: later, limit: 10)
        #expect(changes.applied(to: realm.directory.root).isAbsent)
        #expect(reply.events.count == 1)
    }
}

extension AdminRealm.Reply {
    /// The uids of the users in a list of the body.
    func users(_ name: String) -> [String] {
        RequestFields(body).elements(name).compactMap { $0.node.member("localId").string }
    }
}
