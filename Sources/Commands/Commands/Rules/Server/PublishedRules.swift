import HTTPClient
import JSONTree

/// The rules of a database, or those for files, as their server reports them.
struct PublishedRules {
    /// Whether they are for files.
    let isForFiles: Bool
    /// The versions of its own that the server keeps, the newest first.
    let versions: [PublishedVersion]
    /// The rules in force while it has none of its own; nil if the server does not say.
    let fallback: Fallback?

    static let address = DatabasePath("/.settings/rules")

    enum Fallback: Equatable {
        case file(String)
        case samples
        case open
        case closed

        /// For people, as a noun.
        var text: String {
            switch self {
            case .file(let path): "the server's file \(path)"
            case .samples: "the sample rules"
            case .open: "none: open to all"
            case .closed: "none: everything is denied"
            }
        }

        /// Reads `{"source":"file","file":"rules.json"}`.
        init?(_ node: Node) {
            switch node.member("source").string {
            case "file":
                guard let path = node.member("file").string else { return nil }
                self = .file(path)
            case "samples": self = .samples
            case "open": self = .open
            case "closed": self = .closed
            default: return nil
            }
        }
    }

    init(of database: RemoteDatabase, files: Bool) throws(CommandError) {
        let request = database.request(
            .get,
            PublishedVersion.address,
            Self.parameters(files: files)
        )
        let body = try database.perform(request).body
        guard let versions = PublishedVersion.read(body) else {
            throw .failed(
                "\(database.location) answers no history of rules: is it an older server?"
            )
        }
        // One that does not know rules for files answers with those of the database.
        if files, Node(answer: body)?.member("service").string != "files" {
            throw .failed(
                "\(database.location) keeps no rules for files: is it an older server?"
            )
        }
        self.init(versions, body, files: files)
    }

    /// The parameters that say which rules are meant.
    static func parameters(files: Bool) -> Parameters { files ? [("service", "files")] : [] }

    /// With the answer whose versions these are.
    init(_ versions: [PublishedVersion], _ body: [UInt8], files: Bool = false) {
        isForFiles = files
        self.versions = versions
        fallback = Node(answer: body).flatMap { Fallback($0.member("withoutOwn")) }
    }

    /// The version in force; nil when the database has no rules of its own.
    var own: PublishedVersion? { versions.first.flatMap { $0.isDetached ? nil : $0 } }

    /// As text: `in force: version 7 (by ann, ...)`, and the file that is not used; nil when unknown.
    var inForceText: String? {
        if let own { return "in force: version \(own.shown)\(unusedFileText)" }
        return fallback.map { "in force: \($0.text)" }
    }

    /// The text after rules are detached; empty when the server does not say what is in force then.
    var fallbackText: String { fallback.map { "; in force: \($0.text)" } ?? "" }

    /// The text after own rules in force, when a file is configured; else empty.
    var unusedFileText: String {
        guard case .file(let path) = fallback else { return "" }
        let command = "hearth rules detach" + (isForFiles ? " --files" : "")
        return "; the server's file \(path) is not used ('\(command)' goes back to it)"
    }

    /// What a change has done, by the header of its answer:
    /// `pushed rules.json: version 7 is in force at http://127.0.0.1:9000 (demo); it was 6 (by ann, ...)`.
    func text(of what: String, _ response: HTTPResponse, _ database: RemoteDatabase) -> String {
        let before = versions.first
        guard let version = response.headers["rules-version"].flatMap({ Int($0) }) else {
            return "\(what): \(database.location)"
        }
        if version == before?.number ?? 0 {
            let present = before.map { "version \($0.shown)" } ?? "no rules of its own"
            return "\(what): nothing is changed, \(present) was in force at \(database.location)"
        }
        let was = before.map { "; it was \($0.shown)" } ?? ""
        return "\(what): version \(version) is in force at \(database.location)\(was)"
    }

    /// The versions that the server keeps: `3 to 7 ('hearth rules history' lists them)`.
    var keptText: String {
        guard let last = versions.first, let first = versions.last else { return "none" }
        let command = "hearth rules history" + (isForFiles ? " --files" : "")
        return "\(first.number) to \(last.number) ('\(command)' lists them)"
    }
}
