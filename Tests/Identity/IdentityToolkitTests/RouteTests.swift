import Testing

@testable import IdentityToolkit

@Suite("addresses of identity requests")
struct RouteTests {
    @Test(
        "name a method",
        arguments: [
            ("identitytoolkit.googleapis.com/v1/accounts:signUp", .signUp, nil),
            ("v1/accounts:lookup", .lookup, nil),
            (
                "www.googleapis.com/identitytoolkit/v3/relyingparty/verifyPassword",
                .signInWithPassword, nil
            ),
            ("securetoken.googleapis.com/v1/token", .token, nil),
            ("identitytoolkit.googleapis.com/v1/projects/p/accounts:update", .adminUpdate, "p"),
            (
                "identitytoolkit.googleapis.com/v1/projects/p:createSessionCookie",
                .createSessionCookie, "p"
            ),
            ("emulator/v1/projects/p/oobCodes", .emulatorOobCodes, "p"),
        ] as [(String, IdentityMethod, String?)]
    )
    func methods(path: String, method: IdentityMethod, project: String?) throws {
        let route = try #require(IdentityRoute(path.split(separator: "/").map(String.init)))
        #expect(route.method == method)
        #expect(route.project == project)
    }

    @Test(
        "what begins like one and is none is a method that cannot be called",
        arguments: [
            "identitytoolkit.googleapis.com", "identitytoolkit.googleapis.com/v1/accounts:nothing",
            "securetoken.googleapis.com/v1/tokens", "securetoken.googleapis.com/v2/token",
            "www.googleapis.com/identitytoolkit/v3/relyingparty/verify",
            "www.googleapis.com/oauth2/v3/certs", "v1/projects/p/accounts:nothing", "v2/token",
            "v1/projects/p/tenants/t/accounts:nothing", "emulator/v1/projects/p/nothing",
        ]
    )
    func unknown(path: String) {
        let route = IdentityRoute(path.split(separator: "/").map(String.init))
        #expect(route?.method == .unknown)
    }

    @Test("other addresses are none", arguments: ["", "v3/x", "rooms", "emulators", "token"])
    func others(path: String) {
        #expect(IdentityRoute(path.split(separator: "/").map(String.init)) == nil)
    }
}
