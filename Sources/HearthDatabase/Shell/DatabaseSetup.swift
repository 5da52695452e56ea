import Dispatch
import HearthCore
import JSONTree
import Locks

/// How a database is set up: what can be changed until it is first used.
final class DatabaseSetup: Sendable {
    /// What may be set before the first use.
    struct Choice: Sendable {
        var address: DatabaseAddress
        var isPersistent = false
        /// Bytes that the disk cache takes at most.
        var cacheByteCount: UInt = 10 * 1024 * 1024
        /// Milliseconds that a read waits for a connection; nil: as Firebase's SDKs do.
        var readTimeout: Int64?
    }

    /// PEM file of the authorities that the server's certificate is checked against.
    let authorityFile: String?
    /// Folder of the app; nil: nothing is kept on disk.
    let folder: String?
    /// What the client calls itself in usage counters.
    let agent: String
    /// What servers read as `User-Agent`.
    let userAgent: String

    private struct State: Sendable {
        var choice: Choice
        var isBegun = false
        var callbackQueue = DispatchQueue.main
    }

    private let state: Mutex<State>

    init(
        _ address: DatabaseAddress,
        agent: String,
        userAgent: String,
        authorityFile: String?,
        folder: String?,
    ) {
        self.agent = agent
        self.userAgent = userAgent
        self.authorityFile = authorityFile
        self.folder = folder
        state = Mutex(State(choice: Choice(address: address)))
    }

    /// What is chosen now.
    var choice: Choice { state.withLock { $0.choice } }

    /// Where the app's functions are called.
    var callbackQueue: DispatchQueue {
        get { state.withLock { $0.callbackQueue } }
        set { state.withLock { $0.callbackQueue = newValue } }
    }

    /// Changes the choice, unless the database is in use already: then it says so, and changes nothing.
    func choose(_ name: String, _ change: (inout Choice) -> Void) {
        let isTooLate = state.withLock { state in
            if !state.isBegun { change(&state.choice) }
            return state.isBegun
        }
        guard isTooLate else { return }
        HearthConfiguration.shared.log(
            .warning,
            "\(name) must be set before the database is first used; it is ignored"
        )
    }

    /// Fixes the choice.
    func begin() -> Choice {
        state.withLock { state in
            state.isBegun = true
            return state.choice
        }
    }

    /// The file in which data of a database is kept; nil without a folder.
    func cachePath(_ address: DatabaseAddress) -> String? {
        folder.map { "\($0)/\(PercentCoding.encode("\(address.name)@\(address.host)")).sqlite" }
    }
}
