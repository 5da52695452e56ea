public import Foundation
import HearthCore

// MARK: - Uploads

extension StorageReference {
    /// Uploads bytes over what is there; follow the task with `observe`.
    public func putData(
        _ uploadData: Data,
        metadata: StorageMetadata? = nil,
    ) -> StorageUploadTask {
        upload(metadata, type: nil) { () throws(StorageError) in .data(uploadData) }
    }

    /// Uploads bytes over what is there.
    @discardableResult
    public func putData(
        _ uploadData: Data,
        metadata: StorageMetadata? = nil,
        completion: ((StorageMetadata?, (any Error)?) -> Void)?,
    ) -> StorageUploadTask {
        completing(putData(uploadData, metadata: metadata), completion)
    }

    /// Uploads bytes over what is there.
    @discardableResult
    public func putData(
        _ uploadData: Data,
        metadata: StorageMetadata? = nil,
        completion: @escaping (Result<StorageMetadata, any Error>) -> Void,
    ) -> StorageUploadTask {
        putData(uploadData, metadata: metadata, completion: joined(completion))
    }

    /// Uploads a file over what is there; follow the task with `observe`. Only pieces of the file are in memory.
    public func putFile(
        from fileURL: URL,
        metadata: StorageMetadata? = nil,
    ) -> StorageUploadTask {
        upload(metadata, type: FileTypes.type(ofName: fileURL.lastPathComponent)) {
            () throws(StorageError) in .file(try SourceFile(fileURL))
        }
    }

    /// Uploads a file over what is there.
    @discardableResult
    public func putFile(
        from fileURL: URL,
        metadata: StorageMetadata? = nil,
        completion: ((StorageMetadata?, (any Error)?) -> Void)?,
    ) -> StorageUploadTask {
        completing(putFile(from: fileURL, metadata: metadata), completion)
    }

    /// Uploads a file over what is there.
    @discardableResult
    public func putFile(
        from fileURL: URL,
        metadata: StorageMetadata? = nil,
        completion: @escaping (Result<StorageMetadata, any Error>) -> Void,
    ) -> StorageUploadTask {
        putFile(from: fileURL, metadata: metadata, completion: joined(completion))
    }

    /// Uploads bytes over what is there; ends when they are there. When the Swift task is cancelled, so is the upload.
    @discardableResult
    public func putDataAsync(
        _ uploadData: Data,
        metadata: StorageMetadata? = nil,
        onProgress: ((Progress?) -> Void)? = nil,
    ) async throws -> StorageMetadata {
        try await uploaded(putData(uploadData, metadata: metadata), onProgress)
    }

    /// Uploads a file over what is there; ends when it is there. When the Swift task is cancelled, so is the upload.
    @discardableResult
    public func putFileAsync(
        from url: URL,
        metadata: StorageMetadata? = nil,
        onProgress: ((Progress?) -> Void)? = nil,
    ) async throws -> StorageMetadata {
        try await uploaded(putFile(from: url, metadata: metadata), onProgress)
    }

    private func upload(
        _ metadata: StorageMetadata?,
        type: String?,
        _ open: () throws(StorageError) -> ByteSource,
    ) -> StorageUploadTask {
        do throws(StorageError) {
            let path = try object()
            let head = (metadata ?? StorageMetadata()).upload(to: path, type: type)
            // It becomes a line of a head.
            guard head.type.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else {
                throw .invalidArgument(message: "contentType must be printable ASCII.")
            }
            let limit = Duration.seconds(storage.maxUploadRetryTime)
            let work = UploadWork(storage.service, path, try open(), metadata: head, limit: limit)
            return StorageUploadTask(self, work)
        } catch {
            return StorageUploadTask(self, FaultyWork(error))
        }
    }

    private func completing(
        _ task: StorageUploadTask,
        _ completion: ((StorageMetadata?, (any Error)?) -> Void)?,
    ) -> StorageUploadTask {
        guard let completion else { return task }
        task.observe(.success) { completion($0.metadata, nil) }
        task.observe(.failure) { completion(nil, $0.error) }
        return task
    }

    private func uploaded(
        _ task: StorageUploadTask,
        _ onProgress: ((Progress?) -> Void)?,
    ) async throws -> StorageMetadata {
        guard let metadata = try await outcome(task, onProgress) else {
            throw StorageError.internalError(message: "The upload has no metadata.")
        }
        return metadata
    }

    private func outcome(
        _ task: StorageObservableTask,
        _ onProgress: ((Progress?) -> Void)?,
    ) async throws(StorageError) -> StorageMetadata? {
        if let onProgress { task.observe(.progress) { onProgress($0.progress) } }
        let outcome: StorageTask.Outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waiting in
                task.onEnd { waiting.resume(returning: $0) }
            }
        } onCancel: {
            task.cancelRun()
        }
        return try outcome.get()
    }

    private func joined<Value>(
        _ completion: @escaping (Result<Value, any Error>) -> Void
    ) -> (Value?, (any Error)?) -> Void {
        { value, error in
            if let value {
                completion(.success(value))
            } else {
                completion(
                    .failure(error ?? StorageError.internalError(message: "There is no result."))
                )
            }
        }
    }
}

// MARK: - Downloads

extension StorageReference {
    /// Reads the object into memory; one with more than `maxSize` bytes is `downloadSizeExceeded`.
    @discardableResult
    public func getData(
        maxSize: Int64,
        completion: @escaping (Data?, (any Error)?) -> Void,
    ) -> StorageDownloadTask {
        let (task, sink) = read(maxSize)
        task.observe(.success) { _ in completion(sink.data, nil) }
        task.observe(.failure) { completion(nil, $0.error) }
        return task
    }

    /// Reads the object into memory; one with more than `maxSize` bytes is `downloadSizeExceeded`.
    @discardableResult
    public func getData(
        maxSize: Int64,
        completion: @escaping (Result<Data, any Error>) -> Void,
    ) -> StorageDownloadTask {
        getData(maxSize: maxSize, completion: joined(completion))
    }

    /// Reads the object into memory; one with more than `maxSize` bytes is `downloadSizeExceeded`. When the Swift task
    /// is cancelled, so is the download.
    public func data(maxSize: Int64) async throws -> Data {
        let (task, sink) = read(maxSize)
        _ = try await outcome(task, nil)
        return sink.data
    }

    /// Writes the object to a file, which is there once it is whole; follow the task with `observe`.
    @discardableResult
    public func write(toFile fileURL: URL) -> StorageDownloadTask {
        guard fileURL.isFileURL else {
            return StorageDownloadTask(
                self,
                FaultyWork(.invalidArgument(message: "\(fileURL) is no address of a file."))
            )
        }
        return download(to: FileSink(fileURL), maxSize: nil)
    }

    /// Writes the object to a file, which is there once it is whole.
    @discardableResult
    public func write(
        toFile fileURL: URL,
        completion: ((URL?, (any Error)?) -> Void)?,
    ) -> StorageDownloadTask {
        let task = write(toFile: fileURL)
        guard let completion else { return task }
        task.observe(.success) { _ in completion(fileURL, nil) }
        task.observe(.failure) { completion(nil, $0.error) }
        return task
    }

    /// Writes the object to a file, which is there once it is whole.
    @discardableResult
    public func write(
        toFile fileURL: URL,
        completion: @escaping (Result<URL, any Error>) -> Void,
    ) -> StorageDownloadTask {
        write(toFile: fileURL, completion: joined(completion))
    }

    /// Writes the object to a file, which is there once it is whole. When the Swift task is cancelled, so is the
    /// download.
    @discardableResult
    public func writeAsync(
        toFile fileURL: URL,
        onProgress: ((Progress?) -> Void)? = nil,
    ) async throws -> URL {
        _ = try await outcome(write(toFile: fileURL), onProgress)
        return fileURL
    }

    private func read(_ maxSize: Int64) -> (StorageDownloadTask, MemorySink) {
        let sink = MemorySink(maxSize: maxSize)
        return (download(to: sink, maxSize: maxSize), sink)
    }

    private func download(to sink: any ByteSink, maxSize: Int64?) -> StorageDownloadTask {
        do throws(StorageError) {
            let limit = Duration.seconds(storage.maxDownloadRetryTime)
            let path = try object()
            let work = DownloadWork(storage.service, path, to: sink, maxSize: maxSize, limit: limit)
            return StorageDownloadTask(self, work)
        } catch {
            return StorageDownloadTask(self, FaultyWork(error))
        }
    }
}
