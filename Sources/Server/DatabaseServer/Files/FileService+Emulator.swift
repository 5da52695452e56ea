import FileProtocol
import FileRecords
import FileRules
import JSONTree
import Logging
import SecurityRules
import Transport

/// What test libraries ask an emulator for, in development. Who asks must be a program on this machine, or a page that may.
extension FileService {
    /// `PUT /internal/setRules`: `{"rules":{"files":[{"name":"storage.rules","content":"…","resource":"BUCKET"}]}}`. One file
    /// without `resource` is for every bucket.
    func answerSetRules(_ exchange: HTTPExchange) {
        withBody(exchange) { [self] body in
            do throws(SetRulesFault) {
                let rules = try Self.rulesSet(by: body)
                if rules.count == 1, rules[0].bucket == nil {
                    self.rules.replace(rules[0].ruleset)
                } else {
                    for rule in rules { self.rules.set(rule.ruleset, of: rule.bucket) }
                }
                log.notice("rules for files are new", metadata: ["files": "\(rules.count)"])
                answer(exchange, .json(of: ["message": "Rules updated successfully"]))
            } catch {
                log.error("rules for files stay: \(error.detail)")
                let message = JSONValue.string(error.message)
                answer(exchange, .json(of: ["message": message], status: 400))
            }
        }
    }

    /// `POST /internal/reset`: every object and bucket goes.
    func answerReset(_ exchange: HTTPExchange) {
        withBody(exchange) { [self] _ in
            store.removeAll { [self] fault in
                if let fault { return answer(exchange, .error(fault.status, fault.message)) }
                answer(exchange, .json(of: [:]))
            }
        }
    }

    private func withBody(
        _ exchange: HTTPExchange,
        then: @escaping @LoopActor ([UInt8]) -> Void
    ) {
        guard server.requests.opensAdminRoutes(to: exchange.head) else {
            let text = "Only programs and pages of this machine may use this address."
            return answer(exchange, .error(403, text))
        }
        var body: [UInt8] = []
        exchange.receiveBody { [self] event in
            switch event {
            case .part(let bytes):
                body += bytes
                if body.count > RulesFile.byteLimit {
                    answer(exchange, .error(413, "The body has more than 1 MiB."))
                }
            case .end: then(body)
            case .cut: break
            }
        }
    }

    /// Why rules are not put in force: in the words of the emulator, and for the log.
    private struct SetRulesFault: Error {
        let message: String
        let detail: String

        init(_ message: String, detail: String? = nil) {
            self.message = message
            self.detail = detail ?? message
        }
    }

    private static func rulesSet(
        by body: [UInt8]
    ) throws(SetRulesFault) -> [(bucket: BucketName?, ruleset: FileRuleset)] {
        let missing = SetRulesFault("Request body must include 'rules.files' array")
        var files: [JSONFields] = []
        do throws(JSONFieldsFault) {
            guard let rules = try JSONFields(body).object("rules") else {
                throw JSONFieldsFault("")
            }
            for element in try rules.list("files") {
                guard case .nested(let text) = element else { throw JSONFieldsFault("") }
                files.append(try JSONFields(text))
            }
        } catch {
            throw missing
        }
        guard !files.isEmpty else { throw missing }
        var rules: [(bucket: BucketName?, ruleset: FileRuleset)] = []
        for file in files { rules.append(try ruleset(file, isOnly: files.count == 1)) }
        return rules
    }

    private static func ruleset(
        _ file: JSONFields,
        isOnly: Bool
    ) throws(SetRulesFault) -> (bucket: BucketName?, ruleset: FileRuleset) {
        let members = isOnly ? "'name' and 'content'" : "'name', 'content', and 'resource'"
        let missing = SetRulesFault("Each member of 'rules.files' array must contain \(members)")
        let failure = "There was an error updating rules, see logs for more details"
        let name: String
        let content: String
        let resource: String?
        do throws(JSONFieldsFault) {
            guard let found = try (file.text("name"), file.text("content")) as? (String, String)
            else { throw JSONFieldsFault("") }
            (name, content) = found
            resource = try file.text("resource")
        } catch {
            throw missing
        }
        if !isOnly, resource == nil { throw missing }
        var bucket: BucketName?
        if let resource {
            do throws(NameFault) { bucket = try BucketName(resource) } catch {
                throw SetRulesFault(failure, detail: "\(error)")
            }
        }
        do throws(RulesError) { return (bucket, try FileRuleset.load(content)) } catch {
            throw SetRulesFault(failure, detail: RulesFileError(name, error).description)
        }
    }
}
