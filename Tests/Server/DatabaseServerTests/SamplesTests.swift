import RulesTools
import SecurityRules
import TestSupport
import Testing
import Transport

@testable import DatabaseServer

@Suite("the sample pages")
struct SamplesTests {
    private func configuration(
        _ flags: [Setting: [String]]
    ) throws(ConfigurationFaults) -> Configuration {
        let all = flags.merging([.dev: ["true"], .samples: ["true"]]) { one, _ in one }
        return try Configuration.read([
            Setting.layer(commandLine: all.mapValues(Optional.some))
        ])
    }

    @Test("bring their databases, beside those that are named")
    func databases() throws {
        let alone = try configuration([:])
        #expect(alone.servesSamples)
        #expect(alone.databases.map(\.name.text) == ["default", "social", "party"])
        #expect(alone.selection.standard.text == "default")
        #expect(alone.sampleDatabases == [.social, .party])
        let beside = try configuration([.database: ["mine", "party"]])
        #expect(beside.databases.map(\.name.text) == ["mine", "party", "social"])
        #expect(beside.sampleDatabases == [.social, .party])
    }

    @Test("are shown by an address that a phone finds, when the server listens on every address")
    func address() throws {
        let hosts = ["192.168.1.5", "10.0.0.7"]
        func shown(_ flags: [Setting: [String]], _ hosts: [String]) throws -> Substring? {
            let line = ReadyLine(try configuration(flags), port: 9000, networkHosts: hosts).text
            return line.split(separator: " samples=").last
        }
        let all = [Setting.host: ["0.0.0.0"], .devExposed: ["true"]]
        #expect(try shown(all, hosts) == "http://192.168.1.5:9000/.samples/")
        #expect(try shown(all, []) == "http://0.0.0.0:9000/.samples/")
        #expect(try shown([:], hosts) == "http://127.0.0.1:9000/.samples/")
        #expect(!NetworkHosts.own().contains { $0.hasPrefix("127.") })
    }

    @Test("are not shown to a network by --dev-exposed alone, which says so")
    func exposedInVain() throws {
        let warnings = try configuration([.devExposed: ["true"]]).warnings
        #expect(warnings.contains { $0.contains("add --host 0.0.0.0") })
        #expect(try configuration([:]).warnings == [])
    }

    @Test("leave alone a database that has a rules file, and one that is not asked for")
    func ownRules() throws {
        #expect(try configuration([.database: ["party=p.json"]]).sampleDatabases == [.social])
        let both = try configuration([.database: ["party=p.json", "social=s.json"]])
        #expect(both.sampleDatabases == [])
        let off = try configuration([.samples: ["false"], .database: ["social"]])
        #expect(!off.servesSamples)
        #expect(off.sampleDatabases == [])
        #expect(off.databases.map(\.name.text) == ["social"])
    }

    @Test("have rules that load without a warning", arguments: SampleDatabase.allCases)
    func rules(database: SampleDatabase) throws {
        #expect(try database.rules().lint().isEmpty)
        _ = try database.fileRules()
    }

    @Test(
        "are asked for by their names",
        arguments: [
            ([".samples"], ""), ([".samples", "chat"], "chat"), ([".samples", "a", "b"], "a/b"),
            ([".samples", "a.json"], "a.json"),
        ]
    )
    func routes(segments: [String], name: String) {
        let (route, place) = RouteTable.shared.match(segments)
        #expect(route.service == .pages)
        #expect(place == .name(name))
        #expect(!route.isForAdmins)
        #expect(route.methods.all == [.get, .head])
    }

    @Test("are pages, scripts and a style, each with a tag of its own")
    func files() throws {
        let pages = PageSet.samples.files
        #expect(Set(pages.keys).isSuperset(of: ["", "chat", "timeline", "party", "style.css"]))
        #expect(Set(pages.values.map(\.tag)).count == pages.count)
        for (name, page) in pages {
            #expect(page.name == name)
            #expect(!page.bytes.isEmpty, "\(name)")
            #expect(String(validating: page.bytes, as: UTF8.self) != nil, "\(name)")
            let suffix = name.split(separator: ".").dropFirst().last ?? "html"
            let kinds: [Substring: String] = ["html": "html", "js": "javascript", "css": "css"]
            let kind = try #require(kinds[suffix])
            #expect(page.contentType == "text/\(kind); charset=utf-8")
        }
    }

    @Test(
        "are sent again only to whom they are new",
        arguments: [
            ([], 200), (["\"x\""], 200), (["TAG"], 304), (["\"x\",  TAG"], 304),
            (["\"x\"", "W/TAG , \"y\""], 304), (["*"], 304), ([""], 200), ([",,"], 200),
        ] as [([String], Int)]
    )
    func conditions(tags: [String], status: Int) throws {
        let page = try #require(PageSet.samples.files["style.css"])
        let known = tags.map { $0.split(separator: "TAG", omittingEmptySubsequences: false) }
        let answer = HTTPResponse.page(
            page,
            ifNoneMatch: known.map { $0.joined(separator: page.tag) }
        )
        #expect(answer.status == status)
        #expect(answer.body == (status == 304 ? [] : page.bytes))
        #expect(answer.headers.contains { $0.name == "ETag" && $0.value == page.tag })
    }
}
