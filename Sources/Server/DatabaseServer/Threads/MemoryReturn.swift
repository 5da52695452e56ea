import JSONTree
import Transport

/// Gives memory that was let go in large pieces back to the system: freed pages between those that live on would stay
/// with the process.
///
/// What lets go of much says how much. Once it is enough, all of it goes back a second later, away from the loop.
@LoopActor
final class MemoryReturn {
    /// Bytes that were let go since memory was given back last, from which on it is worth doing.
    nonisolated static let worthwhileByteCount = 16 << 20

    private let worker: Worker
    private var letGoByteCount = 0
    private var isDue = false
    /// How often memory was given back.
    private(set) var count = 0

    init(_ worker: Worker) {
        self.worker = worker
    }

    /// Notes that about so many bytes have been let go.
    func letGo(_ byteCount: Int) {
        letGoByteCount += byteCount
        guard letGoByteCount >= Self.worthwhileByteCount, !isDue else { return }
        isDue = true
        EventLoop.shared.after(.seconds(1)) { [self] in
            isDue = false
            letGoByteCount = 0
            count += 1
            worker.post(.read { FreedMemory.giveBack() })
        }
    }

    /// Lets go of a large node, away from the loop.
    func release(_ node: Node) {
        worker.post(
            .release(node) { byteCount in
                EventLoop.shared.enqueue { [self] in letGo(byteCount) }
            }
        )
    }
}
