import Testing

@testable import DatabaseServer

@Suite("the metrics")
struct MetricsTests {
    @Test("are shown in the Prometheus text format, sorted, with escapes")
    func exposition() {
        var metrics = Metrics()
        metrics.counter(
            "hearth_commits_total",
            "Commits\nby \\ \"database\".",
            2,
            [("database", "b")]
        )
        metrics.counter("hearth_commits_total", "ignored", 1, [("database", "a\"\\\n")])
        metrics.gauge("hearth_connections", "Open sockets.", 3)
        metrics.gauge("hearth_a_ratio", "A ratio.", 0.5)
        metrics.counter("hearth_bytes_total", "Bytes.", 7, [("way", "in"), ("kind", "ws")])
        #expect(
            metrics.rendered() == #"""
                # HELP hearth_a_ratio A ratio.
                # TYPE hearth_a_ratio gauge
                hearth_a_ratio 0.5
                # HELP hearth_bytes_total Bytes.
                # TYPE hearth_bytes_total counter
                hearth_bytes_total{way="in",kind="ws"} 7
                # HELP hearth_commits_total Commits\nby \\ "database".
                # TYPE hearth_commits_total counter
                hearth_commits_total{database="a\"\\\n"} 1
                hearth_commits_total{database="b"} 2
                # HELP hearth_connections Open sockets.
                # TYPE hearth_connections gauge
                hearth_connections 3

                """#
        )
    }

    @Test("show a histogram with buckets that add up, in ascending order")
    func histogram() throws {
        var times = LatencyHistogram()
        times.note(1_500_000, times: 2)
        times.note(30_000_000_000)
        var metrics = Metrics()
        metrics.histogram("hearth_wait_seconds", "Waits.", times, [("route", "/a")])
        let lines = metrics.rendered().split(separator: "\n")
        #expect(lines[1] == "# TYPE hearth_wait_seconds histogram")
        let start = #"hearth_wait_seconds_bucket{route="/a",le=""#
        #expect(lines[2] == "\(start)0.0005\"} 0")
        #expect(lines[3] == "\(start)0.001\"} 0")
        #expect(lines[4] == "\(start)0.0025\"} 2")
        #expect(lines[15] == "\(start)10\"} 2")
        #expect(lines[16] == "\(start)+Inf\"} 3")
        #expect(lines[17] == #"hearth_wait_seconds_sum{route="/a"} 30.003"#)
        #expect(lines[18] == #"hearth_wait_seconds_count{route="/a"} 3"#)
        #expect(lines.count == 19)
    }

    @Test("without labels have a histogram with its ends alone")
    func bareHistogram() {
        var times = LatencyHistogram()
        times.note(2_000_000_000)
        var metrics = Metrics()
        metrics.histogram("hearth_wait_seconds", "Waits.", times)
        let end = """
            hearth_wait_seconds_bucket{le="10"} 1
            hearth_wait_seconds_bucket{le="+Inf"} 1
            hearth_wait_seconds_sum 2
            hearth_wait_seconds_count 1

            """
        #expect(metrics.rendered().hasSuffix(end), "\(metrics.rendered())")
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
        var metrics = Metrics()
        metrics.gauge("g", "G.", value)
        #expect(metrics.rendered().hasSuffix("\ng \(text)\n"))
    }
}
