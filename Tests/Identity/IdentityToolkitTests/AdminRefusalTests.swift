import Accounts
import JSONTree
import Testing

@testable import IdentityToolkit

@Suite("requests of administrators that are refused")
struct AdminRefusalTests {
    struct Case: CustomTestStringConvertible {
        let method: IdentityMethod
        let json: String
        let message: String
        var status = 400

        init(_ method: IdentityMethod, _ json: String, _ message: String, _ status: Int = 400) {
            self.method = method
            self.json = json
            self.message = message
            self.status = status
        }

        var testDescription: String { "\(method) \(json.prefix(80)): \(message)" }
    }

    /// `ann` has every name, `bob` is disabled.
    static func realm() throws -> AdminRealm {
        var realm = AdminRealm()
        for json in [
            #"{"localId":"ann","email":"ann@example.com","phoneNumber":"+4930123","password":"secret"}"#,
            #"{"localId":"bob","email":"bob@example.com","disabled":true}"#,
        ] {
            let reply = try realm.call(.adminCreate, json)
            #expect(reply.status == 200)
        }
        let link = #"{"localId":"ann","linkProviderUserInfo":{"providerId":"a.com","rawId":"1"}}"#
        let reply = try realm.call(.adminUpdate, link)
        #expect(reply.status == 200)
        return realm
    }

    @Test("say why, and change nothing", arguments: creating + updating + deleting + others)
    func refused(refusal: Case) throws {
        var realm = try Self.realm()
        let before = realm.directory.root
        let verb = refusal.method == .config ? "PATCH" : "POST"
        let reply = try realm.call(refusal.method, refusal.json, verb: verb)
        #expect(reply.message == refusal.message)
        #expect(reply.status == refusal.status)
        #expect(reply.events.isEmpty)
        #expect(realm.directory.root.isIdentical(to: before))
    }

    static let longName = String(repeating: "x", count: 257)
    static let longUID = String(repeating: "x", count: 129)
    static let longClaims = String(repeating: "x", count: 1000)
    static let uidRule = "INVALID_LOCAL_ID : A user id has 1 to 128 characters, none a control."

    static let creating: [Case] = [
        Case(.adminCreate, #"{"localId":"ann"}"#, "DUPLICATE_LOCAL_ID"),
        Case(.adminCreate, #"{"email":"ANN@example.com"}"#, "EMAIL_EXISTS"),
        Case(.adminCreate, #"{"email":"ａｎｎ@example.com"}"#, "EMAIL_EXISTS"),
        Case(.adminCreate, #"{"email":"\u0430nn@example.com"}"#, "INVALID_EMAIL"),
        Case(.adminCreate, #"{"email":"ann"}"#, "INVALID_EMAIL"),
        Case(.adminCreate, #"{"phoneNumber":"+49 30 123"}"#, "PHONE_NUMBER_EXISTS"),
        Case(.adminCreate, #"{"phone_number":"+49 30 123"}"#, "PHONE_NUMBER_EXISTS"),
        Case(.adminCreate, #"{"phoneNumber":"4930123"}"#, "INVALID_PHONE_NUMBER : Invalid format."),
        Case(.adminCreate, #"{"localId":"\#(longUID)"}"#, uidRule),
        Case(.adminCreate, #"{"localId":"a\nb"}"#, uidRule),
        Case(
            .adminCreate,
            #"{"password":"12345"}"#,
            "WEAK_PASSWORD : Password should be at least 6 characters"
        ),
        Case(
            .adminCreate,
            #"{"displayName":"\#(longName)"}"#,
            "INVALID_PROFILE_ATTRIBUTE : displayName has more than 256 characters."
        ),
        Case(.adminCreate, #"{"customAttributes":"[]"}"#, "INVALID_CLAIMS"),
        Case(.adminCreate, #"{"idToken":"x"}"#, "UNEXPECTED_PARAMETER : User ID token"),
        Case(
            .adminCreate,
            #"{"mfaInfo":[{"phoneInfo":"+1555"}]}"#,
            "Multi-factor sign-in is not implemented.",
            501
        ),
        Case(
            .adminCreate,
            #"{"email":["ann@example.org"]}"#,
            "Invalid JSON payload received. Invalid value at 'email' (TYPE_STRING)."
        ),
        Case(
            .adminCreate,
            #"{"disabled":"maybe"}"#,
            "Invalid JSON payload received. Invalid value at 'disabled' (TYPE_BOOL)."
        ),
        Case(
            .adminCreate,
            #"{"displayName":"a\u0000b"}"#,
            "Invalid JSON payload received. Invalid value at 'displayName': it has a NUL character in it."
        ),
        Case(
            .adminCreate,
            "[]",
            "Invalid JSON payload received. The body must be an object."
        ),
    ]

    static let updating: [Case] = [
        Case(.adminUpdate, "{}", "MISSING_LOCAL_ID"),
        Case(.adminUpdate, #"{"localId":""}"#, "MISSING_LOCAL_ID"),
        Case(.adminUpdate, #"{"localId":"eve"}"#, "USER_NOT_FOUND"),
        Case(.adminUpdate, #"{"localId":"ann","email":"bob@example.com"}"#, "EMAIL_EXISTS"),
        Case(.adminUpdate, #"{"localId":"ann","email":"@"}"#, "INVALID_EMAIL"),
        Case(.adminUpdate, #"{"localId":"bob","phoneNumber":"+4930123"}"#, "PHONE_NUMBER_EXISTS"),
        Case(
            .adminUpdate,
            #"{"localId":"bob","phoneNumber":"+0"}"#,
            "INVALID_PHONE_NUMBER : Invalid format."
        ),
        Case(
            .adminUpdate,
            #"{"localId":"ann","password":"short"}"#,
            "WEAK_PASSWORD : Password should be at least 6 characters"
        ),
        Case(
            .adminUpdate,
            #"{"localId":"ann","customAttributes":"{\"a\":\"\#(longClaims)\"}"}"#,
            "CLAIMS_TOO_LARGE"
        ),
        Case(.adminUpdate, #"{"localId":"ann","customAttributes":"{"}"#, "INVALID_CLAIMS"),
        Case(.adminUpdate, #"{"localId":"ann","customAttributes":"7"}"#, "INVALID_CLAIMS"),
        Case(
            .adminUpdate,
            #"{"localId":"ann","customAttributes":"{\"sub\":\"bob\"}"}"#,
            "FORBIDDEN_CLAIM : sub"
        ),
        Case(
            .adminUpdate,
            #"{"localId":"ann","customAttributes":"{\"firebase\":{}}"}"#,
            "FORBIDDEN_CLAIM : firebase"
        ),
        Case(
            .adminUpdate,
            #"{"localId":"bob","linkProviderUserInfo":{"providerId":"a.com","rawId":"1"}}"#,
            "FEDERATED_USER_ID_ALREADY_LINKED"
        ),
        Case(
            .adminUpdate,
            #"{"localId":"bob","linkProviderUserInfo":{"rawId":"1"}}"#,
            "MISSING_PROVIDER_ID"
        ),
        Case(
            .adminUpdate,
            #"{"localId":"bob","linkProviderUserInfo":{"providerId":"a.com"}}"#,
            "MISSING_RAW_ID"
        ),
        Case(
            .adminUpdate,
            #"{"localId":"bob","linkProviderUserInfo":{"providerId":"phone","rawId":"+4930123"}}"#,
            "INVALID_PROVIDER_ID : phone is set by the account itself."
        ),
        Case(
            .adminUpdate,
            #"{"localId":"bob","linkProviderUserInfo":{"providerId":"a.com","rawId":"\#(longName)"}}"#,
            "INVALID_PROFILE_ATTRIBUTE : rawId has more than 256 bytes."
        ),
        Case(
            .adminUpdate,
            #"{"localId":"ann","deleteAttribute":["SHOE_SIZE"]}"#,
            "Invalid JSON payload received. Invalid value at 'deleteAttribute' (TYPE_ENUM)."
        ),
        Case(
            .adminUpdate,
            #"{"localId":"ann","deleteAttribute":["RAW_USER_INFO"]}"#,
            "Deleting the attribute RAW_USER_INFO is not implemented.",
            501
        ),
        Case(
            .adminUpdate,
            #"{"localId":"ann","mfa":{"enrollments":[{"phoneInfo":"+1555"}]}}"#,
            "Multi-factor sign-in is not implemented.",
            501
        ),
        Case(
            .adminUpdate,
            #"{"localId":"ann","validSince":"-1"}"#,
            "Invalid JSON payload received. Invalid value at 'validSince' (TYPE_INT64)."
        ),
    ]

    static let deleting: [Case] = [
        Case(.adminDelete, "{}", "MISSING_LOCAL_ID"),
        Case(.adminDelete, #"{"localId":"eve"}"#, "USER_NOT_FOUND"),
        Case(.batchDelete, "{}", "LOCAL_ID_LIST_EXCEEDS_LIMIT"),
        Case(.batchDelete, #"{"localIds":[]}"#, "LOCAL_ID_LIST_EXCEEDS_LIMIT"),
        Case(
            .batchDelete,
            #"{"force":true,"localIds":[\#(uids(1001))]}"#,
            "LOCAL_ID_LIST_EXCEEDS_LIMIT"
        ),
        Case(
            .batchDelete,
            #"{"force":true,"localIds":["ann",{"a":1}]}"#,
            "Invalid JSON payload received. Invalid value at 'localIds' (TYPE_STRING)."
        ),
    ]

    static let others: [Case] = [
        Case(.adminLookup, #"{"localId":[\#(uids(1001))]}"#, "LOCAL_ID_LIST_EXCEEDS_LIMIT"),
        Case(
            .adminLookup,
            #"{"initialEmail":["a@b"]}"#,
            "Looking up by the first address is not implemented.",
            501
        ),
        Case(
            .batchGet,
            #"{"maxResults":-2}"#,
            "INVALID_PAGE_SELECTION : maxResults is below -1."
        ),
        Case(
            .batchGet,
            #"{"nextPageToken":"a\nb"}"#,
            "INVALID_PAGE_SELECTION : nextPageToken is none that was given."
        ),
        Case(.batchGet, #"{"tenantId":"t"}"#, "TENANT_NOT_FOUND"),
        Case(
            .query,
            #"{"offset":"10001"}"#,
            "INVALID_PAGE_SELECTION : limit must not be negative, offset is at most 10000."
        ),
        Case(
            .query,
            #"{"sortBy":"NAME"}"#,
            "Sorting by anything but USER_ID is not implemented.",
            501
        ),
        Case(
            .query,
            #"{"order":"SIDEWAYS"}"#,
            "Invalid JSON payload received. Invalid value at 'order': SIDEWAYS."
        ),
        Case(.createSessionCookie, "{}", "MISSING_ID_TOKEN"),
        Case(.createSessionCookie, #"{"idToken":"x"}"#, "INVALID_ID_TOKEN"),
        Case(.createSessionCookie, #"{"idToken":"x","validDuration":"299"}"#, "INVALID_DURATION"),
        Case(
            .createSessionCookie,
            #"{"idToken":"x","validDuration":1209601}"#,
            "INVALID_DURATION"
        ),
        Case(.tenants, #"{"displayName":"t"}"#, "A tenant is not implemented.", 501),
        Case(.providerConfigs, "{}", "A provider's configuration is not implemented.", 501),
        Case(
            .config,
            #"{"signIn":{"anonymous":{"enabled":false}}}"#,
            "INVALID_CONFIG : signIn.anonymous.enabled is a setting of the server: --sign-in."
        ),
        Case(
            .config,
            #"{"signIn":{"allowDuplicateEmails":true}}"#,
            "INVALID_CONFIG : signIn.allowDuplicateEmails is so on every Hearth server."
        ),
        Case(
            .config,
            #"{"quota":{"limit":1}}"#,
            "INVALID_CONFIG : quota.limit is nothing that this server has."
        ),
        Case(.batchCreate, "{}", "MISSING_USER_ACCOUNT"),
        Case(
            .batchCreate,
            #"{"users":[{"localId":"a"},{"localId":"a"}]}"#,
            "DUPLICATE_LOCAL_ID : a"
        ),
        Case(
            .batchCreate,
            #"{"sanityCheck":true,"users":[{"localId":"a","email":"x@y"},{"localId":"b","email":"X@y"}]}"#,
            "DUPLICATE_EMAIL : x@y"
        ),
        Case(
            .batchCreate,
            #"{"hashAlgorithm":"BCRYPT","users":[{"localId":"a"}]}"#,
            "INVALID_HASH_ALGORITHM : hashAlgorithm 'BCRYPT' is none of SCRYPT, STANDARD_SCRYPT, "
                + "HMAC_SHA512, HMAC_SHA256, HMAC_SHA1, HMAC_MD5, MD5, SHA1, SHA256, SHA512, PBKDF_SHA1, "
                + "PBKDF2_SHA256, ARGON2."
        ),
        Case(
            .batchCreate,
            #"{"hashAlgorithm":"SHA256","rounds":8193,"users":[{"localId":"a"}]}"#,
            "INVALID_HASH_ALGORITHM : rounds is 8193, not 0 to 8192."
        ),
        Case(
            .batchCreate,
            #"{"hashAlgorithm":"HMAC_SHA256","signerKey":"!","users":[{"localId":"a"}]}"#,
            "INVALID_HASH_ALGORITHM : signerKey is no base64."
        ),
        Case(
            .batchCreate,
            #"{"users":[\#(users(1001))]}"#,
            "Invalid JSON payload received. 'users' has 1001 entries, at most 1000 are taken."
        ),
    ]

    static func uids(_ count: Int) -> String {
        (0..<count).map { "\"u\($0)\"" }.joined(separator: ",")
    }

    static func users(_ count: Int) -> String {
        (0..<count).map { "{\"localId\":\"u\($0)\"}" }.joined(separator: ",")
    }
}
