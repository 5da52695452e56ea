import BlobStore
import JSONTree
import Logging
import Transport

/// Removes what no file needs: blobs that nothing refers to, and uploads that are too old. At the start in the background and
/// each hour, a slice a second.
@LoopActor
final class FileCollection {
    private unowned let service: FileService
    private var sweep: OrphanSweep?
    /// When a backup asked last; nil while none holds the blobs.
    private var heldSince: ContinuousClock.Instant?

    /// Between two passes.
    private static let pause = Duration.seconds(3600)
    /// Between two slices of a pass.
    private static let slicePause = Duration.seconds(1)

    /// For which nothing is removed after a backup has asked for records or blobs.
    private static let holdTime = Duration.seconds(600)

    init(_ service: FileService) { self.service = service }

    func begin() {
        EventLoop.shared.every(Self.pause) { [self] in run() }
        EventLoop.shared.after(Self.slicePause) { [self] in run() }
    }

    /// Removes nothing for a while: a backup reads blobs that its records name, and nothing else may refer to.
    func hold() {
        if heldSince == nil {
            service.disk.pins.hold()
            endHold(after: Self.holdTime)
        }
        heldSince = .now
    }

    private func endHold(after time: Duration) {
        EventLoop.shared.after(time) { [self] in
            guard let heldSince else { return }
            let rest = Self.holdTime - (ContinuousClock.now - heldSince)
            if rest > .zero { return endHold(after: rest) }
            self.heldSince = nil
            service.disk.pins.endHold()
        }
    }

    /// Begins a pass, unless one is under way.
    private func run() {
        removeOldUploads()
        guard sweep == nil, service.disk.hasBlobs else { return }
        sweep = OrphanSweep(service.disk.pins)
        goOn()
    }

    private func goOn() {
        guard let sweep, !service.server.isStopping else { return self.sweep = nil }
        let blobs = service.disk.blobs
        let isTaken = service.disk.worker.perform {
            Result { () throws(BlobError) in try sweep.list(in: blobs) }
        } then: { [self] outcome in
            switch outcome {
            case .success(let page): take(page)
            case .failure(let error): fail(error)
            }
        }
        if !isTaken { self.sweep = nil }
    }

    private func take(_ page: BlobPage) {
        guard var sweep else { return }
        let catalog = service.store.catalog
        let claimed = sweep.claim(page, now: Clock.now()) { catalog.isReferred($0) }
        self.sweep = sweep.isDone ? nil : sweep
        remove(claimed)
    }

    /// Removes blobs, which cannot be pinned meanwhile, and goes on.
    private func remove(_ claimed: [BlobHash]) {
        let (blobs, pins) = (service.disk.blobs, service.disk.pins)
        let isTaken = service.disk.worker.perform {
            OrphanSweep.remove(claimed, from: blobs, pins)
        } then: { [self] removedCount, failure in
            service.figures.collectedCount += removedCount
            if let failure { return fail(failure) }
            if self.sweep != nil {
                EventLoop.shared.after(Self.slicePause) { [self] in goOn() }
            }
        }
        if !isTaken { EventLoop.shared.after(Self.slicePause) { [self] in remove(claimed) } }
    }

    private func fail(_ error: BlobError) {
        sweep = nil
        service.log.error("files that are needed no more are not collected: \(error)")
    }

    private func removeOldUploads() {
        for id in service.uploads.old(at: Clock.now()) {
            service.uploads.remove(id)
            let uploads = service.disk.folder.blobs.uploads
            service.disk.worker.post(
                .read { _ = Result { () throws(BlobError) in try uploads.remove(id) } }
            )
        }
    }
}
