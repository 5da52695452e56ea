import DatabaseCore
import JSONTree
import SecurityRules
import Transport

/// Settings of a database, as the Firebase tools read and write them.
extension Server {
    /// What a request for a setting brings; nil when it only asks.
    func body(_ method: String, _ route: SettingsRoute, _ pending: PendingExchange) -> AdminBody? {
        if method == "GET" || method == "HEAD" { return nil }
        guard route == .rulesets else {
            return .setting(route, author: rulesAuthor(of: pending.parameters))
        }
        let id = pushIDs.next(now: Clock.now()).string
        pending.rulesetID = id
        return .ruleset(id: id)
    }

    nonisolated static func settingValue(_ body: [UInt8]) throws(BadRequest) -> Node {
        do throws(JSONError) { return try Node(json: body) } catch {
            throw BadRequest(error, in: body)
        }
    }
}

extension Request.Operation {
    /// Reads the value that a setting gets.
    init(
        setting route: SettingsRoute,
        _ body: [UInt8],
        author: String
    ) throws(BadRequest) {
        switch route {
        case .rulesetLabels:
            self = .labelRulesets(try RulesetLabels(settingBody: body), author: author)
        case .defaultWriteSizeLimit:
            let node = try Server.settingValue(body)
            let limit = node.string.flatMap(WriteSizeLimit.init(rawValue:))
            // `tiny` would stand in the way of everyday writes; it is for single requests.
            guard let limit, limit != .tiny else {
                throw BadRequest(
                    "'defaultWriteSizeLimit' must be 'small', 'medium', 'large' or 'unlimited'"
                )
            }
            self = .putSetting(.defaultWriteSizeLimit(limit))
        case .strictTriggerValidation:
            let node = try Server.settingValue(body)
            guard let isStrict = node.boolean else {
                throw BadRequest("'strictTriggerValidation' must be true or false")
            }
            self = .putSetting(.strictTriggerValidation(isStrict))
        case .rulesets, .ruleset, .rulesHistory, .rulesVersion:
            preconditionFailure("rulesets are no values")
        }
    }
}

extension RESTAnswer {
    /// What a settings address shows.
    static func settings(_ settings: DatabaseSettings, _ route: SettingsRoute) -> HTTPResponse {
        var body: [UInt8] = []
        switch route {
        case .rulesets:
            body += Array("{\"rulesets\":[".utf8)
            for (index, ruleset) in settings.rulesets.enumerated() {
                if index > 0 { body.append(UInt8(ascii: ",")) }
                append(ruleset, hasText: false, to: &body)
            }
            body += Array("]}".utf8)
        case .ruleset(let id):
            guard let ruleset = settings.ruleset(id) else {
                return error(404, RequestRefusal.unknownRuleset.text)
            }
            append(ruleset, hasText: true, to: &body)
        case .rulesetLabels:
            let labels = [("stable", settings.labels.stable), ("canary", settings.labels.canary)]
            let members = labels.compactMap { name, id in id.map { (name, $0) } }
            body.append(UInt8(ascii: "{"))
            for (index, (name, id)) in members.enumerated() {
                if index > 0 { body.append(UInt8(ascii: ",")) }
                body += Array("\"\(name)\":".utf8)
                appendJSONString(id, to: &body)
            }
            body.append(UInt8(ascii: "}"))
        case .defaultWriteSizeLimit:
            appendJSONString(settings.defaultWriteSizeLimit.rawValue, to: &body)
        case .rulesHistory, .rulesVersion: preconditionFailure("the history is no setting")
        case .strictTriggerValidation:
            body += Array("{\"value\":\(settings.isStrictInTriggers)}".utf8)
        }
        return json(body)
    }

    private static func append(
        _ ruleset: StoredRuleset,
        hasText: Bool,
        to body: inout [UInt8]
    ) {
        body += Array("{\"id\":".utf8)
        appendJSONString(ruleset.id, to: &body)
        body += Array(",\"createdAt\":\(ruleset.time.milliseconds)".utf8)
        if hasText {
            body += Array(",\"source\":".utf8)
            appendJSONString(ruleset.text, to: &body)
        }
        body.append(UInt8(ascii: "}"))
    }
}

extension RulesetLabels {
    /// Reads `{"stable":id,"canary":id}`; either may be left out.
    fileprivate init(settingBody body: [UInt8]) throws(BadRequest) {
        let fault = BadRequest(
            "'ruleset_labels' must be an object of 'stable' and 'canary', each the id of a ruleset"
        )
        let node = try Server.settingValue(body)
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
