import DatabaseCore
import JSONTree

/// What of the rules' decisions is asked for (`/.inspect/...`).
enum InspectionSubject: Equatable, Sendable {
    /// How an answer is written.
    enum Form: Sendable {
        case json
        /// Plain text; a browser is led to the console.
        case page
    }

    /// `requests`, `requests.json`: the newest decisions.
    case requests(Form)
    /// `coverage`, `coverage.json`: what decisions have consulted of the rules.
    case coverage(Form)
    /// `shadow.json`: how the shadow rules compare with those in force.
    case shadow
    /// `level.json`: which decisions are recorded.
    case level

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
        guard let level = try AdminService.settingValue(body).string.flatMap(Self.init(rawValue:))
        else {
            throw BadRequest("the level must be \"off\", \"refused\" or \"all\"")
        }
        self = level
    }
}
