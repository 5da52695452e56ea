import DatabaseCore
import Foundation
import TestSupport
import Testing

@testable import DatabaseServer
@testable import Transport

@Suite("the metrics of a server")
struct MetricNamesTests {
    /// Names of metrics in a text.
    private func names(_ text: some StringProtocol) -> Set<Substring> {
        let isPart: (Character) -> Bool = { $0.isASCII && ($0.isLetter || $0 == "_") }
        let words = text.split { !isPart($0) }.map { Substring($0) }
        return Set(words.filter { $0.hasPrefix("hearth_") || $0.hasPrefix("process_") })
    }

    @Test("are those that docs/operate/METRICS.md explains")
    func documented() throws {
        let served = try ServedDatabase()
        try served.put(#"{"a":1}"#)
        let text = served.read { watch in
            let server = watch.server
            server.requests.count(RouteTable.data)
            return String(decoding: server.metrics(server.engine.summaries()).body, as: UTF8.self)
        }
        let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
        let shown = Set(types.flatMap(names)).union(Self.withDisk).union(Self.ofNode)
        let page = "\(Checkout.path)/docs/operate/METRICS.md"
        let document = try String(contentsOfFile: page, encoding: .utf8)
        let explained = names(document)
        #expect(shown.subtracting(explained).isEmpty)
        #expect(explained.subtracting(shown).isEmpty)
    }

    /// Those of a server that keeps its data on disk, or has a certificate.
    private static let withDisk: Set<Substring> = [
        "hearth_disk_free_bytes", "hearth_disk_size_bytes", "hearth_disk_reserve_bytes",
        "hearth_log_segments", "hearth_log_bytes", "hearth_checkpoint_timestamp_seconds",
        "hearth_tls_certificate_expiry_timestamp_seconds",
    ]

    /// Those of a node of a group.
    private static let ofNode: Set<Substring> = [
        "hearth_cluster_owner", "hearth_cluster_nodes", "hearth_cluster_stalled",
        "hearth_cluster_stopped", "hearth_cluster_epoch", "hearth_cluster_sequence",
        "hearth_cluster_behind_entries", "hearth_cluster_waiting_bytes",
        "hearth_cluster_void_total", "hearth_cluster_claims_total",
        "hearth_cluster_sent_again_total", "hearth_cluster_relayed_total",
        "hearth_cluster_rules_differ", "hearth_cluster_owner_sessions",
    ]

    @Test("count the requests of each row of the table of routes, and no other")
    func routes() throws {
        let served = try ServedDatabase()
        let name = "hearth_http_route_requests_total"
        func counts() -> [Substring: Substring] {
            let text = served.read { watch in
                watch.server.requests.count(RouteTable.data)
                return String(decoding: watch.server.metrics([]).body, as: UTF8.self)
            }
            let pairs = text.split(separator: "\n").filter { $0.hasPrefix("\(name){") }
                .map { ($0.split(separator: "\"")[1], $0.split(separator: " ")[1]) }
            return Dictionary(uniqueKeysWithValues: pairs)
        }
        let patterns = Set(RouteTable.shared.all.map { Substring($0.pattern) })
        #expect(patterns.count == RouteTable.shared.all.count)
        _ = counts()
        let second = counts()
        #expect(Set(second.keys) == patterns)
        #expect(second[Substring(RouteTable.data.pattern)] == "2")
        #expect(second.values.count { $0 == "0" } == patterns.count - 1)
    }

    @Test("show what waits for sockets and what other threads have done")
    func values() throws {
        let served = try ServedDatabase()
        let text = String(repeating: "x", count: 3_000_000)
        let client = try served.client(receiveBuffer: 4_096)
        #expect(try client.ask(1, "q", #""p":"/a","h":"""#).contains(#""r":1"#))
        try served.put(#""\#(text)""#, at: "a")
        #expect(served.read { $0.server.workers.byKind.count } == 8)
        let queued = served.read { watch in
            (watch.listener?.queuedOutput, watch.sockets[0].queuedByteCount)
        }
        #expect(queued.0?.byteCount == queued.1)
        #expect(queued.0?.greatestByteCount == queued.1)
        #expect(try client.message().utf8.count > 3_000_000)
    }
}
