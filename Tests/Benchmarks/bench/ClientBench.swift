import Glibc
import JSONTree
import SyncCore
import WireProtocol

/// What the client costs: its state machine alone, then through the public API.
///
/// Rows of the public API use the server that `HEARTH_URL` names, and are left out without.
func benchClient(_ figures: Figures) throws {
    // First, and both kept: freed memory that is used again would not be counted.
    let clients = [
        try benchObserversOfManyPlaces(figures), try benchObserversOfOnePlace(figures),
    ]
    withExtendedLifetime(clients) {}
    try benchReceivedEvents(figures)
    try benchLocalWrites(figures)
    guard getenv("HEARTH_URL") != nil else {
        return print("bench: client: no HEARTH_URL, so nothing is measured through the public API")
    }
    benchClientAPI(figures)
}

/// From the bytes of a frame to what the shell must tell, in a list of 10,000 chat messages.
private func benchReceivedEvents(_ figures: Figures) throws {
    let count = 20_000
    let list = try Path("messages")
    for (kinds, name) in [
        (ObservedKinds.childAdded, "childAdded"), ([.childAdded, .value], "childAdded and value"),
    ] {
        var client = PlayedClient()
        client.data["/messages"] = ChatMessage.list(0..<10_000)
        client.observe(list, kinds)
        let frames = (10_000..<10_000 + count).map { number in
            Array(
                #"{"t":"d","d":{"b":{"p":"messages/\#(ChatMessage.key(number))","d":\#(ChatMessage.text(number))},"a":"d"}}"#
                    .utf8
            )
        }
        client.eventCount = 0
        figures.measure(
            "client step for a received message, list of 10,000, \(name)",
            count: count
        ) {
            for frame in frames { client.receive(frame) }
        }
        let expected = kinds == .childAdded ? count : 2 * count
        if client.eventCount != expected {
            print("bench: \(client.eventCount) events, not \(expected)")
        }
    }
}

/// 10,000 places with an observer each, as a service has that watches what many people do.
private func benchObserversOfManyPlaces(_ figures: Figures) throws -> PlayedClient {
    let count = 10_000
    var client = PlayedClient()
    let paths = try (0..<count).map { try Path("rooms/room\($0)/topic") }
    let before = Figures.residentByteCount()
    figures.measure("observe one place more, \(count) of them, answer included", count: count) {
        for path in paths { client.observe(path, .value) }
    }
    let grown = Figures.residentByteCount() - before
    figures.report(
        "resident bytes of an observer with a place of its own, \(count) of them",
        Double(grown) / Double(count),
        "bytes"
    )
    let frames = (0..<count).map { number in
        Array(
            #"{"t":"d","d":{"b":{"p":"rooms/room\#(number)/topic","d":"tea \#(number)"},"a":"d"}}"#
                .utf8
        )
    }
    client.eventCount = 0
    figures.measure("client step for a push to one of them", count: count) {
        for frame in frames { client.receive(frame) }
    }
    if client.eventCount != count { print("bench: \(client.eventCount) events, not \(count)") }
    return client
}

/// 10,000 observers of one and the same place.
private func benchObserversOfOnePlace(_ figures: Figures) throws -> PlayedClient {
    let count = 10_000
    var client = PlayedClient()
    let path = try Path("topic")
    let before = Figures.residentByteCount()
    for _ in 0..<count { client.observe(path, .value) }
    let grown = Figures.residentByteCount() - before
    figures.report(
        "resident bytes of an observer of the same place, \(count) of them",
        Double(grown) / Double(count),
        "bytes"
    )
    client.eventCount = 0
    let pushes = 20
    figures.measure("client step for a push to all \(count)", count: pushes) {
        for number in 0..<pushes {
            client.receive(
                Array(
                    #"{"t":"d","d":{"b":{"p":"topic","d":"tea \#(number)"},"a":"d"}}"#.utf8
                )
            )
        }
    }
    if client.eventCount != count * pushes { print("bench: \(client.eventCount) events") }
    return client
}

/// A message of one's own into a list of 10,000: laid over it, shown, sent; then acknowledged.
private func benchLocalWrites(_ figures: Figures) throws {
    let count = 5_000
    var client = PlayedClient()
    client.data["/messages"] = ChatMessage.list(0..<10_000)
    client.observe(try Path("messages"), .childAdded)
    let writes = try (10_000..<10_000 + count).map { number in
        (
            path: try Path("messages/\(ChatMessage.key(number))"),
            draft: try Draft(json: Array(ChatMessage.text(number).utf8))
        )
    }
    client.eventCount = 0
    figures.measure(
        "client step for a write of one's own, list of 10,000, and its answer",
        count: count
    ) {
        for write in writes { client.write(write.draft, at: write.path) }
    }
    if client.eventCount != count { print("bench: \(client.eventCount) events, not \(count)") }
}

/// Chat messages of 150 bytes of JSON.
enum ChatMessage {
    static func key(_ number: Int) -> String {
        let digits = String(number)
        return "-Nabcdefgh" + String(repeating: "0", count: 10 - digits.count) + digits
    }

    static func text(_ number: Int) -> String {
        #"{"content":"message number \#(number) of a chat that goes on","sender":{"uid":"abcdefghijklmnopqrstuvwxyz01","username":"ann"},"timestamp":\#(1_712_000_000_000 + number)}"#
    }

    static func list(_ numbers: Range<Int>) -> String {
        "{" + numbers.map { #""\#(key($0))":\#(text($0))"# }.joined(separator: ",") + "}"
    }
}
