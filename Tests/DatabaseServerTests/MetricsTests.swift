import Testing

@testable import DatabaseServer

@Suite("the metrics")
struct MetricsTests {
    @Test("are shown in the Prometheus text format, sorted, with escapes")
    func exposition() {
        let metrics = Metrics()
        metrics.counter("hearth_commits_total", "Commits\nby \\ \"database\".", [("database", "b")])
            .add(2)
        metrics.counter("hearth_commits_total", "ignored", [("database", "a\"\\\n")]).add()
        metrics.gauge("hearth_connections", "Open sockets.").value = 3
        metrics.gauge("hearth_a_ratio", "Read when shown.") { 0.5 }
        metrics.counter("hearth_bytes_total", "Read too.", [("way", "in"), ("kind", "ws")]) { 7 }
        let histogram = metrics.histogram(
            "hearth_sync_seconds",
            "Syncs.",
            bounds: [0.001, 0.01, 1],
            [("disk", "d")]
        )
        for value in [0.0005, 0.001, 0.002, 1, 5] { histogram.observe(value) }
        #expect(
            metrics.rendered() == #"""
                # HELP hearth_a_ratio Read when shown.
                # TYPE hearth_a_ratio gauge
                hearth_a_ratio 0.5
                # HELP hearth_bytes_total Read too.
                # TYPE hearth_bytes_total counter
                hearth_bytes_total{way="in",kind="ws"} 7
                # HELP hearth_commits_total Commits\nby \\ "database".
                # TYPE hearth_commits_total counter
                hearth_commits_total{database="a\"\\\n"} 1
                hearth_commits_total{database="b"} 2
                # HELP hearth_connections Open sockets.
                # TYPE hearth_connections gauge
                hearth_connections 3
                # HELP hearth_sync_seconds Syncs.
                # TYPE hearth_sync_seconds histogram
                hearth_sync_seconds_bucket{disk="d",le="0.001"} 2
                hearth_sync_seconds_bucket{disk="d",le="0.01"} 3
                hearth_sync_seconds_bucket{disk="d",le="1"} 4
                hearth_sync_seconds_bucket{disk="d",le="+Inf"} 5
                hearth_sync_seconds_sum{disk="d"} 6.0035
                hearth_sync_seconds_count{disk="d"} 5

                """#
        )
    }

    @Test("give the same counter for the same name and labels")
    func identity() {
        let metrics = Metrics()
        let one = metrics.counter("hearth_x_total", "X.", [("a", "1")])
        #expect(metrics.counter("hearth_x_total", "X.", [("a", "1")]) === one)
        #expect(metrics.counter("hearth_x_total", "X.", [("a", "2")]) !== one)
        #expect(metrics.gauge("hearth_y", "Y.") === metrics.gauge("hearth_y", "Y."))
        #expect(metrics.histogram("hearth_z", "Z.") === metrics.histogram("hearth_z", "Z."))
    }

    @Test("without labels have a histogram with its ends alone")
    func bareHistogram() {
        let metrics = Metrics()
        metrics.histogram("hearth_h", "H.", bounds: [2]).observe(2)
        #expect(
            metrics.rendered().contains(
                "hearth_h_bucket{le=\"2\"} 1\nhearth_h_bucket{le=\"+Inf\"} 1\nhearth_h_sum 2\n"
            )
        )
    }

    @Test(
        "spell numbers as the format wants",
        arguments: [
            (0, "0"), (-1.5, "-1.5"), (1e15, "1000000000000000"), (1e300, "1e+300"),
            (.infinity, "+Inf"),
            (-.infinity, "-Inf"), (.nan, "NaN"), (0.0001, "0.0001"),
        ] as [(Double, String)]
    )
    func numbers(value: Double, text: String) {
        let metrics = Metrics()
        metrics.gauge("g", "G.").value = value
        #expect(metrics.rendered().hasSuffix("\ng \(text)\n"))
    }
}
