public import Foundation

/// The operation of a code from an email.
public enum ActionCodeOperation: Int, Sendable {
    /// Something that this version does not know.
    case unknown = 0
    /// Setting a new password.
    case passwordReset = 1
    /// Verifying an address.
    case verifyEmail = 2
    /// Taking back an address that was changed.
    case recoverEmail = 3
    /// Signing in.
    case emailLink = 4
    /// Verifying a new address and changing to it.
    case verifyAndChangeEmail = 5
    /// Taking back a second factor.
    case revertSecondFactorAddition = 6

    /// The names of the operations in answers, and in the `mode` of links.
    private static let names:
        [(operation: ActionCodeOperation, requestType: String, mode: String)] = [
            (.passwordReset, "PASSWORD_RESET", "resetPassword"),
            (.verifyEmail, "VERIFY_EMAIL", "verifyEmail"),
            (.recoverEmail, "RECOVER_EMAIL", "recoverEmail"),
            (.emailLink, "EMAIL_SIGNIN", "signIn"),
            (.verifyAndChangeEmail, "VERIFY_AND_CHANGE_EMAIL", "verifyAndChangeEmail"),
            (
                .revertSecondFactorAddition, "REVERT_SECOND_FACTOR_ADDITION",
                "revertSecondFactorAddition"
            ),
        ]

    init(requestType: String?) {
        self = Self.names.first { $0.requestType == requestType }?.operation ?? .unknown
    }

    init(mode: String?) { self = Self.names.first { $0.mode == mode }?.operation ?? .unknown }
}

/// The effect of a code from an email.
public struct ActionCodeInfo: Sendable, Equatable {
    /// The operation.
    public let operation: ActionCodeOperation
    /// The address it is about; the new one, where an address changes.
    public let email: String
    /// The address before, where an address changes.
    public let previousEmail: String?
}

/// Where the link in an email continues.
public final class ActionCodeSettings {
    /// The page or app that is opened in the end.
    public var url: URL?
    /// Whether the app takes the code itself; links to sign in want true.
    public var handleCodeInApp = false
    /// The app for iOS that opens the link. A Hearth server has no use for it.
    public var iOSBundleID: String?
    /// The app for Android that opens the link. A Hearth server has no use for it.
    public private(set) var androidPackageName: String?
    /// Whether the app for Android is to be installed when it is not there.
    public private(set) var androidInstallIfNotAvailable = false
    /// The least version of the app for Android.
    public private(set) var androidMinimumVersion: String?
    /// The host of the link; one that the server does not have for links is refused.
    public var linkDomain: String?

    /// Settings without a continue address.
    public init() {}

    /// Names the app for iOS that opens the link.
    public func setIOSBundleID(_ iOSBundleID: String) { self.iOSBundleID = iOSBundleID }

    /// Names the app for Android that opens the link.
    public func setAndroidPackageName(
        _ androidPackageName: String,
        installIfNotAvailable: Bool,
        minimumVersion: String?,
    ) {
        self.androidPackageName = androidPackageName
        androidInstallIfNotAvailable = installIfNotAvailable
        androidMinimumVersion = minimumVersion
    }

    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if let url { members["continueUrl"] = .text(url.absoluteString) }
        if handleCodeInApp { members["canHandleCodeInApp"] = .bool(true) }
        if let iOSBundleID { members["iOSBundleId"] = .text(iOSBundleID) }
        if let androidPackageName { members["androidPackageName"] = .text(androidPackageName) }
        if androidInstallIfNotAvailable { members["androidInstallApp"] = .bool(true) }
        if let androidMinimumVersion {
            members["androidMinimumVersion"] = .text(androidMinimumVersion)
        }
        if let linkDomain { members["linkDomain"] = .text(linkDomain) }
        return members
    }
}

/// The parts of a link from an email.
public struct ActionCodeURL: Sendable {
    /// The operation.
    public let operation: ActionCodeOperation
    /// The code. Anyone who has it can use it.
    public let code: String?
    /// Where it continues.
    public let continueURL: URL?
    /// Language of the page.
    public let languageCode: String?
    /// `key` of the app that asked for it.
    public let apiKey: String?

    /// Reads a link, also one inside the `link` of another; nil if it is none.
    public init?(link: String) {
        guard let items = Self.items(link, depth: 0) else { return nil }
        code = items["oobCode"]
        apiKey = items["apiKey"]
        languageCode = items["lang"]
        continueURL = items["continueUrl"].flatMap { URL(string: $0) }
        operation = ActionCodeOperation(mode: items["mode"])
    }

    /// The query of a link, or of the link in it; `depth` links were opened so far, 3 at most.
    private static func items(_ link: String, depth: Int) -> [String: String]? {
        guard depth < 3, let parts = URLComponents(string: link), parts.scheme != nil else {
            return nil
        }
        let pairs = (parts.queryItems ?? []).compactMap { item in item.value.map { (item.name, $0) }
        }
        let items = Dictionary(pairs) { first, _ in first }
        if items["oobCode"] != nil { return items }
        for name in ["link", "deep_link_id"] {
            if let inner = items[name], let found = self.items(inner, depth: depth + 1) {
                return found
            }
        }
        return items
    }
}
