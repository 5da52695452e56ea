import BlobStore
import Transport

/// A range of a blob on its way to a socket: copied from what the system has of the file in memory, and where that is nothing,
/// from a piece that a worker reads.
///
///     page cache ──────────── copy ──────────► the loop's buffer ─► socket
///     disk ─► worker ─► piece ─ copy ───────────────▲
///
/// So a file that is read often waits for no other thread, the loop waits for no disk, and a slow reader keeps one piece at
/// most.
@LoopActor
final class BlobBody {
    /// What others want to know of it.
    enum Event {
        /// A worker is asked for a piece.
        case diskRead
        /// It cannot be read, and ends early.
        case broken
    }

    private let blob: OpenBlob
    private let worker: Worker
    private let slot: WorkSlot
    /// What is not sent yet.
    private var rest: Range<Int64>
    /// The first bytes of `rest` that a worker has read.
    private var piece: ArraySlice<UInt8> = []
    /// Bytes that were copied and not sent: they must come again, at least as many.
    private var owedCount = 0
    private var isAsked = false
    private var isBroken = false
    private let resume: @LoopActor () -> Void
    private let note: @LoopActor (Event) -> Void

    /// `resume` has the socket ask again after `.wait`.
    init(
        _ blob: OpenBlob,
        _ range: Range<Int64>,
        _ worker: Worker,
        _ slot: WorkSlot,
        resume: @escaping @LoopActor () -> Void,
        note: @escaping @LoopActor (Event) -> Void
    ) {
        self.resume = resume
        self.note = note
        self.blob = blob
        self.worker = worker
        self.slot = slot
        rest = range
    }

    /// Copies the next bytes. What cannot be read ends the body early, which the client sees.
    func copy(into room: UnsafeMutableRawBufferPointer) -> StreamStep<Int> {
        if isBroken || rest.isEmpty { return .end }
        if !piece.isEmpty {
            owedCount = min(piece.count, room.count)
            room.copyBytes(from: piece.prefix(owedCount))
            return .next(owedCount)
        }
        if isAsked { return .wait }
        let room = UnsafeMutableRawBufferPointer(rebasing: room.prefix(Int(clamping: rest.count)))
        if let count = blob.reader.readCached(into: room, at: rest.lowerBound), count >= owedCount {
            owedCount = count
            return .next(count)
        }
        ask()
        return .wait
    }

    /// Notes that so many of the copied bytes are sent.
    func advance(_ byteCount: Int) {
        owedCount -= byteCount
        rest = rest.lowerBound + Int64(byteCount)..<rest.upperBound
        if piece.isEmpty { return }
        piece.removeFirst(byteCount)
        // Gives its memory back.
        if piece.isEmpty { piece = [] }
    }

    private func ask() {
        isAsked = true
        note(.diskRead)
        let (reader, offset) = (blob.reader, rest.lowerBound)
        let count = Int(min(Int64(rest.count), Int64(BlobLimits.pieceByteCount)))
        let isTaken = worker.perform {
            Result { () throws(BlobError) in try reader.read(at: offset, count: count) }
        } then: { [self] outcome in
            isAsked = false
            switch outcome {
            case .success(let bytes) where !bytes.isEmpty: piece = bytes[...]
            case .success, .failure:
                isBroken = true
                note(.broken)
            }
            resume()
        }
        if isTaken { return }
        // So many jobs wait that there is time.
        EventLoop.shared.after(.milliseconds(20)) { [self] in
            isAsked = false
            resume()
        }
    }
}
