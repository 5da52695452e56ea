import IdentityToolkit

extension Configuration {
    /// Reads how codes reach people, and where the links of emails may lead.
    mutating func readDelivery(_ reader: inout SettingReader) {
        accounts.webhook = readWebhookAddress(&reader)
        accounts.webhookSecretFile = reader.text(.accountsWebhookSecretFile)
        if accounts.webhook != nil { checkDelivery(&reader) }
        if reader.isSet(.accountsWebhookSecretFile), !reader.isSet(.accountsWebhook) {
            reader.fault(
                .accountsWebhookSecretFile,
                "means nothing without --accounts-webhook",
                "Leave it out, or name the address."
            )
        }
        // A link is made of an address that a stranger's request cannot choose.
        accounts.policy.deliversCodes =
            mode == .development || accounts.webhook != nil && accounts.publicURL != nil
        // Those that are no origins are faults already.
        let allowed = reader.list(.allowOrigin, "") { ContinueURL.origin(of: $0) ?? "" }
        let own = accounts.publicURL.flatMap { ContinueURL.origin(of: $0) }
        accounts.policy.continueOrigins = Set((allowed + [own ?? ""]).filter { !$0.isEmpty })
    }

    private func readWebhookAddress(_ reader: inout SettingReader) -> String? {
        guard let text = reader.text(.accountsWebhook) else { return nil }
        guard let origin = WebOrigin(ofAddress: text), origin.isHTTP,
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            // The address may have a secret in it.
            reader.fault(
                .accountsWebhook,
                "is no http or https address",
                "Write one such as https://mail.example.com/hearth, without a user name."
            )
            return nil
        }
        guard mode == .development || origin.scheme == "https" || origin.authority.host.isLoopback
        else {
            reader.fault(
                .accountsWebhook,
                "would send codes through the network unencrypted",
                "Write an https address, or one of this machine."
            )
            return nil
        }
        return text
    }

    private func checkDelivery(_ reader: inout SettingReader) {
        if !reader.isSet(.accountsWebhookSecretFile) {
            reader.fault(
                .accountsWebhook,
                "has no secret to sign with",
                "Name a file with --accounts-webhook-secret-file."
            )
        }
        if mode == .production, !reader.isSet(.publicURL) {
            reader.fault(
                .accountsWebhook,
                "sends links, and nothing says where they lead",
                "Give the address that people reach this server by with --public-url."
            )
        }
    }
}
