import Accounts
import JSONTree
import Passwords
import Testing

@testable import IdentityToolkit

@Suite("accounts in batches")
struct AdminBatchTests {
    /// `u0` to `u9`; those with odd numbers are disabled.
    private func ten() throws -> AdminRealm {
        var realm = AdminRealm()
        for number in 0..<10 {
            _ = try realm.call(
                .adminCreate,
                #"{"localId":"u\#(number)","email":"u\#(number)@b","disabled":\#(number % 2 == 1)}"#
            )
        }
        return realm
    }

    // MARK: - Deleting

    @Test("only disabled accounts are deleted without force; who is not there counts as deleted")
    func deleteDisabled() throws {
        var realm = try ten()
        let reply = try realm.call(.batchDelete, #"{"localIds":["u0","u1","unknown","u1","u2"]}"#)
        #expect(
            reply.text
                == #"{"errors":[{"index":0,"localId":"u0","message":"NOT_DISABLED : Disable the account before batch deletion."},"#
                + #"{"index":4,"localId":"u2","message":"NOT_DISABLED : Disable the account before batch deletion."}]}"#
        )
        #expect(realm.directory.accountCount == 9)
        #expect(reply.events.count == 1)
    }

    @Test("with force all of them are deleted")
    func deleteAll() throws {
        var realm = try ten()
        let uids = (0..<10).map { "\"u\($0)\"" }.joined(separator: ",")
        let reply = try realm.call(.batchDelete, #"{"localIds":[\#(uids)],"force":true}"#)
        #expect(reply.text == "{}")
        let later = Timestamp(milliseconds: realm.now.milliseconds + 2_000)
        let changes = realm.directory.forgettingRemovals(now: later, limit: 10)
        #expect(changes.applied(to: realm.directory.root).isAbsent)
        #expect(reply.events.count == 10)
    }

    // MARK: - Page by page

    @Test("pages follow each other until there are no more", arguments: [1, 3, 5, 10, 11])
    func pages(size: Int) throws {
        var realm = try ten()
        var token: String?
        var uids: [String] = []
        repeat {
            var query = ["maxResults": "\(size)"]
            query["nextPageToken"] = token
            let reply = try realm.call(.batchGet, "", verb: "GET", query: query)
            let page = reply.users("users")
            #expect(page.count <= size)
            #expect(!page.isEmpty)
            uids += page
            token = reply.body.member("nextPageToken").string
        } while token != nil
        #expect(uids == (0..<10).map { "u\($0)" })
    }

    @Test(
        "a page has 20 accounts unless it is asked for otherwise, and 1,000 at most",
        arguments: [(nil, 20), ("0", 20), ("-1", 1000), ("5000", 1000), ("7", 7)]
            as [(String?, Int)]
    )
    func pageSizes(asked: String?, size: Int) throws {
        var realm = AdminRealm()
        var draft = AccountDraft(realm.directory)
        for number in 0..<1100 {
            draft.changes.replace(nil, by: Account(uid: "u\(number)", createdAt: realm.now))
        }
        realm.directory = AccountDirectory(root: draft.changes.applied(to: .absent))
        let query = asked.map { ["maxResults": $0] } ?? [:]
        let reply = try realm.call(.batchGet, "", verb: "GET", query: query)
        #expect(reply.users("users").count == size)
        #expect(reply.body.member("nextPageToken").string != nil)
    }

    @Test("the older family asks with a body; an empty realm has an empty list")
    func olderFamily() throws {
        var realm = try ten()
        let reply = try realm.call(.batchGet, #"{"maxResults":2,"targetProjectId":"p"}"#)
        #expect(reply.users("users") == ["u0", "u1"])
        var empty = AdminRealm()
        let none = try empty.call(.batchGet, "", verb: "GET")
        #expect(none.text == #"{"kind":"identitytoolkit#DownloadAccountResponse","users":[]}"#)
    }

    @Test("pages have the hashes of passwords and their salts, which can be brought in again")
    func exportAndImport() throws {
        var realm = AdminRealm()
        _ = try realm.call(.adminCreate, #"{"localId":"ann","email":"a@b","password":"secret"}"#)
        let before = try #require(realm.directory.account("ann"))
        let page = try realm.call(.batchGet, "", verb: "GET")
        let user = RequestFields(page.body).elements("users")[0].node
        let (hash, salt) = (user.member("passwordHash").string, user.member("salt").string)
        #expect(salt == "c2FsdHNhbHRzYWx0c2FsdA")
        #expect(hash == before.password?.text)
        let text = try #require(hash)
        for passwordHash in [text, Base64.encode(Array(text.utf8), .url)] {
            _ = try realm.call(.adminDelete, #"{"localId":"ann"}"#)
            let reply = try realm.call(
                .batchCreate,
                #"{"users":[{"localId":"ann","email":"a@b","passwordHash":"\#(passwordHash)"}]}"#
            )
            #expect(reply.text == #"{"kind":"identitytoolkit#UploadAccountResponse","error":[]}"#)
            #expect(realm.directory.account("ann")?.password == before.password)
        }
    }

    // MARK: - Queries

    @Test(
        "a query finds the account with a name, or accounts in order",
        arguments: [
            ("{}", "10", (0..<10).map { "u\($0)" }),
            (#"{"limit":2,"offset":3}"#, "10", ["u3", "u4"]),
            (#"{"limit":"2","order":"DESC"}"#, "10", ["u9", "u8"]),
            (#"{"offset":9,"sortBy":"USER_ID","order":1}"#, "10", ["u9"]),
            (#"{"offset":10}"#, "10", []),
            (#"{"returnUserInfo":false}"#, "10", []),
            (#"{"expression":[{"email":"U4@b"}]}"#, "1", ["u4"]),
            (#"{"expression":[{"userId":"u5"}]}"#, "1", ["u5"]),
            (#"{"expression":[{"userId":"u5","email":"u4@b"}]}"#, "1", ["u4"]),
            (#"{"expression":[{"userId":"u5"},{"userId":"u6"}]}"#, "1", ["u5"]),
            (#"{"expression":[{"phoneNumber":"+12345"}]}"#, "0", []),
            (#"{"expression":[{"userId":"u5"}],"returnUserInfo":false}"#, "1", []),
        ]
    )
    func query(json: String, count: String, uids: [String]) throws {
        var realm = try ten()
        let reply = try realm.call(.query, json)
        #expect(reply.body.member("recordsCount").string == count)
        #expect(reply.users("userInfo") == uids)
    }

    // MARK: - Bringing along

    @Test(
        "an entry that cannot be taken is reported, and the others are stored",
        arguments: [
            (#"{}"#, nil), (#"{"email":"x@y"}"#, "localId is missing"),
            (#"{"localId":"u0"}"#, "localId belongs to an existing account - can not overwrite."),
            (#"{"localId":"n","email":"u0@b"}"#, "email exists in other account in database"),
            (#"{"localId":"n","email":"first@b"}"#, "email exists in other account in database"),
            (#"{"localId":"n","email":"x"}"#, "email is invalid"),
            (#"{"localId":"n","phoneNumber":"12"}"#, "phone number format is invalid"),
            (
                #"{"localId":"n","phoneNumber":"+12345"}"#,
                "phone number exists in other account in database"
            ),
            (#"{"localId":"n","customAttributes":"x"}"#, "Invalid custom claims provided."),
            (
                #"{"localId":"n","customAttributes":"{\"iss\":1}"}"#,
                "Custom claims provided include a reserved claim."
            ),
            (
                #"{"localId":"n","providerUserInfo":[{"providerId":"a.com"}]}"#,
                "federatedId or (providerId & rawId) is required"
            ),
            (
                #"{"localId":"n","providerUserInfo":[{"providerId":"a.com","rawId":"1"}]}"#,
                "raw id exists in other account in database"
            ),
            (
                #"{"localId":"n","providerUserInfo":[{"providerId":"b","rawId":"1"},{"providerId":"b","rawId":"2"}]}"#,
                "b is in providerUserInfo twice."
            ),
            (#"{"localId":"n","mfaInfo":[{"phoneInfo":"+1"}]}"#, "Second factor not supported."),
            (
                #"{"localId":"n","tenantId":"t"}"#,
                "Tenant id in userInfo does not match the tenant id in request."
            ),
            (
                #"{"localId":"n","passwordHash":"AAAA"}"#,
                "passwordHash needs hashAlgorithm and its parameters."
            ),
            (#"{"localId":"n","passwordHash":"?"}"#, "passwordHash is no base64."),
            (
                #"{"localId":"n","rawPassword":"secret"}"#,
                "rawPassword is not taken: set passwords one by one, or bring hashes."
            ),
            (
                #"{"localId":"n","disabled":[1]}"#,
                "Invalid JSON payload received. Invalid value at 'disabled' (TYPE_BOOL)."
            ),
        ] as [(String, String?)]
    )
    func badEntries(entry: String, message: String?) throws {
        var realm = try ten()
        let first =
            #"{"localId":"first","email":"first@b","phoneNumber":"+12345","providerUserInfo":[{"providerId":"a.com","rawId":"1"}]}"#
        let last = #"{"localId":"last","email":"last@b"}"#
        let reply = try realm.call(.batchCreate, #"{"users":[\#(first),\#(entry),\#(last)]}"#)
        let errors = RequestFields(reply.body).elements("error").map { $0.node }
        #expect(errors.compactMap { $0.member("message").string } == (message.map { [$0] } ?? []))
        #expect(errors.allSatisfy { $0.member("index").integer == 1 })
        #expect(realm.directory.accountCount == 12)
        #expect(realm.directory.account("n") == nil)
        #expect(realm.directory.account(email: "last@b")?.uid == "last")
        #expect(realm.directory.account(phone: "+12345")?.uid == "first")
    }

    @Test("an account that is overwritten keeps nothing, and its tokens no longer count")
    func overwrite() throws {
        var realm = try ten()
        let before = try #require(realm.directory.account("u0"))
        let reply = try realm.call(
            .batchCreate,
            #"{"allowOverwrite":true,"users":[{"localId":"u0","displayName":"New","createdAt":"7","disabled":true}]}"#
        )
        let after = try #require(realm.directory.account("u0"))
        #expect(after.email == nil)
        #expect(after.displayName == "New")
        #expect(after.createdAt.milliseconds == 7)
        #expect(after.validSince > before.validSince)
        #expect(realm.directory.account(email: "u0@b") == nil)
        var (revoked, shut) = (0, 0)
        for case .revoked("u0", after.validSince) in reply.events { revoked += 1 }
        for case .shutOut("u0") in reply.events { shut += 1 }
        #expect(revoked == 1 && shut == 1)
    }

    @Test("two accounts may swap their addresses in one batch that overwrites")
    func swap() throws {
        var realm = try ten()
        let reply = try realm.call(
            .batchCreate,
            #"""
            {"allowOverwrite":true,"users":[{"localId":"u0"},{"localId":"u1","email":"u0@b"},
             {"localId":"u0","email":"u1@b"}]}
            """#
        )
        #expect(RequestFields(reply.body).elements("error").isEmpty)
        #expect(realm.directory.account(email: "u0@b")?.uid == "u1")
        #expect(realm.directory.account(email: "u1@b")?.uid == "u0")
        #expect(realm.directory.account("u0")?.email == "u1@b")
    }

    @Test("equal ways of hashing are kept once, with all that is needed to check a password")
    func hashings() throws {
        var realm = AdminRealm()
        let hash = Base64.encode([UInt8](repeating: 9, count: 64), .url)
        for uid in ["a", "b"] {
            let reply = try realm.call(
                .batchCreate,
                #"""
                {"hashAlgorithm":"SCRYPT","signerKey":"\#(hash)","saltSeparator":"Bw==","rounds":8,
                 "memoryCost":14,"users":[{"localId":"\#(uid)","passwordHash":"\#(hash)","salt":"TmFDbA=="}]}
                """#
            )
            #expect(RequestFields(reply.body).elements("error").isEmpty)
        }
        #expect(realm.directory.hashingCount == 1)
        let password = try #require(realm.directory.account("a")?.password)
        #expect(password == realm.directory.account("b")?.password)
        #expect(password.importedHash?.salt == Array("NaCl".utf8))
        let hashing = try #require(realm.directory.hashing(for: password))
        #expect(hashing.algorithm == .scrypt)
        #expect(hashing.signerKey == [UInt8](repeating: 9, count: 64))
        #expect(hashing.saltSeparator == [7])
        #expect(hashing.rounds == 8)
        #expect(hashing.memoryCost == 14)
    }

    @Test("a hash without a salt is returned without one")
    func unsalted() throws {
        var realm = AdminRealm()
        let hash = Base64.encode([UInt8](repeating: 9, count: 32), .url)
        let json =
            #"{"hashAlgorithm":"SHA256","rounds":1,"users":[{"localId":"a","passwordHash":"\#(hash)"}]}"#
        let reply = try realm.call(.batchCreate, json)
        #expect(RequestFields(reply.body).elements("error").isEmpty)
        let page = try realm.call(.batchGet, "", verb: "GET")
        let user = RequestFields(page.body).elements("users")[0].node
        #expect(user.member("passwordHash").string == hash)
        #expect(user.member("salt").isAbsent)
    }

    @Test("a hash that does not fit its algorithm is reported with its index")
    func badHash() throws {
        var realm = AdminRealm()
        let reply = try realm.call(
            .batchCreate,
            #"{"hashAlgorithm":"SHA256","users":[{"localId":"a","passwordHash":"AAAA"}]}"#
        )
        #expect(
            reply.text
                == #"{"kind":"identitytoolkit#UploadAccountResponse","error":[{"index":0,"message":"the hash has 3 bytes instead of 32, or twice that in hexadecimal."}]}"#
        )
        #expect(realm.directory.accountCount == 0)
    }

    @Test("the configuration is returned in the service's words, and taken when it says what is so")
    func config() throws {
        var realm = AdminRealm()
        realm.policy.isSignUpOpen = false
        realm.policy.passwords.required = [.digit]
        let reply = try realm.call(.config, "", verb: "GET")
        #expect(
            reply.text
                == #"{"name":"projects/p/config","signIn":{"email":{"enabled":true,"passwordRequired":false},"#
                + #""phoneNumber":{"enabled":true},"anonymous":{"enabled":true},"allowDuplicateEmails":false},"#
                + #""client":{"permissions":{"disabledUserSignup":true}},"mfa":{"state":"DISABLED"},"#
                + #""multiTenant":{"allowTenants":false},"emailPrivacyConfig":{"enableImprovedEmailPrivacy":false},"#
                + #""passwordPolicyConfig":{"passwordPolicyEnforcementState":"ENFORCE","passwordPolicyVersions":"#
                + #"[{"customStrengthOptions":{"minPasswordLength":6,"maxPasswordLength":4096,"#
                + #""containsLowercaseCharacter":false,"containsUppercaseCharacter":false,"#
                + #""containsNumericCharacter":true,"containsNonAlphanumericCharacter":false}}]}}"#
        )
        let same = try realm.call(.config, reply.text, verb: "PATCH")
        #expect(same.text == reply.text)
    }

    @Test("there are no tenants")
    func tenants() throws {
        var realm = AdminRealm()
        let reply = try realm.call(.tenants, "", verb: "GET")
        #expect(reply.text == #"{"tenants":[]}"#)
        for path in ["v2/projects/p/tenants/t", "v1/projects/p/tenants/t/accounts:lookup"] {
            let route = try #require(IdentityRoute(path.split(separator: "/").map(String.init)))
            #expect(route.tenant == "t")
        }
    }
}
