import Foundation

// Plays chat, timeline and party with the server of HEARTH_URL; exits 0 when all players saw what they should.
do {
    print("No one here is an administrator: all is done by users who signed in.")
    let names = ["Ann", "Bea", "Cem"]
    var people: [Player] = []
    var hosts: [Player] = []
    for name in names {
        people.append(try await Player(name, in: "social"))
        hosts.append(try await Player(name, in: "party"))
    }
    try await ChatAct.play(people[0], people[1], people[2])
    try await TimelineAct.play(people[0], people[1], people[2])
    try await PartyAct.play(hosts[0], hosts[1], hosts[2])
    print("\nThat is all, and all of it was as it should be.")
} catch {
    print("\nThis should not be: \(error)")
    exit(1)
}
