import DatabaseCore
import FileRulesTools
import IdentityToolkit
import JSONTree
import RulesTools
import SecurityRules
import Transport

/// Settings of a database, as the Firebase tools read and write them, and requests that are tried under its rules.
extension AdminService {
    /// The rules: read, replaced, or removed.
    func askForRules(_ pending: PendingExchange) {
        if pending.parameters.isForFiles {
            switch pending.method {
            case .put: return read(.fileRules(rulesChange(pending)), pending)
            case .delete: pending.subject = .fileRules(.replace(nil, rulesChange(pending)))
            default: pending.subject = .fileRules(.inForce)
            }
            return submit(.inspect, pending)
        }
        switch pending.method {
        case .put: read(.rules(rulesChange(pending)), pending)
        case .delete: submit(.putRules(nil, rulesChange(pending)), pending)
        default: submit(.getRules, pending)
        }
    }

    /// What is to be said of a rules text, which stays where it is.
    func askForFindings(_ pending: PendingExchange) {
        pending.subject = .rulesFindings(pending.exchange.takeBody())
        submit(.inspect, pending)
    }

    /// Has a worker check a text for an administrator.
    func answerFindings(_ pending: PendingExchange, _ text: [UInt8]) {
        let isForFiles = pending.parameters.isForFiles
        let check: @Sendable () -> HTTPResponse = {
            guard let text = String(validating: text, as: UTF8.self) else {
                return .error(400, "The rules are not UTF-8 text.")
            }
            return .json(
                of: isForFiles ? FileRulesFindings(of: text).json : RulesFindings(of: text).json
            )
        }
        let isTaken = workers.values.perform(check) { [self] in finish(pending, $0) }
        if !isTaken { finish(pending, .error(503, "Too much is being read.")) }
    }

    /// Stored rulesets: one more, the list of them, or one of them.
    func askForRulesets(_ pending: PendingExchange) {
        if pending.method == .post {
            let id = server.nextKey().string
            if pending.parameters.isForFiles { return read(.fileRuleset(id: id), pending) }
            pending.subject = .newRuleset(id: id)
            return read(.ruleset(id: id), pending)
        }
        var id: String?
        if case .name(let name) = pending.request.location { id = name }
        if pending.parameters.isForFiles {
            pending.subject = .fileRules(id.map { .ruleset(id: $0) } ?? .rulesets)
            return submit(.inspect, pending)
        }
        pending.subject = .settings(id.map { .ruleset(id: $0) } ?? .rulesets)
        submit(.getSettings, pending)
    }

    /// Which stored rulesets serve which purpose.
    func askForLabels(_ pending: PendingExchange) {
        guard pending.parameters.isForFiles else { return askForSetting(.rulesetLabels, pending) }
        if pending.method == .put { return read(.fileLabels, pending) }
        pending.subject = .fileRules(.labels)
        submit(.inspect, pending)
    }

    /// A setting that is one value: read or replaced.
    func askForSetting(_ setting: ValueSetting, _ pending: PendingExchange) {
        if pending.method == .put {
            return read(.setting(setting, author: rulesAuthor(of: pending)), pending)
        }
        pending.subject = .settings(.value(setting))
        submit(.getSettings, pending)
    }

    /// Reads a request to be tried out, on a database or on files; `Accept: text/plain` asks for an explanation in words
    /// and not for JSON.
    func simulate(_ pending: PendingExchange) {
        let accepted = AcceptedTypes(pending.exchange.head.headers("accept"))
        let body = AdminBody.simulation(
            isAnsweredInWords: accepted.contains("text/plain"),
            bucket: server.fileService.onlyBucket,
            now: Clock.now()
        )
        read(body, pending)
    }

    nonisolated static func settingValue(_ body: [UInt8]) throws(BadRequest) -> Node {
        do throws(JSONError) { return try Node(json: body) } catch {
            throw BadRequest(error, in: body)
        }
    }
}

extension Request.Operation {
    /// Reads the value that a setting gets.
    init(setting: ValueSetting, _ body: [UInt8], author: String) throws(BadRequest) {
        switch setting {
        case .rulesetLabels:
            self = .labelRulesets(try RulesetLabels(settingBody: body), author: author)
        case .defaultWriteSizeLimit:
            let node = try AdminService.settingValue(body)
            let limit = node.string.flatMap(WriteSizeLimit.init(rawValue:))
            // `tiny` would stand in the way of everyday writes; it is for single requests.
            guard let limit, limit != .tiny else {
                throw BadRequest(
                    "'defaultWriteSizeLimit' must be 'small', 'medium', 'large' or 'unlimited'"
                )
            }
            self = .putSetting(.defaultWriteSizeLimit(limit))
        case .strictTriggerValidation:
            let node = try AdminService.settingValue(body)
            guard let isStrict = node.boolean else {
                throw BadRequest("'strictTriggerValidation' must be true or false")
            }
            self = .putSetting(.strictTriggerValidation(isStrict))
        }
    }
}

extension HTTPResponse {
    /// What a settings address shows.
    static func settings(_ settings: DatabaseSettings, _ view: SettingsView) -> HTTPResponse {
        switch view {
        case .rulesets: return rulesets(settings.rulesets)
        case .ruleset(let id): return ruleset(settings.ruleset(id))
        case .value(.rulesetLabels): return labels(settings.labels)
        case .value(.defaultWriteSizeLimit):
            return json(of: .string(settings.defaultWriteSizeLimit.rawValue))
        case .value(.strictTriggerValidation):
            return json(of: ["value": .boolean(settings.isStrictInTriggers)])
        }
    }

    /// The list of stored rulesets.
    static func rulesets(_ rulesets: [StoredRuleset]) -> HTTPResponse {
        json(of: ["rulesets": .list(rulesets.map { ruleset($0, hasText: false) })])
    }

    /// A stored ruleset with its text; nil for one that is not there.
    static func ruleset(_ found: StoredRuleset?) -> HTTPResponse {
        guard let found else { return error(404, RequestRefusal.unknownRuleset.text) }
        return json(of: ruleset(found, hasText: true))
    }

    /// Which stored rulesets serve which purpose.
    static func labels(_ labels: RulesetLabels) -> HTTPResponse {
        json(of: [
            "stable": labels.stable.map { .string($0) },
            "canary": labels.canary.map { .string($0) },
        ])
    }

    /// The result of a simulated request, always with status 200. A header repeats the decision for readers of the words.
    static func simulated(_ answer: SimulationAnswer) -> HTTPResponse {
        let type = answer.isText ? "text/plain; charset=utf-8" : "application/json; charset=utf-8"
        let body = answer.isText ? answer.body + [0x0A] : answer.body
        return HTTPResponse(status: 200, headers: headers(type: type), body: body)
            .adding("Hearth-Verdict", answer.isAllowed ? "allowed" : "refused")
    }

    private static func ruleset(_ ruleset: StoredRuleset, hasText: Bool) -> JSONValue {
        [
            "id": .string(ruleset.id), "createdAt": .integer(ruleset.time.milliseconds),
            "source": hasText ? .string(ruleset.text) : nil,
        ]
    }
}

extension RulesetLabels {
    /// Reads `{"stable":id,"canary":id}`; either may be left out.
    init(settingBody body: [UInt8]) throws(BadRequest) {
        let fault = BadRequest(
            "'ruleset_labels' must be an object of 'stable' and 'canary', each the id of a ruleset"
        )
        let node = try AdminService.settingValue(body)
        guard node.isMap || node.isAbsent else { throw fault }
        var labels: [String: String] = [:]
        var isKnown = true
        node.visitChildren { key, value in
            let name = Key(key).string
            if name == "stable" || name == "canary", let id = value.string {
                labels[name] = id
            } else {
                isKnown = false
            }
            return isKnown
        }
        guard isKnown else { throw fault }
        self.init(stable: labels["stable"], canary: labels["canary"])
    }
}

/// A setting of a database that is one value (`/.settings/NAME.json`).
enum ValueSetting: Sendable {
    /// Which stored rulesets serve which purpose.
    case rulesetLabels
    case defaultWriteSizeLimit
    case strictTriggerValidation
}

/// What of the settings of a database is shown.
enum SettingsView {
    /// The list of stored rulesets.
    case rulesets
    /// One of them.
    case ruleset(id: String)
    case value(ValueSetting)
}
