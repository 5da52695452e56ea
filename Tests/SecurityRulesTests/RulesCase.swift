import Foundation
import JSONTree
import Queries
import SecurityRules
import Testing

/// One case of a `Specs/*-cases.json` file: rules, data and a request, and what must come of it.
///
///     {"name", "rules": <object, or text as a string>, "data", "auth", "now"?, "op": "read|write|update|query",
///      "path", "value"?, "query"?, "expect": "allow|deny|invalid-rules", "why",
///      "decidedBy"?: "write /a/$b" | null, "error"?: <message of the deciding rule>, "errors"?: [<line:column: message>]}
struct RulesCase: Sendable, CustomTestStringConvertible {
    /// Each member's raw JSON text.
    private let members: [String: [UInt8]]

    let name: String

    var testDescription: String { name }

    /// Reads a file beside the tests: an array of cases.
    static func load(_ file: String) throws -> [RulesCase] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return try load(folder.appending(path: "Specs/\(file)"))
    }

    /// Reads the cases of every sample under `rules/`, each with the rules file beside it.
    static func loadSamples() throws -> [RulesCase] {
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let folder = package.appending(path: "rules")
        let suffix = ".cases.json"
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        return try files.filter { $0.hasSuffix(suffix) }.sorted().flatMap { file in
            let rules = folder.appending(path: file.dropLast(suffix.count) + ".json")
            let text = try [UInt8](Data(contentsOf: rules))
            return try load(folder.appending(path: file), rules: text)
        }
    }

    private static func load(_ file: URL, rules: [UInt8]? = nil) throws -> [RulesCase] {
        let bytes = try [UInt8](Data(contentsOf: file))
        return try bytes.withBytes { (text) throws(JSONError) in
            var scanner = JSONScanner(text)
            var cases: [RulesCase] = []
            try scanner.enterArray()
            while try scanner.nextElement() {
                try scanner.enterObject()
                var members: [String: [UInt8]] = [:]
                members["rules"] = rules
                while let key = try scanner.nextMember() {
                    members[key] = Array(text.slice(try scanner.skipValue()))
                }
                cases.append(try RulesCase(members))
            }
            return cases
        }
    }

    private init(_ members: [String: [UInt8]]) throws(JSONError) {
        self.members = members
        name = try Node(json: members["name"] ?? []).string ?? ""
    }

    func has(_ key: String) -> Bool { members[key] != nil }

    func node(_ key: String) throws -> Node { try Node(json: members[key] ?? Array("null".utf8)) }

    func string(_ key: String) throws -> String? { try node(key).string }

    /// The rules as text: an object as it stands in the file, a string as what it says.
    var rulesText: String {
        get throws {
            let raw = try #require(members["rules"])
            return try raw.first == UInt8(ascii: "\"")
                ? #require(node("rules").string) : String(decoding: raw, as: UTF8.self)
        }
    }

    /// The elements of an array of strings.
    func strings(_ key: String) throws -> [String] {
        var strings: [String] = []
        try node(key).visitChildren { _, child in
            strings.append(child.string ?? "")
            return true
        }
        return strings
    }

    /// The request, ready for `simulate`.
    func operation() throws -> SimulatedOperation {
        let path = try #require(try string("path"))
        switch try string("op") {
        case "read": return .read(try Path(path), query: nil)
        case "query": return .read(try Path(path), query: try query())
        case "write":
            let draft = try Draft(json: members["value"] ?? Array("null".utf8))
            return .write(try WriteTarget(path), draft)
        case "update": return .update(base: try Path(path), try entries(below: path))
        default: throw CaseError.unknownOperation
        }
    }

    func request() throws -> RulesRequest {
        let auth = members["auth"] ?? Array("null".utf8)
        let claims = try auth.withBytes { (text) throws(JSONError) in
            var scanner = JSONScanner(text)
            return try scanner.readNode(anyKeys: true)
        }
        let isSignedIn = auth != Array("null".utf8)
        return RulesRequest(
            root: try node("data"),
            auth: isSignedIn ? AuthVariable(claims) : nil,
            now: Timestamp(milliseconds: try node("now").integer ?? 1_700_000_000_000)
        )
    }

    private enum CaseError: Error {
        case unknownOperation, unknownQueryParameter(String)
    }

    private func entries(
        below base: String
    ) throws -> [(target: WriteTarget, draft: Draft)] {
        let value = try #require(members["value"])
        var drafts: [(String, Draft)] = []
        try value.withBytes { (text) throws(JSONError) in
            var scanner = JSONScanner(text)
            try scanner.enterObject()
            while let key = try scanner.nextMember() {
                drafts.append((key, try scanner.readDraft()))
            }
        }
        return try drafts.map { (try WriteTarget(base + "/" + $0.0), $0.1) }
    }

    private func query() throws -> QuerySpec {
        var index = QuerySpec.Index.priority
        var (start, end): (QuerySpec.Bound?, QuerySpec.Bound?)
        var limit: (count: Int, side: QuerySpec.Side)?
        var unknown: String?
        var childPath: String?
        try node("query").visitChildren { key, value in
            let bound = QuerySpec.Bound(value: value)
            switch key.string {
            case "orderByKey": index = .key
            case "orderByValue": index = .value
            case "orderByPriority": index = .priority
            case "orderByChild": childPath = value.string
            case "startAt": start = bound
            case "startAfter": start = QuerySpec.Bound(value: value, isInclusive: false)
            case "endAt": end = bound
            case "equalTo": (start, end) = (bound, bound)
            case "limitToFirst": limit = (Int(value.integer ?? 0), .first)
            case "limitToLast": limit = (Int(value.integer ?? 0), .last)
            case let other: unknown = other
            }
            return true
        }
        if let unknown { throw CaseError.unknownQueryParameter(unknown) }
        if let childPath { index = .child(try Path(childPath)) }
        return QuerySpec(
            index: index,
            start: start,
            end: end,
            limit: limit?.count,
            side: limit?.side ?? .first
        )
    }
}
