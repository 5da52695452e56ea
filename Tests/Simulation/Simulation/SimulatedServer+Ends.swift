import DatabaseCore
import Glibc
import SimulatedStorage
import WriteAheadLog

/// How one process follows another on the same disk.
extension SimulatedServer {
    /// Starts a process on what the disk kept, however often the power fails again meanwhile.
    ///
    /// `willTry` is called before each try, and `didFail` when the power failed during one, or there was no room on the
    /// disk: it may make some. Throws: `SimulationFault` when anything else keeps it from starting.
    static func start(
        _ storage: SimulatedLogStorage,
        _ options: LogOptions,
        _ policy: EnginePolicy,
        willTry: () -> Void = {},
        didFail: (LogError) -> Void
    ) throws(SimulationFault) -> SimulatedServer {
        while true {
            willTry()
            do throws(LogError) {
                return try SimulatedServer(storage, options, policy)
            } catch {
                guard error.isPowerCut else {
                    throw SimulationFault("the server does not start: \(error)")
                }
                didFail(error)
                storage.restart()
            }
        }
    }

    /// Checks that of each database this process has what `last` knew to be durable and nothing that
    /// `last` has not made; all of it when that one ended in good order.
    func follows(_ last: SimulatedServer, inGoodOrder: Bool) throws(SimulationFault) {
        for database in last.progress.keys.sorted() {
            let (before, found) = (last[database], self[database].made)
            let least = inGoodOrder ? before.made : before.durable
            guard least <= found, found <= before.made else {
                throw SimulationFault(
                    """
                    commit \(found.value) of \(database) is there; \(least.value) must be, \
                    \(before.made.value) was made
                    """
                )
            }
        }
    }
}

extension LogError {
    /// Whether the simulated disk has no room.
    var isOutOfSpace: Bool {
        switch self {
        case .disk(let failure): failure.errorNumber == ENOSPC
        case .stopped(let reason): reason.isOutOfSpace
        default: false
        }
    }

    /// Whether the simulated disk said that it has no power.
    var isPowerCut: Bool {
        switch self {
        case .disk, .stopped: true
        default: false
        }
    }
}
