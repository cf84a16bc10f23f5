struct SimulatorConfiguration: Sendable {
    var listen: Listen
    var stateDirectory: String
    var seed: UInt64
    var faults: FaultSettings
    var projects = ["demo"]
    var script = FaultScript.none
    /// In seconds.
    var tokenLifetime = 3599
    var maxConcurrentStreams: UInt32 = 1000
    var keptIDs = 1_000_000
    var journal: String?
    var readyFile: String?
    var printsJSON = false

    init(listen: Listen, stateDirectory: String, seed: UInt64, faults: FaultSettings) {
        self.listen = listen
        self.stateDirectory = stateDirectory
        self.seed = seed
        self.faults = faults
    }
}

/// Where everything is: what the simulator prints when it answers.
struct Whereabouts: Encodable, Sendable {
    struct Account: Encodable, Sendable {
        let project: String
        let keyFile: String

        enum CodingKeys: String, CodingKey {
            case project
            case keyFile = "key_file"
        }
    }

    let url: String
    let caFile: String
    let accounts: [Account]

    enum CodingKeys: String, CodingKey {
        case url, accounts
        case caFile = "ca_file"
    }

    /// One line for a person.
    var text: String {
        let keys = accounts.map { "\($0.project) \($0.keyFile)" }.joined(separator: ", ")
        return "Listening on \(url), authority \(caFile), accounts: \(keys)"
    }
}
