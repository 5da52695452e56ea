import Foundation
import IdentityToolkit
import JSONTree
import TestSupport
import Testing

@testable import DatabaseServer
@testable import Transport

@Suite("the table of routes")
struct RouteTableTests {
    @Test(
        "an address means a place or a setting",
        arguments: [
            (["a", "b.json"], "/a/b"), ([".json"], "/"), (["a", ".json"], "/a"),
            (["a", ".priority.json"], "/a/.priority"), (["a", ".value.json"], "/a"),
            ([".priority.json"], "/.priority"), (["a", "json"], "/{address...}"),
            (["a"], "/{address...}"), ([], "/"), (["a.b.json"], "impossible"),
            (["x.json.json"], "impossible"), (["a/b.json"], "impossible"),
            (["a", ".priority", "b.json"], "impossible"), (["a.b", ".upload"], "impossible"),
            (["a", ".upload"], "/{path}/.upload"), (["functions", "x.json"], "/functions/x"),
            ([".settings", "rules.json"], "/.settings/rules.json"),
            ([".settings", "rulesets", "-N.json"], "/.settings/rulesets/{id}.json"),
            ([".settings", "rules_check.json"], "/.settings/rules_check.json"),
            ([".settings", "rules_history", "7.json"], "/.settings/rules_history/{number}.json"),
            ([".settings", "rules_history", "x.json"], "impossible"),
            ([".settings", "other.json"], "impossible"), ([".settings"], "impossible"),
            ([".inspect", "x"], "impossible"), ([".accounts", "x"], "impossible"),
            ([".health"], "/{address...}"), ([".health", "x.json"], "impossible"),
            (["v1", "accounts:nothing"], "identity:unknown"),
        ]
    )
    func meaning(segments: [String], meaning: String) {
        let (route, place) = RouteTable.shared.match(segments)
        switch place {
        case .target(let target) where route.pattern == RouteTable.data.pattern:
            #expect(target.description == meaning)
        case .impossible: #expect(meaning == "impossible")
        case .none, .name, .target, .identity: #expect(route.pattern == meaning)
        }
    }

    @Test("each row is reached by its own address, and has a method", arguments: RouteTable.rows)
    func reached(row: Route) {
        let address = row.pattern.replacing("{number}", with: "7").replacing(
            /[{}]|\.\.\./,
            with: ""
        )
        let segments = address.split(separator: "/").map(String.init)
        #expect(RouteTable.shared.match(segments).route.pattern == row.pattern)
        #expect(!row.methods.all.isEmpty)
    }

    @Test("no two rows have the same address")
    func distinct() {
        #expect(Set(RouteTable.rows.map(\.pattern)).count == RouteTable.rows.count)
    }

    @Test(
        "each identity request has a row with its methods and its audience",
        arguments: [
            ("v1/accounts:signUp", "POST", Route.Audience.clients),
            ("identitytoolkit.googleapis.com/v1/accounts:lookup", "POST", .clients),
            ("securetoken.googleapis.com/v1/token", "POST", .clients),
            ("v1/projects/p/accounts", "POST", .administrators),
            ("v2/projects/p/config", "GET, PATCH", .administrators),
            ("emulator/v1/projects/p/accounts", "DELETE", .development),
            (".accounts/action", "GET, HEAD, POST", .everybody),
        ]
    )
    func identity(address: String, methods: String, audience: Route.Audience) {
        let route = RouteTable.shared.match(address.split(separator: "/").map(String.init)).route
        #expect(route.methods.text == methods)
        #expect(route.audience == audience)
        guard case .identity = route.body else {
            Issue.record("\(address) is no identity request")
            return
        }
    }

    @Test("a method that no row lists is refused, unless the function refuses it itself")
    func methods() {
        #expect(RouteTable.data.methods.admit(.patch))
        #expect(!RouteTable.data.methods.admit(nil))
        #expect(RouteTable.unknown.methods.admit(.delete))
        let allow = RouteTable.data.methods.notAllowed.headers.last
        #expect(allow?.value == "GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS")
        #expect(allow?.value == RouteTable.data.methods.preflight.headers.last?.value)
    }

    // MARK: - The page

    private static let begin = "<!-- The rows of RouteTable.swift; `make routes` writes them. -->\n"
    private static let end = "<!-- The end of the rows. -->"

    private static var table: String {
        let rows = RouteTable.rows.map { row in
            let methods = row.methods.all.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            return "| `\(row.pattern)` | \(methods) | \(row.audience.rawValue) |\n"
        }
        return "\n| address | methods | who |\n| --- | --- | --- |\n\(rows.joined())\n"
    }

    @Test("docs/reference/REST.md lists every row")
    func page() throws {
        let file = "\(Checkout.path)/docs/reference/REST.md"
        let page = try String(contentsOfFile: file, encoding: .utf8)
        let begin = try #require(page.range(of: Self.begin)).upperBound
        let end = try #require(page.range(of: Self.end)).lowerBound
        if ProcessInfo.processInfo.environment["UPDATE_SPECS"] == "1" {
            let text = page[..<begin] + Self.table + page[end...]
            try String(text).write(toFile: file, atomically: true, encoding: .utf8)
        } else {
            #expect(page[begin..<end] == Self.table)
        }
    }
}
