import JSONTree
import Testing
import Tokens

@testable import IdentityToolkit

/// Faults of tokens, for tables of tests.
enum TokenErrorCase: CaseIterable {
    case unknownKey, badSignature, expired, wrongAudience, partCount

    var error: TokenError {
        switch self {
        case .unknownKey: .unknownKey("k")
        case .badSignature: .badSignature
        case .expired: .expired(at: Timestamp(milliseconds: 0))
        case .wrongAudience: .wrongAudience
        case .partCount: .partCount(2)
        }
    }
}

@Suite("fields of identity requests")
struct RequestFieldsTests {
    @Test(
        "are texts however they are written",
        arguments: [
            (#"{"idToken":"a"}"#, "a"),
            (#"{"id_token":"a"}"#, "a"),
            (#"{"idToken":17}"#, "17"),
            (#"{"idToken":1.5}"#, "1.5"),
            (#" {"idToken":"\u00e4", "unknown":[{"x":null}]}"#, "ä"),
            (#"{"idToken":null,"id_token":"b"}"#, "b"),
            (#"{"idToken":""}"#, ""),
        ]
    )
    func texts(json: String, text: String) throws {
        let fields = try RequestFields(Array(json.utf8), contentType: "application/json")
        #expect(try fields.text("idToken") == text)
    }

    @Test(
        "are not there when they are null, empty lists or empty objects",
        arguments: ["", "{}", #"{"idToken":null}"#, #"{"idToken":{}}"#, #"{"idToken":[]}"#]
    )
    func absent(json: String) throws {
        let fields = try RequestFields(Array(json.utf8), contentType: nil)
        #expect(try fields.text("idToken") == nil)
    }

    @Test(
        "bodies that are none are refused",
        arguments: ["[]", "17", "null", "\"x\"", "{", "{]", "{\"a\":1}x", "\u{feff}{}", "a=b"]
    )
    func refused(json: String) {
        let error = #expect(throws: IdentityError.self) {
            try RequestFields(Array(json.utf8), contentType: "application/json")
        }
        #expect(error?.message.hasPrefix("Invalid JSON payload received. ") == true)
        #expect(error?.status == 400)
        #expect(error?.statusName == "INVALID_ARGUMENT")
    }

    @Test("a form is read as one, and JSON that is said to be one as JSON")
    func forms() throws {
        let form = "application/x-www-form-urlencoded; charset=utf-8"
        for body in [
            "grant_type=refresh_token&refresh_token=a%2Bb+c",
            #"  {"grantType":"refresh_token","refreshToken":"a+b c"}"#,
        ] {
            let fields = try RequestFields(Array(body.utf8), contentType: form)
            #expect(try fields.text("grantType") == "refresh_token")
            #expect(try fields.text("refreshToken") == "a+b c")
        }
        let nul = try RequestFields(Array("refresh_token=a%00".utf8), contentType: form)
        #expect(throws: IdentityError.self) { try nul.text("refreshToken") }
        #expect(throws: IdentityError.self) {
            try RequestFields(Array("refresh_token=%ff".utf8), contentType: form)
        }
    }
}

@Suite("rules for passwords")
struct PasswordRulesTests {
    private static let all = Set(IdentityPolicy.CharacterKind.allCases)

    @Test(
        "say what a password lacks",
        arguments: [
            ("12345", [], "WEAK_PASSWORD : Password should be at least 6 characters"),
            ("", [], "WEAK_PASSWORD : Password should be at least 6 characters"),
            ("123456", [], nil),
            ("äöüäöü", [], nil),
            ("👍👍👍👍👍", [], "WEAK_PASSWORD : Password should be at least 6 characters"),
            (
                "123456", [.uppercase],
                "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: [Password must contain an upper case character]"
            ),
            (
                "÷÷÷÷÷÷", all,
                "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: [Password must contain a lower case character, Password must contain an upper case character, Password must contain a numeric character, Password must contain a non-alphanumeric character]"
            ),
            ("aA1!aA", all, nil),
            (
                String(repeating: "a", count: 4097), [],
                "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: [Password may contain at most 4096 characters]"
            ),
        ] as [(String, Set<IdentityPolicy.CharacterKind>, String?)]
    )
    func rules(password: String, required: Set<IdentityPolicy.CharacterKind>, message: String?) {
        var rules = IdentityPolicy.PasswordRules()
        rules.required = required
        var fault: String?
        do throws(IdentityError) { try rules.check(password) } catch { fault = error.message }
        #expect(fault == message)
    }

    @Test("a longer password can be asked for")
    func length() {
        var rules = IdentityPolicy.PasswordRules()
        rules.lengths = 12...4096
        let error = #expect(throws: IdentityError.self) { try rules.check("elevenchars") }
        #expect(error?.message == "WEAK_PASSWORD : Password should be at least 12 characters")
    }
}
