import Foundation
import HearthCore

/// The content of an ID token; only the server checks its signature.
struct IDToken: Sendable {
    let claims: [String: JSONValue]

    /// - Parameter text: Three parts in base64url with dots between them, the last one may be empty.
    /// - Throws: `malformedJWT`.
    init(_ text: String) throws(AuthError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Self.bytes(parts[1]),
            let claims = try? JSONDecoder().decode([String: JSONValue].self, from: bytes)
        else { throw AuthError(.malformedJWT) }
        self.claims = claims
    }

    private static func bytes(_ base64url: Substring) -> Data? {
        var text = base64url.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        return Data(base64Encoded: text)
    }

    /// Seconds from its making to its end, by the server's clock alone.
    var lifetime: Double? {
        guard let end = claims["exp"]?.number, let start = claims["iat"]?.number else { return nil }
        return end - start
    }

    func date(_ claim: String) -> Date? {
        claims[claim]?.number.map { Date(timeIntervalSince1970: $0) }
    }

    /// `password`, `anonymous`, `custom`, ...
    var signInProvider: String {
        guard case .object(let members) = claims["firebase"] else { return "" }
        return members["sign_in_provider"]?.string ?? ""
    }
}

/// The credentials of a sign-in. Says nothing of them when it is printed.
struct Tokens: Sendable, Codable, CustomStringConvertible, CustomReflectable {
    /// The token for servers.
    let id: String
    /// The token that gets a new `id`.
    let refresh: String
    /// Seconds that the ID token is good for from its making.
    let lifetime: Double
    /// When the ID token ends, by the clock of this machine: for the next start of the program.
    let expiry: Date
    /// When the tokens were requested, by a clock that cannot be set.
    let received: ContinuousClock.Instant

    /// Seconds; a longer lifetime from a server is not believed.
    private static let longest = 86400.0 * 366

    private enum CodingKeys: CodingKey {
        case id, refresh, lifetime, expiry
    }

    /// Tokens that a server has just given. The token's own lifetime counts if it is shorter than `seconds`, the
    /// server's, or if none is given. It starts when the request was sent.
    init(id: String, refresh: String, seconds: Double?, asked: ContinuousClock.Instant) {
        self.id = id
        self.refresh = refresh
        let own = (try? IDToken(id))?.lifetime
        let lifetimes = [seconds, own].compactMap { $0 }.filter { $0.isFinite }
        lifetime = min(max(lifetimes.min() ?? 0, 0), Self.longest)
        received = asked
        let age = asked.duration(to: SystemClock.instant) / .seconds(1)
        expiry = SystemClock.date.addingTimeInterval(lifetime - age)
    }

    /// Reads tokens of an earlier run; the machine's clock gives their age, unless that is impossible.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(String.self, forKey: .id)
        refresh = try members.decode(String.self, forKey: .refresh)
        expiry = try members.decode(Date.self, forKey: .expiry)
        lifetime = try members.decode(Double.self, forKey: .lifetime)
        guard !id.isEmpty, !refresh.isEmpty, (0...Self.longest).contains(lifetime) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "tokens"))
        }
        let left = expiry.timeIntervalSince(SystemClock.date)
        // A token of the future: the clock was set back, so nothing is known about its age.
        let age = left > lifetime ? lifetime : min(lifetime - left, lifetime)
        received = SystemClock.instant - .seconds(age)
    }

    /// When a new one is to be had: 5 minutes before the end, for tokens of less than 10 at half their time.
    private var staleTime: ContinuousClock.Instant {
        received + .seconds(lifetime - min(300, lifetime / 2))
    }

    /// Whether no new token is needed yet.
    var isFresh: Bool { SystemClock.instant < staleTime }

    /// When a new one is got without being asked for; a server whose tokens end at once is asked every second.
    var refreshTime: ContinuousClock.Instant { max(staleTime, received + .seconds(1)) }

    /// Whether a server may still take the ID token for a while.
    var isAlive: Bool { SystemClock.instant < received + .seconds(max(lifetime - 10, 0)) }

    var description: String { "Tokens" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
