public import Foundation
import HearthCore

// MARK: - Asynchronous forms

extension StorageReference {
    /// Reads the metadata of the object.
    public func getMetadata() async throws -> StorageMetadata { try await metadata() }

    /// Changes the metadata of the object: sends what was changed in `metadata` since it came from the server.
    ///
    /// - Returns: All of it as it is now.
    @discardableResult
    public func updateMetadata(_ metadata: StorageMetadata) async throws -> StorageMetadata {
        try await update(metadata)
    }

    /// An address that gives the bytes to everybody who has it, for as long as its token is not taken away.
    public func downloadURL() async throws -> URL { try await address() }

    /// Deletes the object.
    public func delete() async throws { try await remove() }

    /// Objects and folders directly below this folder: the first ones, in the order of their names, from 1 to 1,000.
    public func list(maxResults: Int64) async throws -> StorageListResult {
        try await page(maxResults, nil)
    }

    /// Objects and folders directly below this folder, from where another page ended: from 1 to 1,000.
    public func list(maxResults: Int64, pageToken: String) async throws -> StorageListResult {
        try await page(maxResults, pageToken)
    }

    /// All objects and folders directly below this folder.
    public func listAll() async throws -> StorageListResult { try await everything() }
}

// MARK: - With completions

extension StorageReference {
    /// Reads the metadata of the object.
    public func getMetadata(completion: @escaping (StorageMetadata?, (any Error)?) -> Void) {
        getMetadata { (result: Result<StorageMetadata, any Error>) in result.split(completion) }
    }

    /// Reads the metadata of the object.
    public func getMetadata(completion: @escaping (Result<StorageMetadata, any Error>) -> Void) {
        run(completion) { () throws(StorageError) in try await self.metadata() }
    }

    /// Changes the metadata of the object: sends what was changed in `metadata` since it came from the server.
    public func updateMetadata(
        _ metadata: StorageMetadata,
        completion: ((StorageMetadata?, (any Error)?) -> Void)?,
    ) {
        updateMetadata(metadata) { (result: Result<StorageMetadata, any Error>) in
            completion.map { result.split($0) }
        }
    }

    /// Changes the metadata of the object: sends what was changed in `metadata` since it came from the server.
    public func updateMetadata(
        _ metadata: StorageMetadata,
        completion: @escaping (Result<StorageMetadata, any Error>) -> Void,
    ) {
        run(completion) { () throws(StorageError) in try await self.update(metadata) }
    }

    /// An address that gives the bytes to everybody who has it.
    public func downloadURL(completion: @escaping (URL?, (any Error)?) -> Void) {
        downloadURL { (result: Result<URL, any Error>) in result.split(completion) }
    }

    /// An address that gives the bytes to everybody who has it.
    public func downloadURL(completion: @escaping (Result<URL, any Error>) -> Void) {
        run(completion) { () throws(StorageError) in try await self.address() }
    }

    /// Deletes the object.
    public func delete(completion: (((any Error)?) -> Void)?) {
        run({ (result: Result<Void, any Error>) in
            switch result {
            case .success: completion?(nil)
            case .failure(let error): completion?(error)
            }
        }) { () throws(StorageError) in try await self.remove() }
    }

    /// Objects and folders directly below this folder: the first ones.
    public func list(
        maxResults: Int64,
        completion: @escaping (StorageListResult?, (any Error)?) -> Void,
    ) {
        list(maxResults: maxResults) { (result: Result<StorageListResult, any Error>) in
            result.split(completion)
        }
    }

    /// Objects and folders directly below this folder: the first ones.
    public func list(
        maxResults: Int64,
        completion: @escaping (Result<StorageListResult, any Error>) -> Void,
    ) {
        run(completion) { () throws(StorageError) in try await self.page(maxResults, nil) }
    }

    /// Objects and folders directly below this folder, from where another page ended.
    public func list(
        maxResults: Int64,
        pageToken: String,
        completion: @escaping (StorageListResult?, (any Error)?) -> Void,
    ) {
        list(maxResults: maxResults, pageToken: pageToken) {
            (result: Result<StorageListResult, any Error>) in result.split(completion)
        }
    }

    /// Objects and folders directly below this folder, from where another page ended.
    public func list(
        maxResults: Int64,
        pageToken: String,
        completion: @escaping (Result<StorageListResult, any Error>) -> Void,
    ) {
        run(completion) { () throws(StorageError) in try await self.page(maxResults, pageToken) }
    }

    /// All objects and folders directly below this folder.
    public func listAll(completion: @escaping (StorageListResult?, (any Error)?) -> Void) {
        listAll { (result: Result<StorageListResult, any Error>) in result.split(completion) }
    }

    /// All objects and folders directly below this folder.
    public func listAll(completion: @escaping (Result<StorageListResult, any Error>) -> Void) {
        run(completion) { () throws(StorageError) in try await self.everything() }
    }

    private func run<Value: Sendable>(
        _ completion: @escaping (Result<Value, any Error>) -> Void,
        _ operation: @escaping @Sendable () async throws(StorageError) -> Value,
    ) {
        let callback = CallbackBox(completion)
        let queue = storage.callbackQueue
        Task {
            let result: Result<Value, StorageError>
            do throws(StorageError) {
                result = .success(try await operation())
            } catch {
                result = .failure(error)
            }
            CallbackWatch.call(on: queue) { callback.call(result.mapError { $0 }) }
        }
    }
}

extension Result {
    /// Calls a function that takes a value or an error.
    func split(_ completion: (Success?, (any Error)?) -> Void) {
        switch self {
        case .success(let value): completion(value, nil)
        case .failure(let error): completion(nil, error)
        }
    }
}

// MARK: - What they do

extension StorageReference {
    private func perform(
        _ request: StorageRequest,
        at path: StoragePath,
    ) async throws(StorageError) -> StorageAnswer {
        let limit = Duration.seconds(storage.maxOperationRetryTime)
        return try await storage.service.perform(request, at: path, limit: limit)
    }

    private func resource() async throws(StorageError) -> MetadataResource {
        let path = try object()
        return try MetadataResource(try await perform(.metadata(of: path), at: path))
    }

    private func metadata() async throws(StorageError) -> StorageMetadata {
        StorageMetadata(try await resource())
    }

    private func update(
        _ metadata: StorageMetadata
    ) async throws(StorageError) -> StorageMetadata {
        let path = try object()
        let answer = try await perform(.update(path, json: metadata.changes), at: path)
        return StorageMetadata(try MetadataResource(answer))
    }

    private func address() async throws(StorageError) -> URL {
        let tokens = try await resource().downloadTokens ?? ""
        guard let token = tokens.split(separator: ",").first else {
            throw .unknown(
                message:
                    "The object has no download token: read it with getData(maxSize:), or have the "
                    + "server make one.",
                serverError: [:]
            )
        }
        let target = "\(path.objectTarget)?alt=media&token=\(StoragePath.escaped(String(token)))"
        guard let url = URL(string: storage.service.origin + target) else {
            throw .internalError(message: "The address of the object cannot be made.")
        }
        return url
    }

    private func remove() async throws(StorageError) {
        let path = try object()
        _ = try await perform(.delete(path), at: path)
    }

    private func page(
        _ maxResults: Int64?,
        _ pageToken: String?,
    ) async throws(StorageError) -> StorageListResult {
        let path = try usable()
        if let maxResults, !StorageLimits.pageSizes.contains(maxResults) {
            throw .invalidArgument(message: "maxResults must be from 1 to 1000, not \(maxResults).")
        }
        let request = StorageRequest.list(path, maxResults: maxResults, pageToken: pageToken)
        let page = try ListPage(try await perform(request, at: path))
        return StorageListResult(
            prefixes: page.prefixes.map { reference($0) },
            items: page.items.map { reference($0.name) },
            pageToken: page.nextPageToken
        )
    }

    private func reference(_ name: String) -> StorageReference {
        StorageReference(storage, StoragePath(bucket: bucket, object: name), nil)
    }

    private func everything() async throws(StorageError) -> StorageListResult {
        var (prefixes, items): ([StorageReference], [StorageReference]) = ([], [])
        var token: String?
        repeat {
            let page = try await page(nil, token)
            prefixes += page.prefixes
            items += page.items
            token = page.pageToken
        } while token != nil
        return StorageListResult(prefixes: prefixes, items: items, pageToken: nil)
    }
}
