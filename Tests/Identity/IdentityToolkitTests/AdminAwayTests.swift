import Accounts
import JSONTree
import Testing

@testable import IdentityToolkit

@Suite("long lists of accounts, away from the loop")
struct AdminAwayTests {
    /// `u0` and so on, each with an address.
    private static func users(_ count: Int) -> String {
        let users = (0..<count).map { #"{"localId":"u\#($0)","email":"u\#($0)@b"}"# }
        return "[" + users.joined(separator: ",") + "]"
    }

    private static func begin(
        _ method: IdentityMethod,
        _ json: String,
        _ realm: AdminRealm
    ) throws -> IdentityStep {
        let route = try #require(
            IdentityRoute(["v1", "projects", "p", "accounts:\(method.rawValue)"])
        )
        let request = IdentityRequest(
            route: route,
            verb: "POST",
            fields: try RequestFields(json: Array(json.utf8)),
            query: [:],
            isAdmin: true
        )
        return IdentityToolkit.begin(request, context(realm))
    }

    private static func context(_ realm: AdminRealm) -> IdentityContext {
        IdentityContext(
            directory: realm.directory,
            policy: IdentityPolicy(),
            now: realm.now,
            address: "",
            random: { [UInt8](repeating: 7, count: $0) }
        )
    }

    @Test("an import is checked against the accounts as they are when it has been read")
    func takenMeanwhile() throws {
        var realm = AdminRealm()
        let step = try Self.begin(.batchCreate, #"{"users":\#(Self.users(40))}"#, realm)
        guard case .away(let work) = step else {
            Issue.record("forty accounts are read elsewhere")
            return
        }
        let then = work()
        _ = try realm.call(.adminCreate, #"{"localId":"u3"}"#)
        _ = try realm.call(.adminCreate, #"{"localId":"other","email":"u5@b"}"#)
        guard case .answer(let answer) = then(Self.context(realm)) else {
            Issue.record("the import is answered")
            return
        }
        #expect(
            String(decoding: answer.body.value.text, as: UTF8.self)
                == #"{"kind":"identitytoolkit#UploadAccountResponse","error":["#
                + #"{"index":3,"message":"localId belongs to an existing account - can not overwrite."},"#
                + #"{"index":5,"message":"email exists in other account in database"}]}"#
        )
        let after = AccountDirectory(root: answer.changes.applied(to: realm.directory.root))
        #expect(after.accountCount == 40)
    }

    @Test("tokens that were issued while an import was read are revoked by it")
    func revokedMeanwhile() throws {
        var realm = AdminRealm()
        _ = try realm.call(.adminCreate, #"{"localId":"u1"}"#)
        let json = #"{"allowOverwrite":true,"users":\#(Self.users(40))}"#
        guard case .away(let work) = try Self.begin(.batchCreate, json, realm) else {
            Issue.record("forty accounts are read elsewhere")
            return
        }
        let then = work()
        realm.now = Timestamp(milliseconds: realm.now.milliseconds + 5_000)
        guard case .answer(let answer) = then(Self.context(realm)) else {
            Issue.record("the import is answered")
            return
        }
        let after = AccountDirectory(root: answer.changes.applied(to: realm.directory.root))
        let second = realm.now.milliseconds / 1000 + 1
        #expect(after.account("u1")?.validSince == second)
        #expect(after.account("u2")?.validSince == second)
        guard case .revoked("u1", second)? = answer.events.first else {
            Issue.record("the revocation is an event")
            return
        }
    }

    @Test("an account that is there is reported before what is wrong with the one that is brought")
    func thereBeforeFaulty() throws {
        var realm = AdminRealm()
        _ = try realm.call(.adminCreate, #"{"localId":"a"}"#)
        let reply = try realm.call(
            .batchCreate,
            #"{"users":[{"localId":"a","email":"x"},{"localId":"b","email":"x"}]}"#
        )
        let errors = reply.body.member("error")
        #expect(
            errors.member("0").member("message").string
                == "localId belongs to an existing account - can not overwrite."
        )
        #expect(errors.member("1").member("message").string == "email is invalid")
    }

    @Test("a long list says the same as pages of it", arguments: [IdentityMethod.batchGet, .query])
    func lists(_ method: IdentityMethod) throws {
        var realm = AdminRealm()
        _ = try realm.call(.batchCreate, #"{"users":\#(Self.users(50))}"#)
        let json = #"{"maxResults":50,"limit":50}"#
        guard case .away(let work) = try Self.begin(method, json, realm) else {
            Issue.record("fifty accounts are read elsewhere")
            return
        }
        guard case .answer(let answer) = work()(Self.context(realm)) else {
            Issue.record("the list is answered")
            return
        }
        let body = try Node.readingAnyJSON(answer.body.value.text)
        let users = body.member(method == .query ? "userInfo" : "users")
        #expect(users.childCount == 50)
        let first = try realm.call(.adminLookup, #"{"localId":["u0"]}"#)
        let one = first.body.member("users").member("0")
        #expect(users.member("0") == one)
    }
}
