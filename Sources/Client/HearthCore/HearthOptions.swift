/// Where an app finds its server, and how it speaks to it.
///
/// Everything has a default, so `HearthOptions()` is enough for a server on this machine. A copy is taken when an
/// app is configured; later changes reach no app.
public struct HearthOptions: Sendable {
    /// Address of the database: `http` or `https` (`ws` and `wss` mean the same), with `?ns=NAME` if it is not the
    /// default one.
    ///
    /// When it is nil the environment's `HEARTH_URL` counts, then `http://localhost:9000`. Addresses of the
    /// hosted service are taken too; their first label is the database's name.
    public var databaseURL: String?

    /// Name of the database; nil: as `databaseURL` says, else `default`.
    public var databaseName: String?

    /// Address of the server that has the accounts; nil: the one of `databaseURL`.
    public var accountsURL: String?

    /// The `key` of account requests; a Hearth server accepts any text that is not empty.
    public var apiKey: String?

    /// Name of the project whose accounts are used; it only appears in emails and tokens.
    public var projectID: String?

    /// Address of the server that has the files; nil: the one of `databaseURL`.
    public var storageURL: String?

    /// Bucket that files are in unless a program names another; nil: `PROJECT.appspot.com`, by `projectID` or `hearth`.
    public var storageBucket: String?

    /// PEM file of the authorities that servers' certificates are checked against; nil: the system's.
    public var authorityFile: String?

    /// Folder for all that the app keeps on disk; nil: one in the user's home, by program and app.
    ///
    /// Two processes must not share one at the same time.
    public var cacheFolder: String?

    /// Whether the user stays signed in when the program restarts.
    ///
    /// As in apps for phones the default is yes. A process that acts for several accounts, or runs on a machine where
    /// nothing may be left behind, sets it to false for each of its apps.
    public var persistsUser = true

    /// The `User-Agent` of requests; nil: `hearth-swift`.
    public var agent: String?

    /// Options that are all at their defaults.
    public init() {}

    /// Options for a database at `databaseURL`.
    public init(databaseURL: String) { self.databaseURL = databaseURL }

    /// Options as apps of the hosted service make them.
    ///
    /// - Parameters:
    ///   - googleAppID: Names an app to the hosted service; a Hearth server has no use for it.
    ///   - gcmSenderID: Names a sender of notifications; a Hearth server has no use for it.
    public init(googleAppID: String, gcmSenderID: String) {}
}

/// The name that the type has in the hosted service's SDK.
public typealias FirebaseOptions = HearthOptions
