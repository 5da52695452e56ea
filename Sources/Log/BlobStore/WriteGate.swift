import Glibc
import Synchronization
import WriteAheadLog

/// Lets writes through until one has failed, then none: after it memory and disk may disagree.
///
/// All writes of one store share it. A call that failed because something is used up, such as room or descriptors, did
/// nothing that counts, and stops nothing; but a sync that finds no room has lost bytes.
final class WriteGate: Sendable {
    private let cause = Mutex<DiskFailure?>(nil)

    /// The failure that stopped all writes; nil while they go on.
    var failure: DiskFailure? { cause.withLock { $0 } }

    /// Runs calls that write.
    ///
    /// - Throws: `stopped`, and nothing is called; `disk`.
    func run<Result>(_ calls: () throws(LogError) -> Result) throws(BlobError) -> Result {
        if let failure { throw .stopped(by: failure) }
        do throws(LogError) { return try calls() } catch {
            let failure = DiskFailure(of: error)
            if Self.stops(failure) { cause.withLock { $0 = $0 ?? failure } }
            throw .disk(failure)
        }
    }

    private static func stops(_ failure: DiskFailure) -> Bool {
        // Of descriptors: then no call to the file was made.
        let isUsedUp = failure.errorNumber == EMFILE || failure.errorNumber == ENFILE
        switch failure.operation {
        case .sync, .protect: return !isUsedUp
        case .write, .truncate, .create, .createFolder, .rename, .link, .preallocate:
            return !isUsedUp && ![ENOSPC, EDQUOT].contains(failure.errorNumber)
        case .open, .read, .list, .status, .remove, .lock, .measureFreeSpace: return false
        }
    }
}
