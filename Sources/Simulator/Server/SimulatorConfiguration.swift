struct SimulatorConfiguration: Sendable {
    var listen: Listen
    var stateDirectory: String
    var seed: UInt64
    var faults: FaultSettings
    var projects = ["demo"]
    /// The bundle id that APNs takes.
    var topic = "example.ferry"
    /// Stands for Apple's sandbox.
    var sandboxListen: Listen?
    var script = FaultScript.none
    /// In seconds.
    var tokenLifetime = 3599
    var maxConcurrentStreams: UInt32 = 1000
    var keptIDs = 1_000_000
    var journal: String?
    var readyFile: String?

    init(listen: Listen, stateDirectory: String, seed: UInt64, faults: FaultSettings) {
        self.listen = listen
        self.stateDirectory = stateDirectory
        self.seed = seed
        self.faults = faults
    }
}
