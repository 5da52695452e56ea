import DatabaseCore
import JSONTree
import Queries
import Transport
import WireProtocol

/// The query parameters that the REST routes share; unknown ones are ignored.
///
/// A class, since a request and its answer share what was read once.
final class RESTParameters {
    /// How the answer's text is laid out.
    enum Print: Equatable { case compact, pretty, silent }

    var print = Print.compact
    var isShallow = false
    /// Whether priorities are part of the answer.
    var isExport = false
    /// Whether rules are answered as strict JSON, without comments.
    var isStrict = false
    var isDryRun = false
    /// Who changes rules, as their history shall show it; nil stands for who asks.
    var author: String?
    /// The version of the rules that must be in force for them to be replaced.
    var expectedVersion: Int?
    /// Whether rules are those for files, and not those of the database.
    var isForFiles = false
    /// What of values is written.
    var form: Node.JSONForm {
        if isShallow { return .keys }
        return isExport ? .export : .value
    }
    /// On whose behalf an admin acts.
    var override: AuthOverride?
    /// The token of the `Authorization` header, else of `access_token`, else of `auth`.
    var token: String?
    /// How long a read may take; nil without a limit of its own.
    var timeout: Duration?
    /// How much a write may touch; nil stands for what the database's settings say.
    var sizeLimit: WriteSizeLimit?
    /// The file name under which a browser shall keep the answer.
    var download: String?
    /// The function that the answer of a read is a call of.
    var callback: ScriptCallback?
    /// Which children are read.
    var query = QuerySpec.everything
    /// Whether parameters choose among the children, or of each only its key.
    private(set) var choosesChildren = false

    /// `method` is the one that is meant; reads alone look at what is only for reads. An access token goes before an auth
    /// token, and a header before both.
    init(_ head: RequestHead, _ method: String) throws(BadRequest) {
        token = RESTParameters.bearer(head)
        if head.query.isEmpty { return }
        var (accessToken, authToken): (String?, String?)
        let isRead = method == "GET" || method == "HEAD"
        for (name, value) in head.query {
            switch name {
            case "access_token": if !value.isEmpty { accessToken = accessToken ?? value }
            case "auth": if !value.isEmpty { authToken = authToken ?? value }
            case "print": print = try RESTParameters.print(value)
            case "shallow":
                isShallow = try RESTParameters.flag(name, value)
                if isShallow { choosesChildren = true }
            case "dryRun": isDryRun = try RESTParameters.flag(name, value)
            case "author": author = try RulesAuthor.read(value)
            case "expectedVersion": expectedVersion = try RulesAuthor.version(value)
            case "service": isForFiles = try RESTParameters.isForFiles(value)
            case "format": try take(format: value)
            case Self.overrideName: override = try RESTParameters.override(value)
            case "writeSizeLimit": sizeLimit = try RESTParameters.sizeLimit(value)
            case "timeout": if isRead { timeout = try RESTParameters.timeout(value) }
            case "download": if isRead { download = value }
            case "callback": if isRead { callback = try ScriptCallback(value) }
            case "orderBy", "startAt", "startAfter", "endAt", "endBefore", "equalTo",
                "limitToFirst", "limitToLast":
                choosesChildren = true
            default: break
            }
        }
        token = token ?? accessToken ?? authToken
        if isRead, choosesChildren { query = try RESTParameters.query(head) }
    }

    private static func isForFiles(_ service: String) throws(BadRequest) -> Bool {
        switch service {
        case "files": true
        case "database": false
        default: throw BadRequest("'service' must be 'files' or 'database'")
        }
    }

    private func take(format: String) throws(BadRequest) {
        switch format {
        case "export": isExport = true
        case "strict": isStrict = true
        default: throw BadRequest("'format' must be 'export' or 'strict'")
        }
    }

    private static func print(_ value: String) throws(BadRequest) -> Print {
        switch value {
        case "pretty": .pretty
        case "silent": .silent
        default: throw BadRequest("'print' must be 'pretty' or 'silent'")
        }
    }

    /// The token of an `Authorization: Bearer` header; the scheme's case does not matter.
    static func bearer(_ head: RequestHead) -> String? {
        guard let value = head.header("authorization") else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    static func flag(_ name: String, _ value: String) throws(BadRequest) -> Bool {
        switch value {
        case "true": true
        case "false": false
        default: throw BadRequest("'\(name)' must be 'true' or 'false'")
        }
    }

    private static func sizeLimit(_ value: String) throws(BadRequest) -> WriteSizeLimit {
        if let limit = WriteSizeLimit(rawValue: value) { return limit }
        throw BadRequest(
            "'writeSizeLimit' must be 'tiny', 'small', 'medium', 'large' or 'unlimited'"
        )
    }

    /// What a longer timeout counts as. Source: Firebase Realtime Database REST API, `timeout`.
    private static let longestTimeout = Duration.seconds(15 * 60)

    /// Reads `3ms`, `3s` or `3min`.
    private static func timeout(_ text: String) throws(BadRequest) -> Duration {
        var timeout: Duration?
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        // Nine digits of minutes still fit.
        if digits.count <= 9, let count = Int64(digits), count > 0 {
            switch text.dropFirst(digits.count) {
            case "ms": timeout = .milliseconds(count)
            case "s": timeout = .seconds(count)
            case "min": timeout = .seconds(60 * count)
            default: break
            }
        }
        if let timeout { return min(timeout, longestTimeout) }
        throw BadRequest("'timeout' must be a positive number with the unit 'ms', 's' or 'min'")
    }

    private static func query(_ head: RequestHead) throws(BadRequest) -> QuerySpec {
        do throws(RESTQueryError) {
            return try RESTQuery.parse(head.query).spec ?? .everything
        } catch {
            throw BadRequest("\(error)")
        }
    }

    /// The parameter that names on whose behalf an administrator acts.
    static let overrideName = "auth_variable_override"

    static func override(_ text: String) throws(BadRequest) -> AuthOverride {
        do throws(JSONError) {
            if let override = try readOverride(Array(text.utf8)) { return override }
        } catch {
            // Every fault has the same remedy, which the sentence below says.
        }
        throw BadRequest("'auth_variable_override' must be a JSON object or null")
    }

    /// nil for a value of another kind.
    private static func readOverride(_ text: [UInt8]) throws(JSONError) -> AuthOverride? {
        try text.withBytes { bytes throws(JSONError) in
            var scanner = JSONScanner(bytes)
            switch try scanner.peek() {
            case UInt8(ascii: "n"):
                try scanner.readNull()
                try scanner.expectEnd()
                return .nobody
            case UInt8(ascii: "{"):
                let node = try scanner.readNode(anyKeys: true)
                try scanner.expectEnd()
                return .value(node)
            default: return nil
            }
        }
    }
}

/// A request that makes no sense; the text goes into the answer.
struct BadRequest: Error, Equatable {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}
