public import Dispatch
public import Foundation
public import HearthCore

/// The files of an app: one bucket of its server. An app has one object for each.
///
/// Callbacks come on `callbackQueue`, the main queue unless another is set; the asynchronous forms need no queue.
public final class Storage: NSObject, Sendable {
    private struct Settings {
        var callbackQueue = DispatchQueue.main
        var maxUploadRetryTime: TimeInterval = 600
        var maxDownloadRetryTime: TimeInterval = 600
        var maxOperationRetryTime: TimeInterval = 120
    }

    /// The app that it belongs to.
    public let app: HearthApp

    let service: StorageService
    let bucket: String
    /// The fault in the given address; all references report it.
    let fault: StorageError?
    private let settings = Mutex(Settings())

    init(_ app: HearthApp, _ location: Result<StorageLocation, StorageError>) {
        self.app = app
        switch location {
        case .success(let location):
            fault = nil
            bucket = location.bucket
            service = StorageService(app, origin: location.origin)
        case .failure(let error):
            fault = error
            bucket = app.settings.storageBucket
            service = StorageService(app, origin: app.settings.storageURL)
        }
        super.init()
    }

    init(_ service: StorageService, _ app: HearthApp, bucket: String) {
        self.app = app
        self.service = service
        self.bucket = bucket
        fault = nil
        super.init()
    }

    private static func instance(_ app: HearthApp, _ url: String?) -> Storage {
        let location = Result { () throws(StorageError) in try StorageLocation(url, app.settings) }
        let key =
            switch location {
            case .success(let location): "\(location.origin) \(location.bucket)"
            case .failure: url ?? ""
            }
        let (storage, isNew) = app.service(key) { Storage(app, location) }
        if isNew, let fault = storage.fault {
            HearthConfiguration.shared.log(
                .error,
                "files cannot be used: \(fault.localizedDescription)"
            )
        }
        return storage
    }

    // MARK: - Getting one

    /// The default bucket of the default app.
    public static func storage() -> Storage { instance(.defaultApp(), nil) }

    /// A bucket of the default app: `gs://BUCKET`, or an address of another server.
    public static func storage(url: String) -> Storage { instance(.defaultApp(), url) }

    /// The default bucket of an app.
    public static func storage(app: HearthApp) -> Storage { instance(app, nil) }

    /// A bucket of an app: `gs://BUCKET`, or of another server: `http(s)://HOST[:PORT]`, with `/v0/b/BUCKET` behind it
    /// for another bucket than the app's.
    ///
    /// If the address is invalid, all references report it when they are used.
    public static func storage(app: HearthApp, url: String) -> Storage { instance(app, url) }

    // MARK: - References

    /// The root of the bucket.
    public func reference() -> StorageReference {
        StorageReference(self, StoragePath(bucket: bucket), fault)
    }

    /// The object or folder of this name.
    public func reference(withPath path: String) -> StorageReference { reference().child(path) }

    /// What an address names: `gs://BUCKET/NAME`, or a download address. It must be in this bucket; one that is not
    /// reports it when it is used.
    public func reference(forURL url: String) -> StorageReference {
        do throws(StorageError) {
            return StorageReference(self, try path(url), fault)
        } catch {
            HearthConfiguration.shared.log(
                .warning,
                "a reference to a file cannot be used: \(error.localizedDescription)"
            )
            return StorageReference(self, StoragePath(bucket: bucket), error)
        }
    }

    /// What an address names.
    ///
    /// - Throws: `StorageError.pathError` when it names no object; `bucketMismatch` for one of another bucket.
    public func reference(for url: URL) throws -> StorageReference {
        StorageReference(self, try path(url.absoluteString), fault)
    }

    private func path(_ url: String) throws(StorageError) -> StoragePath {
        let path = try StoragePath(url: url)
        guard path.bucket == bucket else {
            throw .bucketMismatch(
                message: "It is in the bucket \(path.bucket), and this is \(bucket): ask "
                    + "Storage.storage(url:) for that one."
            )
        }
        return path
    }

    // MARK: - Setting up

    /// Uses the server on this host and port, without TLS; to be called before anything is sent.
    public func useEmulator(withHost host: String, port: Int) {
        let isBareIPv6 = host.contains(":") && !host.hasPrefix("[")
        let name = isBareIPv6 ? "[\(host)]" : host
        if !service.choose(origin: "http://\(name):\(port)") {
            HearthConfiguration.shared.log(
                .warning,
                "useEmulator must be called before files are first used; it is ignored"
            )
        }
    }

    /// Where callbacks come; the main queue unless another is set. It must be a serial queue.
    public var callbackQueue: DispatchQueue {
        get { settings.withLock { $0.callbackQueue } }
        set { settings.withLock { $0.callbackQueue = newValue } }
    }

    /// Seconds that an upload is tried without progress; 600 unless set.
    public var maxUploadRetryTime: TimeInterval {
        get { settings.withLock { $0.maxUploadRetryTime } }
        set { settings.withLock { $0.maxUploadRetryTime = newValue } }
    }

    /// Seconds that a download is tried without progress; 600 unless set.
    public var maxDownloadRetryTime: TimeInterval {
        get { settings.withLock { $0.maxDownloadRetryTime } }
        set { settings.withLock { $0.maxDownloadRetryTime = newValue } }
    }

    /// Seconds that other requests are tried; 120 unless set.
    public var maxOperationRetryTime: TimeInterval {
        get { settings.withLock { $0.maxOperationRetryTime } }
        set { settings.withLock { $0.maxOperationRetryTime = newValue } }
    }
}

/// A server and a bucket of it.
struct StorageLocation: Equatable, Sendable {
    /// Scheme, host and port, without a slash at the end.
    let origin: String
    let bucket: String

    /// Reads the address that an app gives; nil: that of its options.
    ///
    /// - Throws: `StorageError.invalidArgument`.
    init(_ url: String?, _ settings: AppSettings) throws(StorageError) {
        guard let url else {
            (origin, bucket) = (settings.storageURL, settings.storageBucket)
            return
        }
        if url.hasPrefix("gs://") {
            let path = try StoragePath(url: url)
            guard path.isRoot else { throw Self.fault(url, "it names an object, not a bucket") }
            (origin, bucket) = (settings.storageURL, path.bucket)
            return
        }
        guard var parts = URLComponents(string: url) else {
            throw Self.fault(url, "it cannot be read")
        }
        if let why = parts.serverFault { throw Self.fault(url, why) }
        let isRoot = parts.path.allSatisfy { $0 == "/" }
        bucket = isRoot ? settings.storageBucket : try StoragePath(url: url).bucket
        parts.scheme = parts.isSecure ? "https" : "http"
        (parts.path, parts.query, parts.fragment) = ("", nil, nil)
        origin = parts.string ?? settings.storageURL
    }

    private static func fault(_ url: String, _ why: String) -> StorageError {
        // What stands before an `@` may be a password.
        let shown = url.lastIndex(of: "@").map { "...\(url[$0...])" } ?? url
        return .invalidArgument(message: "\"\(shown)\" is no address of files: \(why)")
    }
}
