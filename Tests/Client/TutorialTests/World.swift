import Foundation
import HearthDatabase
import TestSupport
import Testing

/// The server that all tutorials run against, and the two devices that look at it.
///
/// The apps use the default database, as tutorials do, so there is one server for all of them; each has paths of its own.
@MainActor
enum World {
    /// The device of a friend, who reads and writes what the apps show.
    static let friend = device("friend")

    /// Another device: its app has a connection of its own.
    static func device(_ name: String) -> DatabaseReference {
        guard let server, isConfigured else { return Database.database().reference() }
        FirebaseApp.configure(name: name, options: FirebaseOptions(databaseURL: server.url))
        guard let app = FirebaseApp.app(name: name) else {
            return Database.database().reference()
        }
        return Database.database(app: app).reference()
    }

    /// Configures the default app for the server, once.
    private static let isConfigured: Bool = {
        guard let server else { return false }
        AppDelegate().applicationDidFinishLaunching(emulatorPort: server.port)
        return true
    }()

    // Made once; owned by this process until its last function, when nothing else runs.
    private nonisolated(unsafe) static let server: RunningServer? = {
        do {
            let server = try RunningServer()
            // The last thing of this process: the server goes with it.
            atexit { World.server?.stop(atOnce: true) }
            return server
        } catch {
            Issue.record(error)
            return nil
        }
    }()
}

/// Waits for what an app shows, without looking at a clock but to give up.
///
/// The app calls `changed` whenever it would draw itself anew.
@MainActor
final class Screen {
    private struct Wait {
        let number: Int
        let condition: () -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private var waits: [Wait] = []
    private var count = 0

    /// For an app's hook, which is called on the main queue.
    nonisolated var changed: () -> Void {
        { MainActor.assumeIsolated { self.look() } }
    }

    /// Waits until `condition` holds; it is asked whenever the app changes.
    func shows(
        _ condition: @escaping () -> Bool,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        if condition() { return }
        count += 1
        let number = count
        let holds = await withCheckedContinuation { continuation in
            waits.append(
                Wait(number: number, condition: condition, continuation: continuation)
            )
            DispatchQueue.main.asyncAfter(deadline: .now() + 900) { self.giveUp(number) }
        }
        try #require(holds, "the app did not come to show it in time", sourceLocation: location)
    }

    private func look() {
        let held = waits.filter { $0.condition() }
        waits.removeAll { wait in held.contains { $0.number == wait.number } }
        for wait in held { wait.continuation.resume(returning: true) }
    }

    private func giveUp(_ number: Int) {
        guard let index = waits.firstIndex(where: { $0.number == number }) else { return }
        waits.remove(at: index).continuation.resume(returning: false)
    }
}

/// Waits for a completion that is called once, and gives what it was called with.
@MainActor
func outcome<Value>(_ start: (@escaping (Value) -> Void) -> Void) async -> Value {
    await withCheckedContinuation { continuation in
        start { continuation.resume(returning: $0) }
    }
}

extension DatabaseReference {
    /// What the server has there, as the friend's device reads it.
    func stored() async throws -> Any? { try await getData().value }

    /// Waits until the friend's device sees there what `condition` wants.
    @MainActor
    func becomes(
        _ condition: @escaping (DataSnapshot) -> Bool,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let screen = Screen()
        var latest: DataSnapshot?
        let handle = observe(.value) { snapshot in
            latest = snapshot
            screen.changed()
        }
        defer { removeObserver(withHandle: handle) }
        try await screen.shows({ latest.map(condition) ?? false }, location)
    }
}
