public import Foundation

/// The domain of errors of accounts.
public let AuthErrorDomain = "FIRAuthErrorDomain"

/// Why something about accounts was not done.
///
/// An `NSError`, since apps read `code` from one (`AuthErrorCode(rawValue: (error as NSError).code)`). A pattern or a
/// cast that names an `AuthErrorCode` matches it, too. Has no passwords and no tokens. Sendable because it is
/// immutable.
public final class AuthError: NSError, @unchecked Sendable {
    /// Key in `userInfo` of the code's name, `ERROR_WRONG_PASSWORD`.
    public static let nameKey = "FIRAuthErrorUserInfoNameKey"

    /// The error; `code` is its number.
    public let errorCode: AuthErrorCode

    /// The server's own code, `INVALID_PASSWORD`, where it was the server that refused.
    public let serverCode: String?

    /// Whether the same request may well succeed later.
    let isPassing: Bool

    init(
        _ code: AuthErrorCode,
        _ text: String? = nil,
        serverCode: String? = nil,
        isPassing: Bool = false,
    ) {
        errorCode = code
        self.serverCode = serverCode
        self.isPassing = isPassing
        let info = [NSLocalizedDescriptionKey: text ?? code.text, Self.nameKey: code.name]
        super.init(domain: AuthErrorDomain, code: code.rawValue, userInfo: info)
    }

    /// Errors are not read from archives: gives nil.
    public required init?(coder: NSCoder) { nil }

    /// The code's name and the error text.
    public override var description: String { "\(errorCode) (\(code)): \(localizedDescription)" }

    /// The error of a server's refusal; its message is `CODE` or `CODE : detail`, nil when the answer had none.
    convenience init(status: Int, message: String?) {
        let parts = (message ?? "").split(separator: ":", maxSplits: 1)
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        let code = parts.first ?? ""
        let isCode =
            !code.isEmpty
            && code.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (65...90).contains($0) }
        let isBusy = status == 429 || status == 503
        let isPassing = isBusy || status == 408 || status >= 500 && status != 501
        if isCode, let known = AuthErrorCode(serverCode: code) {
            let detail = parts.count > 1 ? String(parts[1].prefix(200)) : nil
            self.init(known, detail, serverCode: code, isPassing: isPassing)
        } else if isBusy {
            self.init(.tooManyRequests, serverCode: isCode ? code : nil, isPassing: true)
        } else if status == 403, message?.contains("API key") == true {
            self.init(.invalidAPIKey)
        } else {
            let words = message.map { ": \($0.prefix(200))" } ?? ""
            self.init(
                .internalError,
                "The server answered with status \(status)\(words)",
                serverCode: isCode ? code : nil,
                isPassing: isPassing
            )
        }
    }

    /// Whether the server says that the user's sign-in counts no more.
    var endsSignIn: Bool {
        switch serverCode {
        case "TOKEN_EXPIRED", "USER_DISABLED", "USER_NOT_FOUND", "INVALID_ID_TOKEN",
            "INVALID_REFRESH_TOKEN":
            true
        case _: false
        }
    }
}
