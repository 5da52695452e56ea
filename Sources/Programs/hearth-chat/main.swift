import ArgumentParser
import ServiceCommand

await ServiceProgram.run(HearthChat.self)
