/// All that changes while the simulator runs.
struct SimulatorState: Sendable {
    var faults: FaultSettings
    var script: FaultScript
    var devices: DeviceModel
    var tokens: AccessTokens
    var vapid = VAPIDCheck()
    var journal: Journal?
    var counts = Counts()
    /// By the e-mail address of the account.
    var accounts: [String: ServiceAccount] = [:]
    var providerTokens = ProviderTokens()
    private let seed: UInt64
    private let keptIDs: Int
    private var accepted: UInt64 = 0

    init(
        seed: UInt64, faults: FaultSettings, script: FaultScript = .none, tokenLifetime: Int = 3599,
        keptIDs: Int = 1_000_000, journal: Journal? = nil
    ) {
        self.seed = seed
        self.keptIDs = keptIDs
        self.faults = faults
        self.script = script
        devices = DeviceModel(keepingIDs: keptIDs)
        tokens = AccessTokens(lifetime: tokenLifetime)
        self.journal = journal
    }

    /// Forgets devices, ids and counts. Faults, issued tokens and the numbering of messages stay.
    mutating func reset() {
        devices = DeviceModel(keepingIDs: keptIDs)
        counts = Counts()
    }

    /// The end of the next message's name, `0:<microseconds>%<hex>`: the same for the same seed and count.
    mutating func nextMessageID() -> [UInt8] {
        accepted += 1
        var id: [UInt8] = []
        id.reserveCapacity(40)
        id.append(contentsOf: "0:".utf8)
        id.append(contentsOf: String(1_774_000_000_000_000 + accepted).utf8)
        id.append(UInt8(ascii: "%"))
        JSONWriter.appendHex(Hash64.combine(seed, accepted), to: &id)
        return id
    }
}
