import FileRules
import FileRulesTools
import Foundation
import JSONTree
import SecurityRules
import Testing

/// The requests and databases that the tables speak of, and the tables themselves.
enum RulesWorld {
    static let time = Timestamp(milliseconds: 1_700_000_000_123)

    static let ann = FileAuth(
        uid: "ann",
        claims: Array(
            #"{"admin":true,"age":30,"ratio":0.5,"groups":["dev","ops"],"none":null,"firebase":{"sign_in_provider":"password"}}"#
                .utf8
        )
    )

    static func databases() throws -> [String: Node] {
        [
            "": try Node(
                json:
                    #"{"users":{"ann":{"name":"Ann","age":30,"height":1.5,"ok":true}},"list":["a","b"]}"#
            ),
            "other": try Node(json: #"{"greeting":"hi"}"#),
        ]
    }

    static var photo: FileResource {
        var photo = FileResource(name: "p/x/y/z", bucket: "B", size: 1500)
        photo.contentType = "image/png"
        photo.generation = 7
        photo.timeCreated = Timestamp(milliseconds: 1_699_999_999_000)
        photo.metadata = ["owner": "ann", "stars": "5"]
        return photo
    }

    static func request(
        _ operation: FileOperation = .get,
        _ name: String = "p/x/y/z",
        auth: FileAuth? = ann,
        resource: FileResource? = photo,
        newResource: FileResource? = nil
    ) -> FileRulesRequest {
        FileRulesRequest(
            operation,
            bucket: "B",
            name: name,
            auth: auth,
            time: time,
            resource: resource,
            newResource: newResource
        )
    }

    /// Rules with one condition for `get`.
    static func rules(_ condition: String, functions: String = "") -> String {
        "rules_version = '2';\nservice firebase.storage { match /b/{bucket}/o { \(functions) match /p/{id}/{rest=**} {\n"
            + "allow get: if \(condition);\n}}}"
    }

    static func decide(_ text: String, _ request: FileRulesRequest) throws -> FileDecision {
        let databases = try databases()
        return try FileRuleset.load(text).decide(request, isRecorded: true) { name, path in
            databases[name ?? ""]?.descendant(at: path)
        }
    }

    /// The value of an expression as the table writes it.
    static func value(of expression: String) throws -> String {
        let decision = try decide(rules("debug(\(expression))"), request())
        let outcome = try #require(decision.candidates.first?.observations.first).outcome
        switch outcome {
        case .value(let text, _): return text
        case .error(let message): return "error: \(message)"
        }
    }

    static func spec(_ name: String) throws -> String {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Specs/\(name)"
        )
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// Lines `A -> B`; those that begin with # are remarks.
    static func rows(_ name: String) throws -> [Row] {
        try spec(name).split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let halves = line.components(separatedBy: " -> ")
            return Row(
                left: halves.dropLast().joined(separator: " -> "),
                right: halves[halves.count - 1]
            )
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let left: String
        let right: String
        var testDescription: String { left }
    }

    /// Blocks of a file: `=== TITLE`, a text, `---`, and what comes of it, a line each.
    struct Block: Sendable, CustomTestStringConvertible {
        let title: String
        let text: String
        let lines: [String]
        var testDescription: String { title }
    }

    static func blocks(_ name: String) throws -> [Block] {
        try ("\n" + spec(name)).components(separatedBy: "\n=== ").dropFirst().map { part in
            let halves = part.components(separatedBy: "\n---\n")
            let head = halves[0].components(separatedBy: "\n")
            let lines = halves.dropFirst().joined(separator: "\n---\n").components(
                separatedBy: "\n"
            )
            return Block(
                title: head[0],
                text: head.dropFirst().joined(separator: "\n"),
                lines: lines.reversed().drop { $0.isEmpty }.reversed()
            )
        }
    }
}
