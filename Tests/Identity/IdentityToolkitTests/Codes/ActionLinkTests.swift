import Accounts
import JSONTree
import Testing

@testable import IdentityToolkit

@Suite("links of emails and their page")
struct ActionLinkTests {
    @Test(
        "an address keeps its own parameters but for those that are given anew",
        arguments: [
            ("https://a.example", "https://a.example?oobCode=x%20%26"),
            ("https://a.example/p?q=1#f", "https://a.example/p?q=1&oobCode=x%20%26#f"),
            ("https://a.example/p?oobCode=old&q", "https://a.example/p?q&oobCode=x%20%26"),
            ("https://a.example/#a?b", "https://a.example/?oobCode=x%20%26#a?b"),
        ]
    )
    func adding(url: String, expected: String) {
        #expect(ActionLink.adding([("oobCode", "x &")], to: url) == expected)
    }

    @Test("every kind but that of phones has a mode of its own, by which it is found")
    func modes() {
        for kind in OneTimeCode.Kind.allCases {
            #expect(OneTimeCode.Kind(mode: kind.mode) == (kind == .phone ? nil : kind))
        }
        #expect(OneTimeCode.Kind(mode: nil) == nil)
        #expect(Set(OneTimeCode.Kind.allCases.map(\.mode)).count == 6)
    }

    @Test("text of strangers is text on the page, and nothing on it comes from elsewhere")
    func escaping() {
        let hostile = "\"><script>alert('1')</script>&"
        for kind in OneTimeCode.Kind.allCases {
            let form = ActionPageText.Form(
                kind: kind,
                secret: hostile,
                email: hostile,
                continueURL: hostile,
                passwordLength: 6,
                complaint: hostile
            )
            let html = ActionPageText.page(.form(form)).html
            #expect(!html.contains("<script") && !html.contains("\">alert"))
            #expect(html.contains("&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;"))
            #expect(!html.contains("http"))
            let done = ActionPageText.page(.done(kind, continueURL: hostile)).html
            #expect(!done.contains("<script"))
        }
    }

    @Test("a form is read as browsers write it")
    func form() throws {
        let body = "mode=resetPassword&newPassword=a+b%26%C3%A9%2B%&bad..name=1&empty=&mode2"
        let fields = try RequestFields(form: Array(body.utf8))
        #expect(try fields.text("mode") == "resetPassword")
        #expect(try fields.text("newPassword") == "a b&é+%")
        #expect(fields.body.childCount == 3)
        #expect(throws: IdentityError.self) { try RequestFields(form: Array("a=%ff".utf8)) }
        #expect(throws: IdentityError.self) {
            try RequestFields(form: Array("a=%00".utf8)).text("a")
        }
    }
}
