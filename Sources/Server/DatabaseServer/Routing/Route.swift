import DatabaseCore
import IdentityToolkit
import JSONTree
import Transport

/// One row of the table of routes (`RouteTable`): an address, its methods, who may use it, and what answers.
///
/// `OPTIONS`, CORS, the answer 405, the check for administrators, the way a body is taken, and the list in
/// `docs/reference/REST.md` follow from the row. A new address is one row and one function.
final class Route: Sendable {
    /// A method that a row can list. Every row answers `OPTIONS` too.
    enum Method: String, CaseIterable, Sendable {
        case get = "GET"
        case head = "HEAD"
        case put = "PUT"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// The clients that may use an address.
    enum Audience: String, Sendable {
        case everybody
        /// Clients that the rules of the database let.
        case rules = "by the rules"
        /// Clients that send an API key, whatever it says.
        case clients = "with an API key"
        /// In `--dev` also every caller on this machine. Pages of other origins never, except on a loopback bind.
        case administrators
        /// Everybody, in `--dev`; in production the address is not there.
        case development = "with `--dev`"
    }

    /// The part of the server that answers.
    enum Service: Sendable {
        case health, sockets, data, files, administration, inspection, accounts, emulator, pages
    }

    /// How the body of a request is taken.
    enum Body: Sendable {
        /// Kept until it is complete.
        case whole
        /// Read while it comes.
        case inParts
        /// The same for bytes of a file, whose coding is stored and not removed. It has a limit of its own.
        case file
        /// Kept until it is complete; a large one only after its sender has proved to be an administrator.
        case afterAdmission
        /// The head tells its length, at most so many bytes.
        case short(byteLimit: Int)
        /// The same of an identity request, which is refused in words of its own.
        case identity(byteLimit: Int)
    }

    /// Which requests of administrators change something, so that a viewer of the console may not make them.
    enum Changes: Sendable {
        /// Those of the methods `PUT`, `POST`, `PATCH` and `DELETE`.
        case byMethod
        /// The same, but for those that only try (`dryRun=true`).
        case unlessDryRun
        /// None: what it posts is a question.
        case never
    }

    /// What answers a request.
    enum Action: Sendable {
        /// A function that answers, at once or later.
        case answer(@Sendable @LoopActor (Server, HTTPExchange) -> Void)
        /// The same for an administrator, whose credential is in the `Authorization` header.
        case forAdministrator(@Sendable @LoopActor (Server, HTTPExchange) -> Void)
        /// A function that asks the engine about the database of the request, which is served here.
        case ask(@Sendable @LoopActor (Server, PendingExchange) throws(BadRequest) -> Void)
        /// WebSockets: what decides whether one may open, and what begins its session.
        case socket(
            admit: @Sendable @LoopActor (Server, ResolvedRequest, DatabaseID) -> Admission,
            open:
                @Sendable @LoopActor (Server, WebSocketConnection, RequestHead, DatabaseID) ->
                Void
        )
    }

    /// What an address says beside which row it is of.
    enum Location: Equatable, Sendable {
        case none
        /// What stands where the pattern has a name in braces.
        case name(String)
        /// A location in the tree.
        case target(WriteTarget)
        /// A path with a key that no tree can hold, or a setting that does not exist.
        case impossible
        /// What an identity request asks for.
        case identity(IdentityRoute)
    }

    /// The address: `/.settings/rulesets/{id}.json`. `{number}` stands for digits, `{name...}` for all that follows.
    let pattern: String
    let methods: Methods
    let audience: Audience
    let service: Service
    let body: Body
    let action: Action
    let changes: Changes
    /// Whether it gives away what no viewer of the console may have: everything at once.
    let isSecret: Bool
    /// Whether it answers while the server stops. Others refuse with 503.
    let answersWhileStopping: Bool
    /// Whether a node of a group answers it while another one owns the group.
    let answersWhileFollowing: Bool
    private let pieces: [Piece]
    /// What its address says, where that holds no name.
    private let ownLocation: Location

    init(
        _ pattern: String,
        _ methods: Methods,
        for audience: Audience,
        of service: Service,
        body: Body = .whole,
        location: Location = .none,
        changes: Changes = .byMethod,
        isSecret: Bool = false,
        whileStopping: Bool = false,
        whileFollowing: Bool = false,
        _ action: Action
    ) {
        self.pattern = pattern
        self.changes = changes
        self.isSecret = isSecret
        ownLocation = location
        self.methods = methods
        self.audience = audience
        self.service = service
        self.body = body
        self.action = action
        answersWhileStopping = whileStopping
        answersWhileFollowing = whileFollowing
        pieces = pattern.split(separator: "/").map(Piece.init)
    }

    /// Whether it is for administrators alone.
    var isForAdmins: Bool { audience == .administrators }

    // MARK: - The console

    /// Whether a request of the console is one of who has signed in there (`ConsoleService.session`).
    var takesConsole: Bool {
        switch service {
        case .data, .pages: true
        case .sockets: isEvents
        case .health, .administration, .inspection, .accounts, .emulator, .files: isForAdmins
        }
    }

    /// Whether it is at the console's own port, too.
    var isOnConsolePort: Bool {
        switch service {
        case .sockets: isEvents
        case .pages: audience == .everybody
        case .files: isForAdmins
        case .health, .data, .administration, .inspection, .accounts: true
        case .emulator: false
        }
    }

    private var isEvents: Bool { pattern == "/.events" }

    // MARK: - Methods

    /// The methods of a row: one at least.
    struct Methods: Sendable {
        /// In the order in which `Allow` names them.
        let all: [Method]
        /// Whether others are answered 405 before the row's function is called.
        let areChecked: Bool
        /// `GET, HEAD`.
        let text: String

        private init(_ all: [Method], areChecked: Bool) {
            self.all = all
            self.areChecked = areChecked
            text = all.map(\.rawValue).joined(separator: ", ")
        }

        /// These, and no others.
        static func only(_ first: Method, _ more: Method...) -> Methods {
            Methods([first] + more, areChecked: true)
        }

        /// These; the function refuses others in its own words.
        static func mainly(_ first: Method, _ more: Method...) -> Methods {
            Methods([first] + more, areChecked: false)
        }

        /// Those of an identity request, which refuses others in its own words.
        static func of(_ method: IdentityMethod) -> Methods {
            Methods(method.verbs.compactMap(Method.init(rawValue:)), areChecked: false)
        }

        /// Whether a request of this method goes on to the row's function.
        func admit(_ method: Method?) -> Bool {
            !areChecked || method.map(all.contains) == true
        }

        /// The answer to `OPTIONS`.
        var preflight: HTTPResponse { HTTPResponse(status: 204, headers: [("Allow", allowed)]) }

        /// The answer to a method that is not listed.
        var notAllowed: HTTPResponse {
            HTTPResponse.error(405, "This address takes \(text).").adding("Allow", allowed)
        }

        private var allowed: String { text.isEmpty ? "OPTIONS" : text + ", OPTIONS" }
    }

    // MARK: - Addresses

    /// What one segment of an address must be.
    private enum Piece: Sendable {
        case literal(String)
        case name(suffix: String)
        case number(suffix: String)
        case rest

        init(_ text: Substring) {
            guard text.first == "{", let end = text.firstIndex(of: "}") else {
                self = .literal(String(text))
                return
            }
            let name = text[..<end].dropFirst()
            let suffix = String(text[text.index(after: end)...])
            if name.hasSuffix("...") {
                self = .rest
            } else {
                self = name == "number" ? .number(suffix: suffix) : .name(suffix: suffix)
            }
        }
    }

    /// The segment that all its addresses begin with, empty for the root; nil when they begin with a name.
    var firstSegment: String? {
        switch pieces.first {
        case nil: ""
        case .literal(let text): text
        default: nil
        }
    }

    /// What an address says; nil for an address of another row.
    ///
    /// `segments` are percent-decoded each by itself, empty ones dropped.
    func location(of segments: [String]) -> Location? {
        var location = ownLocation
        for (index, piece) in pieces.enumerated() {
            switch (piece, index < segments.count ? segments[index] : nil) {
            case (.rest, _): return .name(segments.dropFirst(index).joined(separator: "/"))
            case (_, nil): return nil
            case (.literal(let text), let segment?): if segment != text { return nil }
            case (.name(let suffix), let segment?):
                guard segment.hasSuffix(suffix) else { return nil }
                location = .name(String(segment.dropLast(suffix.count)))
            case (.number(let suffix), let segment?):
                let digits = String(segment.dropLast(suffix.count))
                guard segment.hasSuffix(suffix), Int(digits) != nil else { return nil }
                location = .name(digits)
            }
        }
        return segments.count == pieces.count ? location : nil
    }
}
