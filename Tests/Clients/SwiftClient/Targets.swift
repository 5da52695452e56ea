func program(_ name: String, _ products: String...) -> Target {
    .executableTarget(
        name: name,
        dependencies: products.map { .product(name: $0, package: "hearth") }
    )
}

// What the test adds to the manifest that docs/guides/SERVICES.md prints.
package.targets += [
    // Printed in the pages.
    program("quickstart", "HearthDatabase"), program("readme", "HearthDatabase"),
    program("firstapp", "HearthDatabase"), program("accounts", "HearthDatabase", "HearthAuth"),
    .target(
        name: "blocks",
        dependencies: ["Chat", "Timeline", "Party", "HearthDatabase"].map {
            .product(name: $0, package: "hearth")
        }
    ),
    program("scenario", "HearthDatabase"),
]
