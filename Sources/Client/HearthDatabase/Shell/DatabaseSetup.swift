import Dispatch
import HearthCore
import JSONTree
import SyncCore

/// The setup of a database, which can change until its first use.
final class DatabaseSetup: Sendable {
    /// Settings that may change before the first use.
    struct Choice: Sendable {
        var address: LinkAddress
        var isPersistent = false
        /// Bytes that the disk cache takes at most.
        var cacheByteCount: UInt = 10 * 1024 * 1024
        /// Milliseconds that a read waits for a connection; nil: as Firebase's SDKs do.
        var readTimeout: Int64?
    }

    let settings: AppSettings

    private struct State: Sendable {
        var choice: Choice
        var isBegun = false
        var callbackQueue = DispatchQueue.main
    }

    private let state: Mutex<State>

    init(_ address: LinkAddress, _ settings: AppSettings) {
        self.settings = settings
        state = Mutex(State(choice: Choice(address: address)))
    }

    var choice: Choice { state.withLock { $0.choice } }

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

    func begin() -> Choice {
        state.withLock { state in
            state.isBegun = true
            return state.choice
        }
    }

    func cachePath(_ address: LinkAddress) -> String {
        "\(settings.folder)/\(PercentCoding.encode("\(address.namespace)@\(address.host)")).sqlite"
    }
}
