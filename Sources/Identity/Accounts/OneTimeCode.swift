package import JSONTree
import Tokens

/// A secret that was sent to a person and is valid once: the code of an e-mail link, or the session that belongs to the
/// digits sent to a phone.
///
/// Only its digest is kept. The secret has more than 256 random bits, so a reader of the digest cannot find it.
package struct OneTimeCode: Sendable, Equatable {
    /// What it lets one do, by the name that SDKs know.
    package enum Kind: String, Sendable, CaseIterable {
        case passwordReset = "PASSWORD_RESET"
        case verifyEmail = "VERIFY_EMAIL"
        case emailSignIn = "EMAIL_SIGNIN"
        case verifyAndChangeEmail = "VERIFY_AND_CHANGE_EMAIL"
        /// Restores an address that was changed.
        case recoverEmail = "RECOVER_EMAIL"
        /// The digits that a phone is sent.
        case phone = "PHONE"

        /// Milliseconds that a code counts.
        ///
        /// Sources: Firebase Authentication for password resets (1 hour), verifications (3 days) and sign-in links (6
        /// hours); ours for the rest: a phone is at hand, and a person who has lost an address needs time to notice.
        package var lifetime: Int64 {
            let hour: Int64 = 3_600_000
            switch self {
            case .passwordReset: return hour
            case .emailSignIn: return 6 * hour
            case .verifyEmail, .verifyAndChangeEmail: return 72 * hour
            case .recoverEmail: return 168 * hour
            case .phone: return hour / 6
            }
        }

        /// Codes that are open at a time for one account or address; ours.
        ///
        /// As many as emails are sent to one person at once: so requesting more emails voids no link. Fewer for phones,
        /// since each allows some guesses.
        package var openLimit: Int { self == .phone ? 5 : 10 }
    }

    /// Wrong digits that end the session of a phone; ours: with six digits, a guess in 200,000.
    package static let tryLimit: Int64 = 5

    /// 64 hexadecimal digits.
    package let digest: String
    package let kind: Kind
    /// The account that it is for, if there is one.
    package let uid: String?
    /// The address that the account had when it was made, or that is to be signed in; normalised.
    package let email: String?
    /// The address that replaces it.
    package let newEmail: String?
    package let phoneNumber: String?
    /// Proves the digits of a phone: the digest of the secret and the digits.
    package let proof: String?
    /// That of the account when it was made.
    package let validSince: Int64?
    /// Whether it is not sent: it is kept so that an address without an account causes the same work as others.
    package let isUnsent: Bool
    package let createdAt: Timestamp
    package let expiresAt: Timestamp
    /// How often wrong digits are still taken; nil for what has none.
    package var triesLeft: Int64?

    /// A new one, which counts from `now` on.
    package init(
        secret: String,
        kind: Kind,
        uid: String? = nil,
        email: String? = nil,
        newEmail: String? = nil,
        phoneNumber: String? = nil,
        digits: String? = nil,
        validSince: Int64? = nil,
        isUnsent: Bool = false,
        now: Timestamp
    ) {
        digest = SHA256Digest.hex(secret)
        self.kind = kind
        self.uid = uid
        self.email = email
        self.newEmail = newEmail
        self.phoneNumber = phoneNumber
        proof = digits.map { Self.proof(secret, $0) }
        triesLeft = digits == nil ? nil : Self.tryLimit
        self.validSince = validSince
        self.isUnsent = isUnsent
        createdAt = now
        expiresAt = Timestamp(milliseconds: now.milliseconds + kind.lifetime)
    }

    /// Whether it no longer counts because of its age.
    package func isExpired(at now: Timestamp) -> Bool { now >= expiresAt }

    /// Whether these are the digits that were sent with `secret`.
    ///
    /// Compares two digests: the duration reveals nothing about the digits.
    package func isProved(by digits: String, secret: String) -> Bool {
        proof == Self.proof(secret, digits)
    }

    /// Whom the limit of open codes is counted for: the address or number that they are sent to, or the account.
    package var subject: String {
        phoneNumber ?? (kind == .verifyAndChangeEmail ? uid : email) ?? ""
    }

    private static func proof(_ secret: String, _ digits: String) -> String {
        SHA256Digest.hex("\(secret):\(digits)")
    }
}

/// A stored code, at the digest of its secret:
///
///     {kind, uid, email, newEmail, phoneNumber, proof, createdAt, expiresAt, triesLeft, validSince, untold}
///
/// Times are milliseconds since 1970.
extension OneTimeCode {
    /// The code that a record holds; nil for none.
    package init?(digest: String, record: Node) {
        guard let kind = record.member("kind").string.flatMap({ Kind(rawValue: $0) }),
            let createdAt = record.member("createdAt").integer,
            let expiresAt = record.member("expiresAt").integer
        else { return nil }
        self.digest = digest
        self.kind = kind
        uid = record.member("uid").string
        email = record.member("email").string
        newEmail = record.member("newEmail").string
        phoneNumber = record.member("phoneNumber").string
        proof = record.member("proof").string
        triesLeft = record.member("triesLeft").integer
        validSince = record.member("validSince").integer
        isUnsent = record.member("untold").boolean == true
        self.createdAt = Timestamp(milliseconds: createdAt)
        self.expiresAt = Timestamp(milliseconds: expiresAt)
    }

    /// The record that is stored.
    package var record: Node {
        var record = RecordBuilder()
        record.set("kind", kind.rawValue)
        record.set("uid", uid)
        record.set("email", email)
        record.set("newEmail", newEmail)
        record.set("phoneNumber", phoneNumber)
        record.set("proof", proof)
        record.set("createdAt", createdAt.milliseconds)
        record.set("expiresAt", expiresAt.milliseconds)
        record.set("triesLeft", triesLeft)
        record.set("validSince", validSince)
        if isUnsent { record.set("untold", true) }
        return record.node
    }
}
