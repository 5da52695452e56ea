import ArgumentParser
import HTTPClient

/// Where the buckets are: a server of Hearth, or another store with Google's JSON API, which gets a token of its own.
struct StoreOptions: ParsableArguments {
    @Option(
        value: "url",
        help:
            "Another store with Google's JSON API, such as https://storage.googleapis.com, instead of the server."
    )
    var store: String?

    @Option(file: "File with the access token of that store (default: $HEARTH_STORE_TOKEN).")
    var storeTokenFile: String?

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        if storeTokenFile != nil, store == nil {
            throw ValidationError("--store-token-file has no store; name one with --store URL")
        }
    }

    /// The bucket of that name there. A credential of the server goes to no other store.
    func bucket(_ name: String) throws(CommandError) -> StoredBucket {
        guard let store else { return StoredBucket(name, try server.database(isRaw: true)) }
        let address = try ServerAddress(store: store, token: token())
        return StoredBucket(name, try server.database(at: address, isRaw: true))
    }

    private func token() throws(CommandError) -> String? {
        if let storeTokenFile { return try ServerOptions.credential(from: storeTokenFile) }
        let text = ProcessEnvironment.variables()["HEARTH_STORE_TOKEN"] ?? ""
        return text.isEmpty ? nil : text
    }
}
