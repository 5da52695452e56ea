import Testing

@testable import DatabaseServer

@Suite("the service manager")
struct NotifySocketTests {
    /// Texts, and what stands in `sun_path` of them.
    static let addresses: [(text: String, path: String)] = [
        ("/run/systemd/notify", "/run/systemd/notify"),
        ("@/org/x", "\0/org/x"),
        ("@\(characters(107))", "\0\(characters(107))"),
        ("/\(characters(106))", "/\(characters(106))"),
    ]

    private static func characters(_ count: Int) -> String { String(repeating: "a", count: count) }

    @Test(
        "is where NOTIFY_SOCKET says, as a path or an abstract name",
        arguments: addresses
    )
    func address(text: String, path: String) {
        #expect(NotifySocketAddress(text)?.path == Array(path.utf8))
    }

    @Test(
        "is nowhere when that is no address of a local socket",
        arguments: [
            "", "@", "/", "notify", "./notify", "vsock:2:1234", "@\(characters(108))",
            "/\(characters(107))",
        ]
    )
    func noAddress(text: String) {
        #expect(NotifySocketAddress(text) == nil)
    }

    @Test(
        "wants a word as often as WATCHDOG_USEC says, of the process that WATCHDOG_PID names",
        arguments: [
            ("30000000", "42", Duration.seconds(30)), ("500000", nil, .milliseconds(500)),
            ("30000000", "43", nil), (nil, "42", nil), (nil, nil, nil), ("0", nil, nil),
            ("-1", nil, nil), ("x", nil, nil), ("30000000", "x", nil),
            ("99999999999999999999", nil, nil),
        ] as [(String?, String?, Duration?)]
    )
    func watchdog(microseconds: String?, process: String?, period: Duration?) {
        let found = NotifySocket.watchdogPeriod(
            microseconds: microseconds,
            process: process,
            own: 42
        )
        #expect(found == period)
    }
}
