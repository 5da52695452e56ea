import Foundation

@testable import ClientTransport

/// What happened to one socket, for a test to wait for.
final class SocketLog: @unchecked Sendable {
    struct TimedOut: Error, CustomStringConvertible {
        let description: String
    }

    static let patience: TimeInterval = 300
    /// Guards all of it.
    private let condition = NSCondition()
    private var events: [SocketEvent] = []
    private var seenCount = 0

    /// For `open`.
    var tell: @Sendable (SocketEvent) -> Void {
        { event in
            self.condition.lock()
            self.events.append(event)
            self.condition.broadcast()
            self.condition.unlock()
        }
    }

    /// The next event, waited for.
    func next(_ patience: TimeInterval = SocketLog.patience) throws -> SocketEvent {
        condition.lock()
        defer { condition.unlock() }
        let deadline = Date(timeIntervalSinceNow: patience)
        while events.count == seenCount {
            guard condition.wait(until: deadline) else {
                throw TimedOut(description: "no event after \(events.suffix(3))")
            }
        }
        defer { seenCount += 1 }
        return events[seenCount]
    }

    /// The next event, which must be `opened`.
    func opened() throws {
        let event = try next()
        guard case .opened = event else { throw TimedOut(description: "\(event), not opened") }
    }

    /// The next event, which must be a message.
    func bytes() throws -> [UInt8] {
        let event = try next()
        guard case .received(let bytes) = event else {
            throw TimedOut(description: "\(event), not a message")
        }
        return bytes
    }

    func text() throws -> String { String(decoding: try bytes(), as: UTF8.self) }

    /// The reason of the next event, which must be `closed`.
    func reason(_ patience: TimeInterval = SocketLog.patience) throws -> String {
        let event = try next(patience)
        guard case .closed(let reason) = event else {
            throw TimedOut(description: "\(event), not closed")
        }
        return reason
    }

    /// Reads up to `closed`.
    func reasonAfterAll(_ patience: TimeInterval = SocketLog.patience) throws -> String {
        while true {
            if case .closed(let reason) = try next(patience) { return reason }
        }
    }

    /// What came and was not read.
    var rest: [SocketEvent] { condition.withLock { Array(events[seenCount...]) } }
}

extension ClientTransport {
    /// Opens a socket to a port of this machine.
    func open(
        _ host: String,
        _ target: String = "/.ws?v=5&ns=test",
        isSecure: Bool = false,
        authorityFile: String? = nil,
        log: SocketLog,
    ) -> any ClientSocket {
        var request = SocketRequest(host: host, isSecure: isSecure, target: target)
        request.authorityFile = authorityFile
        return open(request, tell: log.tell)
    }
}

extension ClientSocket {
    func send(_ texts: String...) { send(texts.map { Array($0.utf8) }) }
}
