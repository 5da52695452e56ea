// swift-tools-version: 6.2
import PackageDescription

func program(_ name: String, _ products: String...) -> Target {
    .executableTarget(
        name: name,
        dependencies: products.map { .product(name: $0, package: "hearth") }
    )
}

// What somebody else's package looks like: the test puts the path of this repository in place of HEARTH.
let package = Package(
    name: "swift-client",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "hearth", path: "HEARTH")],
    targets: [
        // Printed in the pages.
        program("quickstart", "HearthDatabase"), program("readme", "HearthDatabase"),
        program("firstapp", "HearthDatabase"), program("accounts", "HearthDatabase", "HearthAuth"),
        program("scenario", "HearthDatabase"),
    ]
)
