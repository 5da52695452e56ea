import ArgumentParser
import ServiceCommand

await ServiceProgram.run(HearthTimeline.self)
