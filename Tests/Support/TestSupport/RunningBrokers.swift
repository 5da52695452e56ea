import Foundation
import Glibc
import Synchronization

/// Brokers of NATS for tests, processes of their own on free ports (`nats_brokers.py`). They end with the object.
///
/// Calls wait for each other. Suites are skipped without a program of brokers, by
/// `.enabled(if: RunningBrokers.areInstalled)`.
package final class RunningBrokers: Sendable {
    /// Why there are no brokers, or one did not do what it was asked for.
    package struct BrokerError: Error, CustomStringConvertible {
        package let description: String
    }

    /// What brokers are started with.
    package struct Settings: Encodable, Sendable {
        package var count = 3
        /// What stands in the block `jetstream` beside the folder; nil for brokers without it.
        package var jetstream: String? = "sync_interval: always"
        /// What stands at the end of the configuration.
        package var extra = ""

        package init() {}

        // A nil is written too: it is not the default.
        package func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(count, forKey: .count)
            try values.encode(jetstream, forKey: .jetstream)
            try values.encode(extra, forKey: .extra)
        }

        private enum CodingKeys: CodingKey { case count, jetstream, extra }
    }

    private struct Facts: Decodable {
        let addresses: [String]
        let monitors: [String]
    }

    /// The pipes to the program. Only who has the lock speaks.
    private struct Pipes {
        let input: Int32
        let output: Int32
    }

    /// Whether there is a program of brokers: `make setup-test` installs one.
    ///
    /// `HEARTH_NATS_SERVER` names another. Where that is set and wrong, tests fail.
    package static let areInstalled =
        getenv("HEARTH_NATS_SERVER") != nil
        || access("\(Checkout.path)/.venv/bin/nats-server", X_OK) == 0

    /// `nats://127.0.0.1:PORT` of each broker.
    package let addresses: [String]
    /// `http://127.0.0.1:PORT`, where each broker says how it is.
    package let monitors: [String]
    private let pipes: Mutex<Pipes>

    /// Starts brokers, and waits until they are ready.
    package init(_ settings: Settings = Settings()) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "\(Checkout.path)/Tests/Clients/nats_brokers.py",
            String(decoding: try JSONEncoder().encode(settings), as: UTF8.self),
        ]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // The program ends when its input does, which is when this process ends at the latest.
        let pipes = Pipes(
            input: fcntl(input.fileHandleForWriting.fileDescriptor, F_DUPFD_CLOEXEC, 0),
            output: fcntl(output.fileHandleForReading.fileDescriptor, F_DUPFD_CLOEXEC, 0)
        )
        let facts = try JSONDecoder().decode(Facts.self, from: Data(Self.line(pipes).utf8))
        addresses = facts.addresses
        monitors = facts.monitors
        self.pipes = Mutex(pipes)
    }

    deinit {
        do {
            _ = try ask("end")
        } catch {
            preconditionFailure("brokers of tests end when they are asked to: \(error)")
        }
        pipes.withLock { pipes in
            close(pipes.input)
            close(pipes.output)
        }
    }

    /// Ends a broker at once, as a crash does.
    package func kill(_ number: Int) throws { _ = try ask("signal \(number) KILL") }

    /// Ends a broker in good order.
    package func stop(_ number: Int) throws { _ = try ask("signal \(number) TERM") }

    /// Lets a broker stand still, or go on.
    package func freeze(_ number: Int, _ isFrozen: Bool = true) throws {
        _ = try ask("signal \(number) \(isFrozen ? "STOP" : "CONT")")
    }

    /// Starts a broker that was ended, on the same folder; does not wait until it is ready.
    package func start(_ number: Int) throws { _ = try ask("start \(number)") }

    /// Waits until all that run are ready.
    package func awaitReady() throws { _ = try ask("ready") }

    /// The number of the broker that leads a stream; waits until one does.
    package func leader(of stream: String) throws -> Int {
        let answer = try ask("leader \(stream)")
        guard let number = Int(answer) else {
            throw BrokerError(description: "\(stream) has the leader '\(answer)'")
        }
        return number
    }

    private func ask(_ command: String) throws -> String {
        try pipes.withLock { pipes in
            let line = "\(command)\n"
            guard write(pipes.input, line, line.utf8.count) == line.utf8.count else {
                throw BrokerError(description: "'\(command)' was not taken: \(errno)")
            }
            return try Self.line(pipes)
        }
    }

    private static func line(_ pipes: Pipes) throws -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(pipes.output, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        throw BrokerError(description: "the brokers' program has ended; what it said stands above")
    }
}
