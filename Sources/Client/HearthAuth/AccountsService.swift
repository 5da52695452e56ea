import Foundation
import HearthCore

/// The server's requests about accounts.
final class AccountsService: Sendable {
    /// Settings that may change after the app was configured.
    struct MutableSettings: Sendable {
        /// Without a slash at the end.
        var server: String
        /// Language of emails and messages, as `de` or `pt-BR`.
        var languageCode: String?
    }

    /// Characters that an address or a header needs no escape for.
    private static let plain = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
    )

    let mutableSettings: Mutex<MutableSettings>
    private let apiKey: String
    /// Requests that users wait for are separate from refreshes that programs need: a slow sign-in delays no refresh.
    private let asked: any AccountsTransport
    private let refreshing: any AccountsTransport

    init(_ settings: AppSettings) {
        mutableSettings = Mutex(MutableSettings(server: settings.accountsURL))
        let key = settings.apiKey.addingPercentEncoding(withAllowedCharacters: Self.plain)
        apiKey = key ?? "hearth"
        #if canImport(Darwin)
            asked = SessionTransport(settings)
            refreshing = asked
        #else
            asked = CurlTransport(settings)
            refreshing = CurlTransport(settings)
        #endif
    }

    /// Sends one request of the identity protocol: `signUp`, as in `accounts:signUp`.
    ///
    /// - Throws: The refusal, or `networkError`.
    func call(_ method: String, _ body: [String: JSONValue]) async throws(AuthError) -> Answer {
        let path = "/identitytoolkit.googleapis.com/v1/accounts:\(method)"
        return try await send(path, body, over: asked)
    }

    /// Gets new tokens.
    ///
    /// - Throws: The refusal, or `networkError`.
    func refresh(_ token: String) async throws(AuthError) -> Answer {
        let body: [String: JSONValue] = [
            "grantType": .text("refresh_token"), "refreshToken": .text(token),
        ]
        return try await send("/securetoken.googleapis.com/v1/token", body, over: refreshing)
    }

    private func send(
        _ path: String,
        _ body: [String: JSONValue],
        over transport: any AccountsTransport,
    ) async throws(AuthError) -> Answer {
        let mutableSettings = mutableSettings.withLock { $0 }
        var headers = [(name: "Content-Type", value: "application/json")]
        if let code = mutableSettings.languageCode,
            code.unicodeScalars.allSatisfy(Self.plain.contains)
        {
            headers.append(("X-Firebase-Locale", code))
        }
        guard let bytes = try? JSONEncoder().encode(body) else { throw AuthError(.internalError) }
        let time = SystemClock.instant
        let url = "\(mutableSettings.server)\(path)?key=\(apiKey)"
        let answer = try await transport.post(url, headers: headers, body: [UInt8](bytes))
        let content = Data(answer.body)
        guard (200..<300).contains(answer.status) else {
            let refusal = try? JSONDecoder().decode(Refusal.self, from: content)
            throw AuthError(status: answer.status, message: refusal?.error.message)
        }
        do {
            var answer = try JSONDecoder().decode(Answer.self, from: content)
            answer.time = time
            return answer
        } catch {
            throw AuthError(.internalError)
        }
    }
}

/// `{"error":{"code":400,"message":"EMAIL_EXISTS"}}`
private struct Refusal: Decodable {
    struct Reason: Decodable {
        let message: String?
    }

    let error: Reason
}

/// The members of a success that the client reads, for all requests.
struct Answer: Decodable, Sendable {
    var localId: String?
    var email: String?
    var newEmail: String?
    var idToken: String?
    var refreshToken: String?
    var expiresIn: String?
    var isNewUser: Bool?
    var users: [Account]?
    var requestType: String?
    var signinMethods: [String]?
    var sessionInfo: String?
    var needConfirmation: Bool?
    var errorMessage: String?
    // Of the address for new tokens.
    var id_token: String?
    var refresh_token: String?
    var expires_in: String?
    var user_id: String?

    var time = SystemClock.instant

    private enum CodingKeys: CodingKey {
        case localId, email, newEmail, idToken, refreshToken, expiresIn, isNewUser, users
        case requestType, signinMethods, sessionInfo, needConfirmation, errorMessage
        case id_token, refresh_token, expires_in, user_id
    }

    var tokens: Tokens? {
        guard let id = idToken ?? id_token, let refresh = refreshToken ?? refresh_token,
            !id.isEmpty, !refresh.isEmpty
        else { return nil }
        let seconds = (expiresIn ?? expires_in).flatMap { Double($0) }
        return Tokens(id: id, refresh: refresh, seconds: seconds, asked: time)
    }
}

/// An account as the server shows it to its user.
struct Account: Decodable, Sendable {
    struct Identity: Decodable, Sendable {
        var providerId: String?
        var rawId: String?
        var email: String?
        var displayName: String?
        var photoUrl: String?
        var phoneNumber: String?
    }

    var localId: String
    var email: String?
    var emailVerified: Bool?
    var displayName: String?
    var photoUrl: String?
    var phoneNumber: String?
    /// Milliseconds, as texts.
    var createdAt: String?
    var lastLoginAt: String?
    var providerUserInfo: [Identity]?
}
