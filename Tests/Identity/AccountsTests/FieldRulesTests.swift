import JSONTree
import Testing
import Tokens

@testable import Accounts

@Suite("rules for the fields of accounts")
struct FieldRulesTests {
    @Test(
        "an address has one spelling",
        arguments: [
            ("ann@example.com", "ann@example.com"),
            ("Ann.Lee+x@EXAMPLE.Com", "ann.lee+x@example.com"),
            ("ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ", "ann@example.com"),
            ("ann@example。com", "ann@example.com"),
            ("\u{212A}ay@example.com", "kay@example.com"),
            ("e\u{301}va@example.com", "\u{E9}va@example.com"),
            ("\u{C9}va@example.com", "\u{E9}va@example.com"),
            ("ж@пример.рф", "ж@пример.рф"),
            ("ann@xn--e1afmkfd.xn--p1ai", "ann@xn--e1afmkfd.xn--p1ai"),
            ("ann@B\u{FC}cher.example", "ann@b\u{FC}cher.example"),
            ("stra\u{DF}e@example.com", "stra\u{DF}e@example.com"),
            ("田中@例え.jp", "田中@例え.jp"),
            ("देव@example.com", "देव@example.com"),
            ("a@b", "a@b"),
            ("user!#$%&'*/=?^_`{|}~@example.com", "user!#$%&'*/=?^_`{|}~@example.com"),
            (
                String(repeating: "a", count: 242) + "@example.com",
                String(repeating: "a", count: 242) + "@example.com"
            ),
        ]
    )
    func addresses(text: String, spelling: String) throws {
        let normalized = try #require(EmailAddress.normalized(text))
        #expect(Array(normalized.utf8) == Array(spelling.utf8))
        // What is normalised stays as it is.
        #expect(EmailAddress.normalized(normalized).map { Array($0.utf8) } == Array(spelling.utf8))
    }

    @Test(
        "what is no address, or could be taken for another, is refused",
        arguments: [
            "", "ann", "@example.com", "ann@", "ann@@example.com", "a@b@example.com",
            "ann＠bob@example.com", "ann lee@example.com", "ann@exam ple.com", "ann@example.com ",
            "ann\n@example.com", "ann\r\nBcc: bob@example.com", "ann\u{0}@example.com",
            "ann\u{7F}@example.com", "ann\u{85}@example.com", "ann\u{A0}@example.com",
            "an\u{200B}n@example.com", "an\u{200D}n@example.com", "an\u{AD}n@example.com",
            "\u{202E}ann@example.com", "ann\u{2066}@example.com", "\u{FEFF}ann@example.com",
            "ann\u{FE0F}@example.com", "ann\u{3164}@example.com", "ann\u{E0041}@example.com",
            "\u{430}nn@example.com", "ann@ex\u{430}mple.com", "b\u{3BF}b@example.com",
            "\u{561}nn@example.com",
            "\u{FB01}n@example.com", "\u{2460}@example.com", "\u{1D41A}nn@example.com",
            "\u{17F}am@example.com", "ann@example.com/x", "ann@a:8080", "ann@a,bob@b",
            "\"ann\"@example.com", "<ann@example.com>", "ann;bob@example.com", "ann@.example.com",
            "ann@example..com", "ann@example.com.", "ann@[127.0.0.1]", "😀@example.com",
            String(repeating: "a", count: 243) + "@example.com",
            String(repeating: "\u{E9}", count: 122) + "@example.com",
            String(repeating: "a", count: 100_000),
        ]
    )
    func noAddresses(text: String) {
        #expect(EmailAddress.normalized(text) == nil)
    }

    @Test(
        "a number is a plus sign and digits",
        arguments: [
            ("+15555550100", "+15555550100"), ("+1 (555) 555-0100", "+15555550100"),
            ("+49.30.123", "+4930123"), ("+123456789012345", "+123456789012345"),
            ("+1234", "+1234"), ("15555550100", nil), ("+0155555501", nil), ("+123", nil),
            ("+1234567890123456", nil), ("+1555x55501", nil), ("++15555550100", nil),
            ("", nil), ("+", nil), ("+\u{661}\u{662}\u{663}\u{664}\u{665}", nil),
            ("+1555\u{0}5550100", nil), ("+1555\n5550100", nil),
            ("+1" + String(repeating: " ", count: 100) + "5555550100", nil),
        ] as [(String, String?)]
    )
    func phones(text: String, number: String?) {
        #expect(PhoneNumber.normalized(text) == number)
    }

    @Test(
        "a uid has 1 to 128 characters, none of them a control",
        arguments: [
            ("a", true), ("A.b/c#d$[e]", true), ("日本", true), ("%41", true), ("\u{E9}", true),
            (String(repeating: "x", count: 128), true), ("", false), ("a\u{0}", false),
            ("a\u{7F}", false), ("a\nb", false), ("\u{85}", false), ("e\u{301}", false),
            (String(repeating: "x", count: 129), false),
        ]
    )
    func uids(text: String, isOne: Bool) {
        #expect(UserID.isValid(text) == isOne)
    }

    @Test(
        "claims are the members of an object, whatever their values",
        arguments: [
            ("{}", []), (#" { "a" : [ 1, {} ] , "b":null}"#, ["a", "b"]),
            (#"{"a":1,"b":2,"a":"x"}"#, ["a", "b", "a"]), (#"{"\u0061":true}"#, ["a"]),
        ]
    )
    func claims(text: String, names: [String]) throws {
        #expect(try CustomClaims.names(of: text) == names)
    }

    @Test(
        "other texts are no claims",
        arguments: [
            ("", .notAnObject), ("1", .notAnObject), ("[]", .notAnObject), ("null", .notAnObject),
            ("{", .notAnObject), ("{}x", .notAnObject), (#"{"a":}"#, .notAnObject),
            (#"{"sub":"x"}"#, .reserved(name: "sub")),
            (#"{"a":1,"iss":1}"#, .reserved(name: "iss")),
            (#"{"\u0073ub":"x"}"#, .reserved(name: "sub")),
            ("{\"a\":\"\(String(repeating: "x", count: 993))\"}", .tooLarge(length: 1001)),
            (String(repeating: "[", count: 1000), .notAnObject),
        ] as [(String, CustomClaims.Refusal)]
    )
    func noClaims(text: String, refusal: CustomClaims.Refusal) {
        #expect(throws: refusal) { try CustomClaims.names(of: text) }
    }

    @Test("claims of 1,000 characters are taken, whatever their bytes")
    func longClaims() throws {
        let text = "{\"a\":\"\(String(repeating: "é", count: 992))\"}"
        #expect(try CustomClaims.names(of: text).count == 1)
    }

    @Test("every reserved name is refused", arguments: ReservedClaims.names)
    func reserved(name: String) {
        #expect(throws: CustomClaims.Refusal.reserved(name: name)) {
            try CustomClaims.names(of: "{\"\(name)\":1}")
        }
    }

    @Test("a revocation moves to a second that no token has yet")
    func revocation() {
        var account = Account(uid: "ann", createdAt: Timestamp(milliseconds: 10_000))
        #expect(account.validSince == 10)
        account.revoke(at: Timestamp(milliseconds: 10_000))
        #expect(account.validSince == 11)
        account.revoke(at: Timestamp(milliseconds: 10_400))
        #expect(account.validSince == 12)
        account.revoke(at: Timestamp(milliseconds: 20_999))
        #expect(account.validSince == 21)
        account.setValidSince(20, at: Timestamp(milliseconds: 20_999))
        #expect(account.validSince == 22)
        account.setValidSince(1_000_000, at: Timestamp(milliseconds: 30_000))
        #expect(account.validSince == 31)
        account.setValidSince(7, at: Timestamp(milliseconds: 30_000))
        #expect(account.validSince == 31)
        account.setValidSince(35, at: Timestamp(milliseconds: 40_000))
        #expect(account.validSince == 35)
        // Sent in the second 50, and four seconds under way.
        account.setValidSince(50, at: Timestamp(milliseconds: 54_999))
        #expect(account.validSince == 55)
    }
}
