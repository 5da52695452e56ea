import JSONTree
import SecurityRules
import Testing

@Suite("what can be said of a write before it is read")
struct WriteOutlookTests {
    struct Case: Sendable, CustomStringConvertible {
        let write: String
        var signedIn = false
        var root = "null"
        let mayBeGranted: Bool

        var description: String { "\(write)\(signedIn ? ", signed in" : "")" }
    }

    static let cases = [
        Case(write: "false", mayBeGranted: false),
        Case(write: "true", mayBeGranted: true),
        Case(write: "'auth != null'", mayBeGranted: false),
        Case(write: "'auth != null'", signedIn: true, mayBeGranted: true),
        Case(write: "'auth != null && newData.exists()'", mayBeGranted: false),
        Case(write: "'newData.exists() && auth != null'", mayBeGranted: false),
        Case(write: "'newData.exists() || auth != null'", mayBeGranted: true),
        Case(write: "'newData.exists() && auth != null'", signedIn: true, mayBeGranted: true),
        Case(write: "'$k === auth.uid'", mayBeGranted: false),
        Case(write: "'$k === auth.uid'", signedIn: true, mayBeGranted: false),
        Case(write: "'auth.uid === $k || $k === \\\"x\\\"'", mayBeGranted: true),
        Case(write: "'newData.child(\\\"by\\\").val() === auth.uid'", mayBeGranted: true),
        Case(write: "'!newData.exists()'", mayBeGranted: true),
        Case(write: "'auth != null ? newData.exists() : false'", mayBeGranted: true),
        Case(write: "'data.val() === 1'", root: #"{"a":{"x":1}}"#, mayBeGranted: true),
        Case(write: "'data.val() === 1'", root: #"{"a":{"x":2}}"#, mayBeGranted: false),
        Case(write: "'root.child(\\\"open\\\").val() === true'", mayBeGranted: false),
        Case(
            write: "'root.child(\\\"open\\\").val() === true'",
            root: #"{"open":true}"#,
            mayBeGranted: true
        ),
        Case(write: "'auth.uid.length > 3 && newData.exists()'", mayBeGranted: false),
        Case(write: "'now > 4 && newData.exists()'", mayBeGranted: true),
        Case(write: "'now < 4 && newData.exists()'", mayBeGranted: false),
    ]

    private func request(_ outlook: Case) throws -> RulesRequest {
        var claims = Node.absent
        claims.set(Node(string: "ann"), at: try Path("uid"))
        return RulesRequest(
            root: try Node(json: outlook.root),
            auth: outlook.signedIn ? AuthVariable(claims) : nil,
            now: Timestamp(milliseconds: 5)
        )
    }

    private func ruleset(_ outlook: Case) throws -> Ruleset {
        let write = outlook.write.replacing("'", with: "\"")
        return try Ruleset.load("{\"rules\":{\"a\":{\"$k\":{\".write\":\(write)}}}}")
    }

    @Test("a refusal is foreseen when nothing that is unknown could change it", arguments: cases)
    func put(_ outlook: Case) throws {
        let rules = try ruleset(outlook)
        let request = try request(outlook)
        let found = rules.mayGrantWrite(at: try Path("a/x"), isUpdate: false, request)
        #expect(found == outlook.mayBeGranted)
        #expect(try !rules.mayGrantWrite(at: Path("a"), isUpdate: false, request))
        #expect(try !rules.mayGrantWrite(at: Path("b/x"), isUpdate: true, request))
    }

    @Test("of an update, rules below count too, for keys and data that are not known")
    func update() throws {
        func mayBeGranted(_ outlook: Case) throws -> Bool {
            try ruleset(outlook).mayGrantWrite(at: .root, isUpdate: true, try request(outlook))
        }
        #expect(try !mayBeGranted(Case(write: "'auth != null'", mayBeGranted: false)))
        #expect(try mayBeGranted(Case(write: "'auth != null'", signedIn: true, mayBeGranted: true)))
        #expect(try !mayBeGranted(Case(write: "'$k === auth.uid'", mayBeGranted: false)))
        #expect(try !mayBeGranted(Case(write: "'auth.uid === $k'", mayBeGranted: false)))
        #expect(
            try mayBeGranted(Case(write: "'$k === auth.uid'", signedIn: true, mayBeGranted: true))
        )
        #expect(try mayBeGranted(Case(write: "'data.val() === 1'", mayBeGranted: true)))
        #expect(try mayBeGranted(Case(write: "'!data.exists()'", mayBeGranted: true)))
        #expect(try !mayBeGranted(Case(write: "false", mayBeGranted: false)))
    }

    @Test("rules that take all steps are no reason to refuse")
    func steps() throws {
        let rules = try ruleset(Case(write: "'auth != null'", mayBeGranted: true))
        var request = try request(Case(write: "", mayBeGranted: true))
        request.stepLimit = 0
        #expect(rules.mayGrantWrite(at: try Path("a/x"), isUpdate: false, request))
    }
}
