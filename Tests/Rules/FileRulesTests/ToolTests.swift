import FileRules
import FileRulesTools
import Foundation
import JSONTree
import SecurityRules
import Testing

@Suite("tools for file rules")
struct ToolTests {
    private static let rules = """
        rules_version = '2';
        service firebase.storage {
          match /b/{bucket}/o {
            function own(uid) {
              let signedIn = request.auth != null;
              return signedIn && request.auth.uid == uid;
            }
            match /users/{uid}/{file} {
              allow read: if own(uid) || resource.metadata.get('public', '') == 'yes';
              allow create: if own(uid) && request.resource.size < 10 && request.resource.contentType in ['a/b', 'c/d'];
            }
            match /never/{file} { allow delete: if own(file); }
          }
        }
        """

    private static func request(
        _ operation: FileOperation,
        auth: FileAuth? = FileAuth(uid: "ann"),
        resource: FileResource? = nil,
        newResource: FileResource? = nil
    ) -> FileRulesRequest {
        FileRulesRequest(
            operation,
            bucket: "B",
            name: "users/ann/a.png",
            auth: auth,
            time: RulesWorld.time,
            resource: resource,
            newResource: newResource
        )
    }

    private func explain(_ request: FileRulesRequest, _ text: String = rules) throws -> String {
        let rules = try FileRuleset.load(text)
        let databases = try RulesWorld.databases()
        let decision = rules.decide(request, isRecorded: true) { name, path in
            databases[name ?? ""]?.descendant(at: path)
        }
        return FileExplanation.text(of: decision, for: request, under: rules)
    }

    @Test("an explanation of a refusal shows what decided, with the values of its parts")
    func refused() throws {
        var photo = FileResource(name: "users/ann/a.png", bucket: "B", size: 12)
        photo.contentType = "a/b"
        let text = try explain(Self.request(.create, newResource: photo))
        #expect(
            text == """
                create users/ann/a.png of bucket B refused: no allow of create is true.

                allow create of /b/{bucket}/o/users/{uid}/{file} (rules 10:7) is false, with bucket = "B", uid = "ann", file = "a.png":
                    own(uid) && request.resource.size < 10 && request.resource.contentType in ['a/b', 'c/d']
                  because
                    request.resource.size < 10 is false
                      request.resource.size is 12

                asked by "ann": {}
                """
        )
    }

    @Test("an explanation goes into functions, and names errors and what was read")
    func errors() throws {
        let text = try explain(Self.request(.get, auth: nil))
        #expect(
            text == """
                get users/ann/a.png of bucket B refused: no allow of get is true.

                allow read of /b/{bucket}/o/users/{uid}/{file} (rules 9:7) failed at 9:34, with bucket = "B", uid = "ann", file = "a.png":
                    own(uid) || resource.metadata.get('public', '') == 'yes'
                  error: null has no members, so there is no .metadata.
                  because
                    own(uid) is false
                      uid is "ann"
                      request.auth != null is false
                        request.auth is null
                      signedIn is false
                    resource.metadata failed: null has no members, so there is no .metadata.
                      resource is null

                asked by a signed-out caller: request.auth is null
                """
        )
        let looked = try explain(
            RulesWorld.request(),
            RulesWorld.rules("database.get(/users/$(request.auth.uid)/age) > debug(40)")
        )
        #expect(looked.contains("database.get(/users/$(request.auth.uid)/age) is 30"))
        #expect(looked.contains("read /users/ann/age of the bucket's database\ndebug 3:"))
    }

    @Test("an explanation of what is allowed shows the operand that was enough")
    func allowed() throws {
        let text = try explain(Self.request(.get))
        #expect(
            text.hasPrefix(
                "get users/ann/a.png of bucket B allowed: allow read of /b/{bucket}/o/users/{uid}/{file} (rules 9:7) is true.\n"
            )
        )
        #expect(text.contains("own(uid) is true"))
        #expect(!text.contains("'yes' is"))
    }

    @Test("an explanation says where nothing matches, and where the budget ended")
    func sentences() throws {
        #expect(
            try explain(Self.request(.get), RulesWorld.rules("true")).hasPrefix(
                "get users/ann/a.png of bucket B refused: no allow of get matches the path."
            )
        )
        let long = Array(repeating: "true", count: 10_001).joined(separator: "&&")
        let text = try explain(RulesWorld.request(), RulesWorld.rules(long))
        #expect(text.contains("refused: The request takes more than 10000 expressions"))
        #expect(text.utf8.count < 20_000)
    }

    @Test("a decision as JSON has each allow with the values of its expressions")
    func json() throws {
        let rules = try FileRuleset.load(RulesWorld.rules("id == 'x' && 1 / 0 == 1"))
        let decision = rules.decide(RulesWorld.request(), isRecorded: true)
        let text = String(decoding: decision.json(under: rules).text, as: UTF8.self)
        #expect(
            text
                == #"{"allowed":false,"allow":null,"trace":[{"pattern":"/b/{bucket}/o/p/{id}/{rest=**}","words":"get","line":3,"column":1,"#
                + #""condition":"id == 'x' && 1 / 0 == 1","bindings":{"bucket":"\"B\"","id":"\"x\"","rest":"/y/z"},"result":"error","#
                + #""error":{"message":"Division by zero.","line":3,"column":28},"values":["#
                + #"{"text":"id == 'x' && 1 / 0 == 1","line":3,"column":15,"depth":0,"error":"Division by zero."},"#
                + #"{"text":"id == 'x'","line":3,"column":15,"depth":1,"value":"true"},{"text":"id","line":3,"column":15,"depth":2,"value":"\"x\""},"#
                + #"{"text":"1 / 0 == 1","line":3,"column":28,"depth":1,"error":"Division by zero."},"#
                + #"{"text":"1 / 0","line":3,"column":28,"depth":2,"error":"Division by zero."}]}],"lookups":[],"debug":[]}"#
        )
    }

    // MARK: Cases and coverage

    private static let cases = #"""
        {"service":"files","bucket":"B","auth":{"uid":"ann"},"data":{"a":1},"cases":[
          {"name":"own file","op":"get","path":"users/ann/a","expect":"allow","decidedBy":"read /b/{bucket}/o/users/{uid}/{file}"},
          {"name":"another's","op":"get","path":"users/bob/a","resource":{"size":1},"expect":"deny","decidedBy":null},
          {"name":"public","op":"get","path":"users/bob/a","auth":null,"resource":{"metadata":{"public":"yes"}},"expect":"allow"},
          {"name":"an error","op":"get","path":"users/bob/a","expect":"deny","error":"null has no members, so there is no .metadata."},
          {"name":"an upload","op":"create","path":"users/ann/a","newResource":{"size":9,"contentType":"a/b"},"expect":"allow"},
          {"name":"rules of its own","op":"get","path":"x","rules":"service","expect":"invalid-rules","errors":["1:8: The service is firebase.storage.","1:8: Expected '{' behind the service, got the end of the text."]},
          {"name":"wrong","op":"get","path":"users/ann/a","expect":"deny","why":"it fails"}
        ]}
        """#

    @Test("a file of cases runs, and says what came otherwise")
    func caseFile() throws {
        let text = Array(Self.cases.utf8)
        #expect(FileCaseFile.isMeant(text))
        #expect(!FileCaseFile.isMeant(Array("[]".utf8)))
        let file = try FileCaseFile.read(text)
        #expect(file.position(of: file.cases[1]) == (3, 3))
        let rules = try FileRuleset.load(Self.rules)
        let (outcomes, coverage) = file.run(under: .success(rules))
        #expect(outcomes.map(\.problems) == [[], [], [], [], [], [], ["expected deny, got allow"]])
        #expect(outcomes[6].explanation?.hasPrefix("get users/ann/a of bucket B allowed") == true)
        #expect(
            coverage?.line
                == "coverage: 2 of 3 allows tried, 25 of 27 sub-expressions evaluated; never: delete /b/{bucket}/o/never/{file} (12:27)"
        )
        #expect(
            coverage?.listing == """
                  line  times   true  false  error
                     9      5      3      1      1  allow read of /b/{bucket}/o/users/{uid}/{file}
                    10      1      1      -      -  allow create of /b/{bucket}/o/users/{uid}/{file}
                  10:24: own(uid) && request.resource.size < 10 && request.resource.contentType in ['a/b', 'c/d'] was never false
                  10:24: own(uid) was never false
                  10:36: request.resource.size < 10 was never false
                  10:66: request.resource.contentType in ['a/b', 'c/d'] was never false
                    12      -      -      -      -  allow delete of /b/{bucket}/o/never/{file}
                  12:44: own(file) was never evaluated

                """
        )
    }

    @Test(
        "a file of cases that cannot be read names each fault with its place",
        arguments: [
            (
                #"{"cases":[{"name":"a","op":"put","path":"x","expect":"allow"}]}"#,
                ["1:28: 'op' must be one of get, list, create, update, delete."]
            ),
            (
                #"{"cases":[{"name":"a","op":"get","pth":"x","expect":"allow"},{}]}"#,
                [
                    "1:34: Unknown member 'pth' in a case.",
                    "1:62: 'name' is missing; it says in a few words what must hold.",
                ]
            ),
            (
                #"{"cases":[{"name":"a","op":"get","path":"x","newResource":{},"expect":"allow"}]}"#,
                ["1:59: 'newResource' has no meaning for get."]
            ),
            (
                #"{"cases":[{"name":"a","op":"get","path":"x","resource":{"size":"1"},"expect":"allow"}]}"#,
                ["1:64: 'size' must be a whole number."]
            ),
            (
                #"{"auth":{"uid":"a","claims":{}},"cases":[]}"#,
                ["1:20: Unknown member 'claims' in 'auth'."]
            ),
            (#"[1"#, ["1:3: The file of cases is no JSON: the text ends too early."]),
        ]
    )
    func badCaseFile(_ text: String, _ faults: [String]) {
        do throws(RulesError) {
            _ = try FileCaseFile.read(Array(text.utf8))
            Issue.record("the file is read")
        } catch {
            #expect(error.faults.map(\.description) == faults)
        }
    }
}
