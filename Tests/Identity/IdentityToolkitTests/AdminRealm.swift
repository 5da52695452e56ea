import TestSupport
import Accounts
import JSONTree
import Passwords
import Tokens

@testable import IdentityToolkit

/// A realm whose administrator's requests are done at once: passwords are "hashed" into their own text.
struct AdminRealm {
    var directory = AccountDirectory(root: .absent)
    var now = Timestamp(milliseconds: 1_700_000_000_500)
    var policy = IdentityPolicy()
    private var generator = TestSeed.generator(6)

    struct Reply {
        let status: Int
        let body: Node
        /// The body as it is written.
        let text: String
        var events: [AccountEvent] = []

        /// `error.message`.
        var message: String? { body.member("error").member("message").string }
    }

    /// Does one request; what it changes stays.
    mutating func call(
        _ method: IdentityMethod,
        _ json: String = "{}",
        verb: String = "POST",
        query: [String: String] = [:]
    ) throws -> Reply {
        let path = Self.path(of: method)
        guard let route = IdentityRoute(path.split(separator: "/").map(String.init)) else {
            throw NoSuchRoute(path: path)
        }
        let fields: RequestFields
        do throws(IdentityError) {
            fields = try RequestFields(json: Array(json.utf8))
        } catch {
            return try Self.reply(error.status, error.body)
        }
        let request = IdentityRequest(
            route: route,
            verb: verb,
            fields: fields,
            query: query,
            isAdmin: true
        )
        var step = IdentityToolkit.begin(request, context())
        while true {
            switch step {
            case .answer(let answer):
                directory = AccountDirectory(root: answer.changes.applied(to: directory.root))
                var reply = try Self.reply(answer.status, answer.body.value)
                reply.events = answer.events
                return reply
            case .refuse(let error): return try Self.reply(error.status, error.body)
            case .away(let work): step = work()(context())
            case .password(let work, let then):
                guard case .hash(let password, _) = work else { throw UnexpectedStep() }
                step = then(.hashed(Self.stored(password)), context())
            case .check(_, let then):
                step = then(.failure(.partCount(1)), context())
            }
        }
    }

    struct NoSuchRoute: Error {
        let path: String
    }

    struct UnexpectedStep: Error {}

    static func stored(_ password: [UInt8]) -> StoredPassword {
        let hash = password + [UInt8](repeating: 0, count: max(0, 16 - password.count))
        return StoredPassword(
            "$argon2id$v=19$m=8192,t=1,p=1$c2FsdHNhbHRzYWx0c2FsdA$\(Base64.encode(hash, .standard))"
        )
    }

    private mutating func context() -> IdentityContext {
        var generator = generator
        self.generator.advance()
        return IdentityContext(
            directory: directory,
            policy: policy,
            now: now,
            address: "http://127.0.0.1:9000",
            random: { count in
                (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            }
        )
    }

    private static func reply(_ status: Int, _ body: JSONValue) throws -> Reply {
        let text = body.text
        return Reply(
            status: status,
            body: try Node.readingAnyJSON(text),
            text: String(decoding: text, as: UTF8.self)
        )
    }

    private static func path(of method: IdentityMethod) -> String {
        switch method {
        case .adminCreate: "v1/projects/p/accounts"
        case .adminLookup: "v1/projects/p/accounts:lookup"
        case .adminUpdate: "v1/projects/p/accounts:update"
        case .adminDelete: "v1/projects/p/accounts:delete"
        case .createSessionCookie: "v1/projects/p:createSessionCookie"
        case .config, .tenants: "v2/projects/p/\(method.rawValue)"
        case .providerConfigs: "v2/projects/p/oauthIdpConfigs"
        default: "v1/projects/p/accounts:\(method.rawValue)"
        }
    }
}
