import ArgumentParser

struct RulesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Check, test, explain and publish security rules.",
        discussion: """
            check, test, diff and, with --rules, explain work on files; the others on a server, as its administrator.

            Examples:
              hearth rules check --strict rules/*.json
              hearth rules test rules/*.cases.json
              hearth rules explain read /rooms/r1 --uid ann --rules rules.json
              hearth rules push rules.json
              hearth rules requests --refused --follow

            Exit codes: 0 done, 1 failed, refused or different, 2 wrong usage.
            Files to be read may be pipes; - is standard input.
            """,
        subcommands: [
            RulesCheckCommand.self, RulesTestCommand.self, RulesExplainCommand.self,
            RulesDiffCommand.self, RulesPushCommand.self, RulesPullCommand.self,
            RulesDetachCommand.self, RulesHistoryCommand.self, RulesRollbackCommand.self,
            RulesShadowCommand.self, RulesCoverageCommand.self, RulesRequestsCommand.self,
        ],
    )
}
