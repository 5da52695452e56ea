import Accounts
import JSONTree
import Passwords
import Testing

@testable import IdentityToolkit

/// Passwords are hashed and tokens checked while other requests are done: what was seen before counts for nothing.
@Suite("requests while accounts change")
struct ClientRaceTests {
    private let form = #"{"email":"ann@example.com","password":"secret"}"#

    @Test("two sign-ups for one address: the second is refused")
    func sameAddress() throws {
        var realm = ClientRealm()
        realm.meanwhile = { $0.set("first") { $0.email = "ann@example.com" } }
        #expect(try realm.call(.signUp, form).message == "EMAIL_EXISTS")
        #expect(realm.directory.accountCount == 1)
        #expect(realm.directory.account(email: "ann@example.com")?.uid == "first")
    }

    @Test("a password that is changed while the old one is compared does not let anybody in")
    func changedPassword() throws {
        var realm = ClientRealm()
        let uid = try realm.call(.signUp, form)["localId"]
        realm.meanwhile = {
            $0.set(uid) { $0.password = ClientRealm.stored(Array("other!".utf8)) }
        }
        #expect(try realm.call(.signInWithPassword, form).message == "INVALID_PASSWORD")
    }

    @Test("a password that is renewed while it is compared lets its user in")
    func renewedPassword() throws {
        var realm = ClientRealm()
        let uid = try realm.call(.signUp, form)["localId"]
        realm.policy.cost.passes = 4
        realm.meanwhile = {
            let cost = $0.policy.cost
            $0.set(uid) { $0.password = ClientRealm.stored(Array("secret".utf8), cost: cost) }
        }
        #expect(try realm.call(.signInWithPassword, form)["localId"] == uid)
        #expect(realm.workCount == 3)
    }

    @Test("a password that was hashed at a lower cost is hashed anew when its user signs in")
    func raisedCost() throws {
        var realm = ClientRealm()
        let uid = try realm.call(.signUp, form)["localId"]
        let changedAt = realm.directory.account(uid)?.passwordUpdatedAt
        realm.policy.cost.passes = 5
        realm.wait(seconds: 1)
        #expect(try realm.call(.signInWithPassword, form).status == 200)
        let account = try #require(realm.directory.account(uid))
        let expected = ClientRealm.stored(Array("secret".utf8), cost: realm.policy.cost)
        #expect(account.password == expected)
        #expect(account.passwordUpdatedAt == changedAt)
    }

    @Test(
        "an account that is deleted or disabled meanwhile is not signed in to, and does not come back"
    )
    func goneOrDisabled() throws {
        for isDeleted in [true, false] {
            var realm = ClientRealm()
            let made = try realm.call(.signUp, form)
            let uid = made["localId"]
            let end: (inout ClientRealm) -> Void = { realm in
                if isDeleted { realm.remove(uid) } else { realm.set(uid) { $0.isDisabled = true } }
            }
            let requests = [
                (IdentityMethod.signInWithPassword, form),
                (.lookup, #"{"idToken":"\#(made["idToken"])"}"#),
                (.update, #"{"idToken":"\#(made["idToken"])","displayName":"x"}"#),
                (.update, #"{"idToken":"\#(made["idToken"])","password":"secret2"}"#),
                (.delete, #"{"idToken":"\#(made["idToken"])"}"#),
            ]
            for (method, json) in requests {
                var realm = realm
                realm.meanwhile = end
                let reply = try realm.call(method, json)
                #expect(reply.status == 400)
                #expect(realm.directory.accountCount == (isDeleted ? 0 : 1))
                #expect(!reply.isChange)
            }
        }
    }

    @Test("what is written meanwhile stays when a password is set")
    func otherFields() throws {
        var realm = ClientRealm()
        let made = try realm.call(.signUp, form)
        let uid = made["localId"]
        // The first step checks the token, the second hashes.
        realm.meanwhile = { realm in
            realm.meanwhile = { $0.set(uid) { $0.displayName = "Written meanwhile" } }
        }
        let changed = try realm.call(
            .update,
            #"{"idToken":"\#(made["idToken"])","password":"secret2"}"#
        )
        #expect(changed["displayName"] == "Written meanwhile")
        #expect(realm.directory.account(uid)?.displayName == "Written meanwhile")
    }

    @Test("a token that is revoked while a new password is hashed does not set it")
    func revokedMeanwhile() throws {
        var realm = ClientRealm()
        let made = try realm.call(.signUp, form)
        let uid = made["localId"]
        let before = realm.directory.account(uid)?.password
        realm.meanwhile = { realm in
            realm.meanwhile = { realm in
                let now = realm.now
                realm.set(uid) { $0.revoke(at: now) }
            }
        }
        let reply = try realm.call(
            .update,
            #"{"idToken":"\#(made["idToken"])","password":"secret2"}"#
        )
        #expect(reply.message == "TOKEN_EXPIRED")
        #expect(realm.directory.account(uid)?.password == before)
    }
}
