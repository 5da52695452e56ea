import Foundation
import HearthAuth
import Synchronization
import TestSupport

/// A server for one test of a service: the sample rules of that name, real accounts, nothing on disk.
package final class ServiceServer: Sendable {
    // Immutable, and stopped by the person who lets go of it last.
    nonisolated(unsafe) private let server: RunningServer
    // Immutable, as the server is.
    nonisolated(unsafe) private let folder: TemporaryFolder
    /// `http://127.0.0.1:PORT`, with the name of the database if there are rules for files.
    package let url: String
    private let rules: String
    private let names = Mutex<[String: Int]>([:])

    // One for each name of rules; those that are kept in globals end with the process, and so must their servers.
    private static let common = Mutex<[String: ServiceServer]>([:])
    private static let started = Mutex<[Weak]>([])

    private static let openRules = """
        {"rules": {".read": true, ".write": true,
            "chats": {"$uid": {".indexOn": ["memberHash", "lastMessageAt"]}},
            "messages": {"$chat": {".indexOn": ["sentAt"]}},
            "roomEvents": {"$room": {".indexOn": ["at"]}},
            "userRooms": {"$uid": {".indexOn": ["lastEventAt"]}},
            "posts": {"$uid": {".indexOn": ["created_at"]}}
        }}
        """

    private struct Weak {
        weak var server: ServiceServer?
    }

    /// The server that all suites of this process share, for those that need none of their own.
    package static func shared(_ rules: String) throws -> ServiceServer {
        try common.withLock { servers in
            if let server = servers[rules] { return server }
            let server = try ServiceServer(rules: rules)
            servers[rules] = server
            return server
        }
    }

    /// Starts one with `social`, `chat`, `timeline` or `party`: a file of `rules/`. With `open` one that lets everybody
    /// write what makes no sense, with the indexes that queries need.
    ///
    /// With `files`, the name of rules for them, the database is the one that those rules look into: `social` or
    /// `party`.
    package init(rules: String, files: String? = nil) throws {
        folder = try TemporaryFolder()
        let file =
            rules == "open"
            ? try folder.file("open.json", Self.openRules) : "\(Checkout.path)/rules/\(rules).json"
        let filesRules =
            files.map { ["--files-rules", "\(Checkout.path)/rules/\($0).storage"] } ?? []
        server = try RunningServer(
            arguments: [
                "--dev", "--memory", "--rules", file,
                "--password-memory", "8MiB", "--password-passes", "1",
            ] + filesRules
        )
        url = server.url + (files.map { "?ns=\($0)" } ?? "")
        self.rules = rules
        Self.started.withLock { started in
            if started.isEmpty {
                atexit { ServiceServer.stopAll() }
            }
            started.append(Weak(server: self))
        }
    }

    /// Ends the server as a loss of power does, or after it has drained.
    package func stop(atOnce: Bool = true) { server.stop(atOnce: atOnce) }

    private static func stopAll() {
        for server in started.withLock({ $0 }) { server.server?.stop() }
    }

    /// A new person with an address and a username, as `UserService.create` leaves them.
    ///
    /// For the rules `social`, `chat` and `timeline`. The username is the name; of a second one
    /// with that name, in another test perhaps, it is the name and a number.
    package func member(_ name: String) async throws -> Person {
        let name = unique(name)
        let person = try Person(url)
        try await person.signUp(email: "\(name.lowercased())@example.com")
        try await person.claim(name, hasProfile: rules != "timeline")
        return person
    }

    /// As `member`, without an address: quick, for crowds.
    package func quickMember(_ name: String) async throws -> Person {
        let person = try await guest()
        try await person.claim(unique(name), hasProfile: rules != "timeline")
        return person
    }

    /// The name, or the name and a number if it was asked for before.
    package func unique(_ name: String) -> String {
        names.withLock { names in
            let count = names[name.lowercased(), default: 0] + 1
            names[name.lowercased()] = count
            return count == 1 ? name : "\(name)-\(count)"
        }
    }

    /// A person who is not signed in.
    package func stranger() throws -> Person { try Person(url) }

    /// A new person who is signed in with an address and a password.
    package func person(_ name: String) async throws -> Person {
        let person = try Person(url)
        try await person.signUp(email: "\(unique(name).lowercased())@example.com")
        return person
    }

    /// A new person who is signed in without an address: quick, for crowds.
    package func guest() async throws -> Person {
        let person = try Person(url)
        _ = try await person.auth.signInAnonymously()
        return person
    }
}
