import ArgumentParser

struct CompletionsCommand: ParsableCommand {
    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash
        case zsh
        case fish
    }

    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print a script that lets a shell complete commands and options.",
        discussion: """
            Examples:
              hearth completions bash > ~/.local/share/bash-completion/completions/hearth
              hearth completions zsh > ~/.zsh/completions/_hearth
              hearth completions fish > ~/.config/fish/completions/hearth.fish

            'make install' does this for all three.
            """,
    )

    @Argument(help: "The shell.")
    var shell: Shell

    func run() {
        switch shell {
        case .bash: print(Hearth.completionScript(for: .bash))
        case .zsh: print(Hearth.completionScript(for: .zsh))
        case .fish: print(Hearth.completionScript(for: .fish))
        }
    }
}
