import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

/// A flow of several steps, and what the database holds before and after it.
struct CutFlow: CustomTestStringConvertible, Sendable {
    /// A person who acts, another person, and a round, which has texts of its own.
    struct Scene: Sendable {
        let ann: Person
        let bea: Person
        let round: Int

        func name(_ round: Int) -> String { "\(ann.username)-cut-\(round)" }

        func details(_ round: Int) -> PrivateDetails {
            let number = 1_000_000 + 7919 * round
            return PrivateDetails(email: "\(name(round))@example.com", phone: "+49 30 \(number)")
        }

        func profile(_ round: Int) -> UserProfile {
            UserProfile(
                uid: ann.uid,
                username: ann.username,
                name: "Zita \(name(round))",
                bio: "round \(round)"
            )
        }

        func edge(_ isThere: Bool) -> [String: String] {
            let value = isThere ? "true" : "nothing"
            return [
                "following/\(ann.uid)/\(bea.uid)": value, "followers/\(bea.uid)/\(ann.uid)": value,
            ]
        }

        func edgeBack(_ isThere: Bool) -> [String: String] {
            let value = isThere ? "true" : "nothing"
            return [
                "following/\(bea.uid)/\(ann.uid)": value, "followers/\(ann.uid)/\(bea.uid)": value,
            ]
        }

        /// Each prefix of some texts, and whether it leads to Ann.
        func index(
            _ field: SearchField,
            _ texts: [String],
            of all: [String]
        ) -> [String: String] {
            let kept = Set(texts.flatMap { SearchPrefixes.keys(of: $0, in: field) })
            let paths = all.flatMap { SearchPrefixes.keys(of: $0, in: field) }.map { key in
                ("searchIndex/\(field.rawValue)/\(key)/\(ann.uid)", kept.contains(key))
            }
            return Dictionary(
                paths.map { ($0, $1 ? "true" : "nothing") },
                uniquingKeysWith: { $1 }
            )
        }
    }

    let testDescription: String
    /// Brings about what is there before.
    let prepare: @Sendable (Scene) async throws -> Void
    let act: @Sendable (Scene) async throws -> Void
    /// By path, whether it is over.
    let state: @Sendable (Scene, Bool) -> [String: String]
}

@Suite("flows and cuts")
struct FlowCutTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    static let flows = [
        CutFlow(testDescription: "changeUsername") { scene in
            try await scene.ann.users.changeUsername(to: scene.name(scene.round))
        } act: { scene in
            let new = try await scene.ann.users.changeUsername(to: scene.name(scene.round + 1))
            #expect(new.username == scene.name(scene.round + 1))
        } state: { scene, isOver in
            let names = [scene.name(scene.round), scene.name(scene.round + 1)]
            let name = isOver ? names[1] : names[0]
            let others = [
                "users/\(scene.ann.uid)/username": name, "profiles/\(scene.ann.uid)/username": name,
                "usernames/\(names[0].lowercased())": isOver ? "nothing" : scene.ann.uid,
                "usernames/\(names[1].lowercased())": isOver ? scene.ann.uid : "nothing",
            ]
            return scene.index(.name, [name], of: names).merging(others) { $1 }
        },
        CutFlow(testDescription: "save") { scene in
            try await scene.ann.users.save(scene.profile(scene.round))
        } act: { scene in
            try await scene.ann.users.save(scene.profile(scene.round + 1))
        } state: { scene, isOver in
            let all = [scene.profile(scene.round), scene.profile(scene.round + 1)]
            let now = isOver ? all[1] : all[0]
            let others = [
                "users/\(scene.ann.uid)/name": now.name ?? "",
                "profiles/\(scene.ann.uid)/name": now.name ?? "",
                "users/\(scene.ann.uid)/bio": now.bio ?? "",
            ]
            let names = all.flatMap { [$0.username, $0.name ?? ""] }
            let kept = [now.username, now.name ?? ""]
            return scene.index(.name, kept, of: names).merging(others) { $1 }
        },
        CutFlow(testDescription: "saveDetails") { scene in
            try await scene.ann.profiles.saveDetails(
                scene.details(scene.round),
                findable: [.email, .phone]
            )
        } act: { scene in
            try await scene.ann.profiles.saveDetails(
                scene.details(scene.round + 1),
                findable: [.email, .phone]
            )
        } state: { scene, isOver in
            let all = [scene.details(scene.round), scene.details(scene.round + 1)]
            let now = isOver ? all[1] : all[0]
            let others = [
                "private/\(scene.ann.uid)/email": now.email ?? "",
                "private/\(scene.ann.uid)/phone": now.phone ?? "",
            ]
            return others.merging(
                scene.index(.email, [now.email ?? ""], of: all.map { $0.email ?? "" })
            ) { $1 }.merging(
                scene.index(.phone, [now.phone ?? ""], of: all.map { $0.phone ?? "" })
            ) { $1 }
        },
        CutFlow(testDescription: "block") { scene in
            try await scene.ann.blocks.unblock(scene.bea.uid)
            try await scene.ann.graph.follow(scene.bea.uid)
            try await scene.bea.graph.follow(scene.ann.uid)
        } act: { scene in
            try await scene.ann.blocks.block(scene.bea.uid)
        } state: { scene, isOver in
            scene.edge(!isOver).merging(scene.edgeBack(!isOver)) { $1 }
                .merging(["blocks/\(scene.ann.uid)/\(scene.bea.uid)": isOver ? "true" : "nothing"])
            { $1 }
        },
        CutFlow(testDescription: "follow") { scene in
            try await scene.ann.graph.unfollow(scene.bea.uid)
        } act: { scene in
            try await scene.ann.graph.follow(scene.bea.uid)
        } state: { scene, isOver in
            scene.edge(isOver)
        },
        CutFlow(testDescription: "unfollow") { scene in
            try await scene.ann.graph.follow(scene.bea.uid)
        } act: { scene in
            try await scene.ann.graph.unfollow(scene.bea.uid)
        } state: { scene, isOver in
            scene.edge(!isOver)
        },
    ]

    /// What is there of it, as the server knows it.
    private func state(
        _ places: [String: String],
        _ person: Person,
    ) async throws -> [String: String] {
        let values = try await places.keys.sorted().mapInParallel { path in
            let value = try await person.value(path)
            if value is NSNull { return (path, "nothing") }
            return (path, (value as? String) ?? (value as? Bool).map { "\($0)" } ?? "\(value)")
        }
        return Dictionary(values, uniquingKeysWith: { $1 })
    }

    /// Ann's connection ends at each of its frames in turn: that is lost, or what the server says to it.
    @Test(
        "a flow that is cut has happened or has not, and ends whole when there is a connection",
        arguments: flows,
        CuttingProxy.Last.allCases
    )
    func cut(flow: CutFlow, last: CuttingProxy.Last) async throws {
        let proxy = try CuttingProxy(to: server.url)
        let ann = try await server.member("flow")
        let bea = try await server.quickMember("flown")
        let device = try await ann.device(proxy.url)
        _ = try await device.value("users/\(ann.uid)")
        var states: [Bool] = []
        for frame in 1... {
            // Ann's own device prepares and looks; the one whose connection is cut acts.
            let scene = CutFlow.Scene(ann: ann, bea: bea, round: frame)
            let (before, after) = (flow.state(scene, false), flow.state(scene, true))
            try await flow.prepare(scene)
            #expect(try await state(before, ann) == before, "frame \(frame)")
            proxy.cut(at: frame, last, isForGood: true)
            let act = Task {
                defer { proxy.open() }
                while true {
                    do {
                        return try await flow.act(
                            CutFlow.Scene(ann: device, bea: bea, round: frame)
                        )
                    } catch ServiceError.database(.offline) {
                        // A read found no connection. One that fails has changed nothing, and is done once more.
                        #expect(try await state(before, ann) == before, "frame \(frame)")
                    }
                }
            }
            await proxy.ended()
            if proxy.hasCut {
                // No one is back yet.
                let cut = try await state(before, ann)
                #expect(cut == before || cut == after, "frame \(frame)")
                states.append(cut == after)
                proxy.open()
                device.database.goOffline()
                device.database.goOnline()
            }
            try await act.value
            #expect(try await state(after, ann) == after, "frame \(frame)")
            guard proxy.hasCut else { break }
        }
        // It is the last frame that does it all.
        #expect(!states.isEmpty)
        let expected = states.indices.map { last == .unanswered && $0 == states.count - 1 }
        #expect(states == expected)
    }
}
