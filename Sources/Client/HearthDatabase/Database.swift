public import Dispatch
public import Foundation
import ClientTransport
public import HearthCore
import JSONTree
import SyncCore

/// One database. An app has one object for each.
///
/// Nothing is connected until the first call that reads or writes. Callbacks come on `callbackQueue`, the
/// main queue unless another is set.
public final class Database: NSObject, Sendable {
    let sync: SyncQueue
    /// The fault in the given address; all references report it.
    let fault: DatabaseError?
    private let owner: HearthApp

    /// Databases in use, for `DatabaseReference.goOffline()`.
    private static let open = Mutex<[ObjectIdentifier: Database]>([:])

    static var all: [Database] {
        open.withLock { Array($0.values) }.sorted { $0.address.namespace < $1.address.namespace }
    }

    init(
        app: HearthApp,
        at location: Result<LinkAddress, DatabaseError>,
        transport: (any ClientTransport)? = nil,
    ) {
        owner = app
        let address: LinkAddress
        switch location {
        case .success(let found):
            address = found
            fault = nil
        case .failure(let error):
            address = LinkAddress(host: "localhost", isSecure: false, namespace: "default")
            fault = error
        }
        sync = SyncQueue(
            DatabaseSetup(address, app.settings),
            transport: transport ?? makeClientTransport(),
            credentials: app.credentials,
        )
        super.init()
    }

    static func location(_ app: HearthApp, _ text: String?) -> Result<LinkAddress, DatabaseError> {
        let settings = app.settings
        do throws(DatabaseError) {
            let url = try DatabaseURL(text ?? settings.databaseURL)
            guard url.path.allSatisfy({ $0 == "/" }) else {
                throw .invalidURL(
                    text ?? settings.databaseURL,
                    why: "it names a path in a database: use reference(fromURL:)"
                )
            }
            var address = url.address(defaultName: settings.databaseName)
            if text == nil { address.namespace = settings.databaseName }
            return .success(address)
        } catch {
            return .failure(error)
        }
    }

    private static func instance(_ app: HearthApp, _ url: String?) -> Database {
        let location = location(app, url)
        let key =
            switch location {
            case .success(let address): "\(address.url)?ns=\(address.namespace)"
            case .failure: url ?? ""
            }
        let (database, isNew) = app.service(key) { Database(app: app, at: location) }
        guard isNew else { return database }
        if let fault = database.fault {
            HearthConfiguration.shared.log(
                .error,
                "a database cannot be used: \(fault.localizedDescription)"
            )
        }
        let id = ObjectIdentifier(database)
        open.withLock { $0[id] = database }
        app.onDelete {
            open.withLock { $0[id] = nil }
            database.sync.close()
        }
        return database
    }

    /// The owner of references made from nothing; closed, so that it never connects.
    static let nowhere: Database = {
        let database = Database(app: .unconfigured, at: .failure(fromNothing))
        database.sync.close()
        return database
    }()

    static let fromNothing = DatabaseError.invalidQuery(
        why: "it was made from nothing: ask a Database for a reference"
    )

    var address: LinkAddress { sync.setup.choice.address }

    func warn(_ text: String) { HearthConfiguration.shared.log(.warning, text) }
}

// MARK: Getting one

extension Database {
    /// The database of the default app.
    public static func database() -> Database { instance(HearthApp.defaultApp(), nil) }

    /// The database of the default app at an address: `http://localhost:9000?ns=demo`.
    ///
    /// If the address is invalid, all references report it when they are used.
    public static func database(url: String) -> Database { instance(HearthApp.defaultApp(), url) }

    /// The database of an app.
    public static func database(app: HearthApp) -> Database { instance(app, nil) }

    /// The database of an app at an address.
    public static func database(app: HearthApp, url: String) -> Database { instance(app, url) }

    /// The app it belongs to.
    public var app: HearthApp? { owner }

    /// The version of this SDK.
    public static func sdkVersion() -> String { SDKVersion.text }

    /// Whether the SDK logs its activity, not only errors.
    public static func setLoggingEnabled(_ enabled: Bool) {
        HearthConfiguration.shared.setLoggerLevel(enabled ? .debug : .notice)
    }
}

// MARK: References

extension Database {
    /// The root.
    public func reference() -> DatabaseReference {
        if let fault { return DatabaseReference(self, .failure(fault)) }
        return DatabaseReference(self, .success(QueryLocation(.root)))
    }

    /// The location at a path.
    public func reference(withPath path: String) -> DatabaseReference { reference().child(path) }

    /// The location at a path.
    ///
    /// - Throws: `DatabaseError.invalidPath` for a path that cannot be.
    public func reference(validating path: String) throws -> DatabaseReference {
        try reference().child(validating: path)
    }

    /// The location that an address names; it must be in this database.
    public func reference(fromURL databaseUrl: String) -> DatabaseReference {
        do throws(DatabaseError) {
            let url = try DatabaseURL(databaseUrl)
            guard url.host == address.host, url.name == nil || url.name == address.namespace else {
                throw .invalidURL(databaseUrl, why: "it is one of another database")
            }
            return try reference().checkedChild(url.path)
        } catch {
            warn("a reference cannot be used: \(error.localizedDescription)")
            return DatabaseReference(self, .failure(error))
        }
    }
}

// MARK: Setting up

extension Database {
    /// Uses the server on this host and port, without TLS; to be called before the database is first used.
    public func useEmulator(withHost host: String, port: Int) {
        sync.setup.choose("useEmulator") { $0.address = $0.address.behind(host: host, port: port) }
    }

    /// Whether data and pending writes are kept on disk; to be set before the database is first used.
    public var isPersistenceEnabled: Bool {
        get { sync.setup.choice.isPersistent }
        set { sync.setup.choose("isPersistenceEnabled") { $0.isPersistent = newValue } }
    }

    /// Bytes that data on disk takes at most, from 1 MiB to 100 MiB; to be set before the first use.
    public var persistenceCacheSizeBytes: UInt {
        get { sync.setup.choice.cacheByteCount }
        set {
            let limits: ClosedRange<UInt> = 1_048_576...104_857_600
            guard limits.contains(newValue) else {
                return warn("persistenceCacheSizeBytes is from 1 MiB to 100 MiB, not \(newValue)")
            }
            sync.setup.choose("persistenceCacheSizeBytes") { $0.cacheByteCount = newValue }
        }
    }

    /// Sets how many milliseconds `getData` waits for a connection, before anything else is asked of the database.
    /// 3,000 unless set, as Firebase's SDKs do, which have no setting for it: too few where hundreds of clients share a
    /// processor, as in tests.
    package func setReadTimeout(milliseconds: Int64) {
        sync.setup.choose("readTimeout") { $0.readTimeout = milliseconds }
    }

    /// Where callbacks come; the main queue unless another is set. It must be a serial queue.
    public var callbackQueue: DispatchQueue {
        get { sync.setup.callbackQueue }
        set { sync.setup.callbackQueue = newValue }
    }
}

// MARK: Connection

extension Database {
    /// Closes the connection and opens none until `goOnline`. Reads give the known data; writes wait.
    public func goOffline() { sync.call(.goOffline) }

    /// Undoes `goOffline`.
    public func goOnline() { sync.call(.goOnline) }

    /// Drops all writes that the server has not acknowledged; their completions get an error.
    public func purgeOutstandingWrites() { sync.call(.purgeOutstandingWrites) }
}
