import Accounts
import JSONTree

/// The addresses that count as one client: one of IPv4, or a /64 of IPv6, which is what one subscriber is given.
package enum ClientNetwork: Hashable, Sendable {
    case ipv4([UInt8])
    case ipv6([UInt8])
    /// Anything but a numeric address.
    case other(String)

    /// The network of an address of 4 or 16 bytes, or of one that could only be had as `text`.
    package init(_ bytes: [UInt8]?, text: String) {
        switch bytes?.count {
        case 4: self = .ipv4(bytes ?? [])
        case 16: self = .ipv6(Array((bytes ?? []).prefix(8)))
        default: self = .other(text)
        }
    }

    /// The /48 around a network of IPv6, of which one customer may hold all 65,536 networks; nil for others.
    var site: ClientNetwork? {
        guard case .ipv6(let bytes) = self, bytes.count == 8 else { return nil }
        return .ipv6(Array(bytes.prefix(6)))
    }
}

/// Something that a client may only do so often.
package struct Attempt: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// To prove an identity: failures count, for the network and for the subject if there is one.
        case proof
        /// To show a token that cannot be guessed: failures count, for the network only and apart from those of
        /// `proof`. The token is checked first, and waits only if it is invalid.
        case token
        /// To make an account or give one another address, which reveals whether the address is taken: each one counts,
        /// for the network.
        case signUp
        /// To have a message sent: each one counts, for the network and for whom it is to.
        case message
    }

    package let kind: Kind
    package let network: ClientNetwork
    /// Its subject: an address, the session of a phone's code.
    ///
    /// Never depends on whether the account exists: limits must not reveal it.
    package let subject: String?

    package init(_ kind: Kind, from network: ClientNetwork, subject: String? = nil) {
        self.kind = kind
        self.network = network
        self.subject = subject.map {
            String(decoding: $0.utf8.prefix(AttemptLimits.subjectByteLimit), as: UTF8.self)
        }
    }

    /// What a request tries; nil for one that may be repeated at will.
    package init?(_ request: IdentityRequest, from network: ClientNetwork) {
        let fields = request.fields
        switch request.route.method {
        case .signInWithPassword:
            self.init(.proof, from: network, subject: Self.email(fields, "email"))
        case .signInWithPhoneNumber:
            let session = Self.key("session", fields.node("sessionInfo").string)
            self.init(.proof, from: network, subject: session)
        case .resetPassword, .signInWithEmailLink, .actionPage:
            self.init(.proof, from: network)
        case .update where !fields.node("oobCode").isAbsent:
            self.init(.proof, from: network)
        case .token, .signInWithCustomToken: self.init(.token, from: network)
        case .signUp: self.init(.signUp, from: network)
        case .update where Self.takesEmail(fields): self.init(.signUp, from: network)
        case .sendOobCode:
            self.init(.message, from: network, subject: Self.receiver(fields))
        case .sendVerificationCode:
            let number = fields.node("phoneNumber").string
            self.init(.message, from: network, subject: Self.key("phone", number))
        default: return nil
        }
    }

    /// Whether it would give an account another address. Empty texts count as missing (`RequestFields.givenText`).
    private static func takesEmail(_ fields: RequestFields) -> Bool {
        let email = fields.node("email")
        return !email.isAbsent && email.string != ""
    }

    /// The recipient of the message; nil when a token names it, and when there is none.
    private static func receiver(_ fields: RequestFields) -> String? {
        do throws(IdentityError) {
            switch try fields.codeKind() {
            case .passwordReset, .emailSignIn: return email(fields, "email")
            case .verifyAndChangeEmail: return email(fields, "newEmail")
            case .verifyEmail, .recoverEmail, .phone: return nil
            }
        } catch {
            return nil
        }
    }

    /// The subject of an address in any spelling; nil for a text that is not an address.
    package static func subject(email: String) -> String? {
        key("email", EmailAddress.normalized(email))
    }

    private static func email(_ fields: RequestFields, _ name: String) -> String? {
        fields.node(name).string.flatMap { subject(email: $0) }
    }

    private static func key(_ kind: String, _ text: String?) -> String? {
        text.map { "\(kind) \($0)" }
    }
}
