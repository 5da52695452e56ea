import Foundation

/// Prints the demo, and checks what its players see.
enum Stage {
    /// The heading of an act.
    static func act(_ title: String) { print("\n\(title)") }

    /// Prints an action of a player.
    static func does(_ name: String, _ what: String) { line(name, what) }

    /// Prints what a player sees, which must be `expected`.
    ///
    /// - Throws: `Surprise` when it is not.
    static func sees(_ name: String, _ seen: [String], expected: [String]) throws {
        for text in seen.isEmpty ? ["nothing"] : seen { line(name, "  \(text)") }
        guard seen == expected else {
            throw Surprise(text: "\(name) sees \(seen), not \(expected)")
        }
    }

    /// Runs an operation that must be refused, and prints the reason.
    ///
    /// - Throws: `Surprise` when it is not.
    static func refuses(_ name: String, _ what: String, _ body: () async throws -> Void)
        async throws
    {
        line(name, what)
        do {
            try await body()
        } catch {
            return line(name, "  refused: \(error.localizedDescription)")
        }
        throw Surprise(text: "\(name) may \(what)")
    }

    private static func line(_ name: String, _ text: String) {
        print("  \(name.padding(toLength: 5, withPad: " ", startingAt: 0))│ \(text)")
    }
}

/// Something that is not as it should be.
struct Surprise: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}

/// What an observer saw last; waiters are notified when it is as expected.
final class View: Sendable {
    private let stream: AsyncStream<[String]>
    private let continuation: AsyncStream<[String]>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    }

    /// Sets the value that is seen now.
    func show(_ lines: [String]) { continuation.yield(lines) }

    /// Waits until `expected` is seen, five minutes at most: machines that play this as a test are crowded.
    ///
    /// - Returns: What was seen last.
    func wait(for expected: [String]) async -> [String] {
        let deadline = Task { [continuation] in
            // One that is cancelled came too late to end anything.
            guard (try? await Task.sleep(for: .seconds(300))) != nil else { return }
            continuation.finish()
        }
        defer { deadline.cancel() }
        var last: [String] = []
        for await lines in stream {
            last = lines
            if lines == expected { break }
        }
        return last
    }
}
