import ServiceCommand

await ServiceProgram.run(HearthParty.self)
