import DatabaseCore
import JSONTree

/// What the rules have decided, and how (`/.inspect/...`).
enum InspectRoute: Equatable {
    /// How an answer is written.
    enum Form {
        case json
        /// For a browser; as plain text for who takes that alone.
        case page
    }

    /// `requests`, `requests.json`: the newest decisions.
    case requests(Form)
    /// `coverage`, `coverage.json`: what decisions have consulted of the rules.
    case coverage(Form)
    /// `shadow.json`: how the shadow rules compare with those in force.
    case shadow
    /// `level.json`: which decisions are told.
    case level

    /// Reads the segments behind `.inspect`; nil when there is nothing of this name.
    init?(_ segments: ArraySlice<String>) {
        switch Array(segments) {
        case ["requests.json"]: self = .requests(.json)
        case ["requests"]: self = .requests(.page)
        case ["coverage.json"]: self = .coverage(.json)
        case ["coverage"]: self = .coverage(.page)
        case ["shadow.json"]: self = .shadow
        case ["level.json"]: self = .level
        default: return nil
        }
    }

    /// The methods that it answers, `OPTIONS` aside.
    var methods: [String] {
        switch self {
        case .requests, .coverage, .shadow: ["GET", "HEAD", "DELETE"]
        case .level: ["GET", "HEAD", "PUT"]
        }
    }

    var form: Form {
        switch self {
        case .requests(let form), .coverage(let form): form
        case .level, .shadow: .json
        }
    }
}

extension InspectionLevel {
    /// Reads the body of `PUT /.inspect/level.json`: one of the words in quotes.
    init(body: [UInt8]) throws(BadRequest) {
        guard let level = try Server.settingValue(body).string.flatMap(Self.init(rawValue:)) else {
            throw BadRequest("the level must be \"off\", \"refused\" or \"all\"")
        }
        self = level
    }
}
