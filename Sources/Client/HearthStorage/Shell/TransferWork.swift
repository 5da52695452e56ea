import Foundation
import HearthCore

/// What a task does, which can be broken off and go on later.
protocol TransferWork: Sendable {
    /// Bytes that are there, and of the whole; a negative whole: not known.
    typealias Report = @Sendable (_ completed: Int64, _ total: Int64) -> Void

    /// Bytes of the whole, as far as is known before the first answer.
    var byteCount: Int64 { get }

    /// Begins or goes on. Runs once at a time.
    ///
    /// - Returns: The metadata of what was uploaded; nil after a download.
    /// - Throws: `cancelled` when the task was cancelled: it may go on later. Any other error is the end.
    func run(_ report: @escaping Report) async throws(StorageError) -> StorageMetadata?

    /// It does not go on: forgets what is there, here and at the server.
    func abandon() async
}

/// An upload.
final class UploadWork: TransferWork {
    private let service: StorageService
    private let path: StoragePath
    private let source: ByteSource
    private let json: Data
    private let type: String
    private let limit: Duration
    private let state: Mutex<UploadState>

    init(
        _ service: StorageService,
        _ path: StoragePath,
        _ source: ByteSource,
        metadata: (json: Data, type: String),
        limit: Duration,
    ) {
        self.service = service
        self.path = path
        self.source = source
        (json, type) = metadata
        self.limit = limit
        state = Mutex(UploadState(byteCount: source.byteCount))
    }

    var byteCount: Int64 { source.byteCount }

    func run(_ report: @escaping Report) async throws(StorageError) -> StorageMetadata? {
        var budget = RetryBudget(limit)
        while true {
            let current = state.withLock { $0 }
            guard let request = try request(current) else {
                return try ended(current, report)
            }
            report(current.offset, byteCount)
            let total = byteCount
            do throws(TransportFault) {
                let answer = try await service.attempt(
                    request,
                    on: .transfer,
                    source: source,
                    hasSent: { report(min(current.offset + $0, total), total) }
                )
                let (pace, offset) = state.withLock { ($0.take(answer), $0.offset) }
                if offset > current.offset { budget.succeed() }
                if pace == .atOnce { continue }
            } catch {
                state.withLock { $0.lose() }
                try StorageService.rethrow(error)
            }
            try await service.wait(&budget)
        }
    }

    /// What the next step sends; nil at the end.
    private func request(_ state: UploadState) throws(StorageError) -> StorageRequest? {
        switch state.step {
        case .whole:
            // Random, since it must not stand in the bytes.
            return .whole(
                path,
                json: json,
                type: type,
                bytes: try source.read(at: 0, count: Int(byteCount)),
                boundary: "hearth-\(UUID().uuidString)"
            )
        case .start: return .start(path, json: json, type: type, byteCount: byteCount)
        case .chunk(let range, let isLast):
            return state.session.map { .chunk($0, range, isLast: isLast) }
        case .query: return state.session.map { .query($0) }
        case .metadata: return .metadata(of: path)
        case .done, .refused, .broken: return nil
        }
    }

    private func ended(
        _ state: UploadState,
        _ report: Report,
    ) throws(StorageError) -> StorageMetadata {
        switch state.step {
        case .done(let answer):
            report(byteCount, byteCount)
            return StorageMetadata(try MetadataResource(answer))
        case .refused(let answer): throw StorageError(answer, at: path)
        case .broken(let words): throw .unknown(message: words, serverError: [:])
        case .whole, .start, .chunk, .query, .metadata:
            preconditionFailure("a step of a session has its address")
        }
    }

    func abandon() async {
        let (session, isEnded) = state.withLock { ($0.session, $0.isEnded) }
        guard let session, !isEnded else { return }
        do throws(TransportFault) {
            _ = try await service.attempt(.cancel(session), on: .operation)
        } catch {
            // The server forgets it by itself, later.
            HearthConfiguration.shared.log(.debug, "an upload was not cancelled at the server")
        }
    }
}

/// A download.
final class DownloadWork: TransferWork {
    private let service: StorageService
    private let path: StoragePath
    private let sink: any ByteSink
    /// Bytes that are taken; nil: any number.
    private let maxSize: Int64?
    private let limit: Duration
    private let state = Mutex(DownloadState())

    init(
        _ service: StorageService,
        _ path: StoragePath,
        to sink: any ByteSink,
        maxSize: Int64? = nil,
        limit: Duration,
    ) {
        self.service = service
        self.path = path
        self.sink = sink
        self.maxSize = maxSize
        self.limit = limit
    }

    var byteCount: Int64 { -1 }

    func run(_ report: @escaping Report) async throws(StorageError) -> StorageMetadata? {
        var budget = RetryBudget(limit)
        while true {
            let before = state.withLock { $0 }
            let hasBegun = Flag()
            do throws(TransportFault) {
                let answer = try await service.attempt(
                    .media(of: path, from: before),
                    on: .transfer,
                    receiver: (
                        begin: { answer throws(StorageError) in
                            hasBegun.raise()
                            try self.begin(answer, report)
                        },
                        take: { bytes throws(StorageError) in try self.take(bytes, report) }
                    )
                )
                if try await end(answer, hasBegun.isRaised, report) { return nil }
            } catch {
                try StorageService.rethrow(error)
            }
            if state.withLock({ $0.byteCount }) > before.byteCount { budget.succeed() }
            try await service.wait(&budget)
        }
    }

    private func begin(_ answer: StorageAnswer, _ report: Report) throws(StorageError) {
        let (placement, state) = state.withLock { ($0.begin(answer), $0) }
        switch placement {
        case .append: break
        case .restart: try sink.restart()
        case .unusable:
            throw .unknown(
                message: "The server sent other bytes than were asked for.",
                serverError: [:]
            )
        }
        if let maxSize, let total = state.totalByteCount, total > maxSize {
            throw .downloadSizeExceeded(total: total, maxSize: maxSize)
        }
        report(state.byteCount, state.totalByteCount ?? -1)
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ report: Report) throws(StorageError) {
        try sink.append(bytes)
        let state = state.withLock { state in
            state.add(bytes.count)
            return state
        }
        report(state.byteCount, state.totalByteCount ?? -1)
    }

    /// Whether everything is there.
    private func end(
        _ answer: StorageAnswer,
        _ hasBegun: Bool,
        _ report: Report,
    ) async throws(TransportFault) -> Bool {
        do throws(StorageError) {
            if answer.isSuccess {
                if !hasBegun { try begin(answer, report) }
                guard state.withLock({ $0.isWhole }) else { return false }
                try sink.finish()
                return true
            }
            if answer.status == 416 {
                // The object has become shorter.
                state.withLock { $0.restart() }
                return false
            }
            if !answer.isPassing { throw StorageError(answer, at: path) }
            return false
        } catch {
            throw .failed(error)
        }
    }

    func abandon() { sink.discard() }
}

/// What cannot even begin.
struct FaultyWork: TransferWork {
    private let error: StorageError

    init(_ error: StorageError) { self.error = error }

    var byteCount: Int64 { -1 }

    func run(_ report: @escaping Report) async throws(StorageError) -> StorageMetadata? {
        throw error
    }

    func abandon() {}
}
