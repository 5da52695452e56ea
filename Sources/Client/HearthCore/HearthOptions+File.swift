import Foundation

/// Options in the property list that the hosted service's console gives out for an app.
///
/// Of its entries these count; the others are about products that a Hearth server has no part in:
///
///     DATABASE_URL   databaseURL: write the address of the server there
///     API_KEY        apiKey
///     PROJECT_ID     projectID
///     STORAGE_BUCKET storageBucket
extension HearthOptions {
    /// The options of `GoogleService-Info.plist` in the main bundle; nil when the file is missing or cannot be read.
    ///
    /// `HearthApp.configure()` does not read it: the default server must not depend on a file that may name the
    /// hosted service.
    public static func defaultOptions() -> HearthOptions? { options(in: .main) }

    static func options(in bundle: Bundle) -> HearthOptions? {
        bundle.path(forResource: "GoogleService-Info", ofType: "plist")
            .flatMap { HearthOptions(contentsOfFile: $0) }
    }

    /// The options of a property list; nil when it cannot be read, with the reason in the log.
    ///
    /// - Parameter plistPath: Where the file is.
    public init?(contentsOfFile plistPath: String) {
        do {
            let file = try Data(contentsOf: URL(fileURLWithPath: plistPath))
            let list = try PropertyListSerialization.propertyList(from: file, format: nil)
            guard let entries = list as? [String: Any] else {
                HearthConfiguration.shared.log(
                    .error,
                    "\(plistPath) holds no options: its property list is no dictionary"
                )
                return nil
            }
            self.init()
            databaseURL = entries["DATABASE_URL"] as? String
            apiKey = entries["API_KEY"] as? String
            projectID = entries["PROJECT_ID"] as? String
            storageBucket = entries["STORAGE_BUCKET"] as? String
        } catch {
            HearthConfiguration.shared.log(
                .error,
                "no options can be read from \(plistPath): \(error.localizedDescription)"
            )
            return nil
        }
    }
}
