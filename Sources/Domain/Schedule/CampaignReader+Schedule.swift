extension CampaignReader {
    private static let policyFields = [
        "missingZone", "pastLocal", "missed", "overlap", "start", "end", "audienceAt",
    ]
    private static let scheduleFields = ["at", "local", "cron", "zone"] + policyFields

    /// Left out, a campaign goes out as soon as it is accepted.
    mutating func schedule(_ file: JSONMembers) -> Schedule {
        guard let members = problems.object("schedule", of: file, known: Self.scheduleFields) else { return .now }
        let kinds = ["at", "local", "cron"].filter(members.has)
        guard kinds.count == 1, let kind = kinds.first else {
            invalid(members.pointer, "A schedule has one of at, local and cron.", remedy: "Keep one of them.")
            return .now
        }
        switch kind {
        case "at":
            refuse(["zone"] + Self.policyFields.filter { $0 != "audienceAt" }, in: members, with: "at")
            return at(members)
        case "local":
            refuse(["zone", "missed", "overlap", "start", "end"], in: members, with: "local")
            return local(members)
        default:
            refuse(["missingZone", "pastLocal", "audienceAt"], in: members, with: "cron")
            return cron(members)
        }
    }

    private mutating func at(_ members: JSONMembers) -> Schedule {
        guard let text = problems.string("at", of: members), text != "now" else { return .now }
        if let instant = Instant(rfc3339: text) { return .at(instant, policies(members)) }
        invalid(
            members.pointer / "at", "This is neither \"now\" nor an instant.",
            remedy: "Write an instant with its zone, such as 2031-03-01T06:30:00Z; for wall clocks use local.")
        return .now
    }

    private mutating func local(_ members: JSONMembers) -> Schedule {
        let policies = policies(members)
        guard let text = problems.string("local", of: members) else { return .now }
        if let time = LocalDateTime(text), time.text.prefix(4) >= "1970", time.text.prefix(4) < "9999" {
            return .local(time, policies)
        }
        invalid(
            members.pointer / "local", "This is no wall clock's time.",
            remedy: "Write a date and time without a zone, such as 2031-01-01T09:00.")
        return .now
    }

    private mutating func cron(_ members: JSONMembers) -> Schedule {
        let policies = policies(members)
        let zone = problems.inkedString("zone", of: members, else: .scheduleInvalid, remedy: "Name an IANA zone.")
        if let zone, !isZoneName(zone) {
            invalid(members.pointer / "zone", "This is no zone's name.", remedy: "Use one such as Europe/Lisbon.")
        }
        guard let expression = problems.string("cron", of: members) else { return .now }
        guard let cron = CronExpression(expression) else {
            invalid(
                members.pointer / "cron", "This is no cron expression, or no date ever fits it.",
                remedy: "Write five fields: minute, hour, day, month, weekday, such as \"0 9 * * MON\".")
            return .now
        }
        return .cron(cron, zone: zone ?? "UTC", policies)
    }

    private mutating func policies(_ members: JSONMembers) -> Schedule.Policies {
        var policies = Schedule.Policies()
        if let word: Schedule.Policies.MissingZone = problems.word("missingZone", of: members, else: .scheduleInvalid) {
            policies.missingZone = word
        }
        if let word: Schedule.Policies.PastLocal = problems.word("pastLocal", of: members, else: .scheduleInvalid) {
            policies.pastLocal = word
        }
        if let word: Schedule.Policies.Missed = problems.word("missed", of: members, else: .scheduleInvalid) {
            policies.missed = word
        }
        if let word: Schedule.Policies.Overlap = problems.word("overlap", of: members, else: .scheduleInvalid) {
            policies.overlap = word
        }
        if let word: Schedule.Policies.AudienceAt = problems.word("audienceAt", of: members, else: .scheduleInvalid) {
            policies.audienceAt = word
        }
        policies.start = instant("start", of: members, else: .scheduleInvalid)
        policies.end = instant("end", of: members, else: .scheduleInvalid)
        if let start = policies.start, let end = policies.end, end <= start {
            invalid(members.pointer / "end", "The end is not after the start.", remedy: "Exchange or correct them.")
        }
        return policies
    }

    mutating func instant(_ key: String, of members: JSONMembers, else code: ProblemCode) -> Instant? {
        guard let text = problems.string(key, of: members) else { return nil }
        if let instant = Instant(rfc3339: text) { return instant }
        problems.add(
            code, at: members.pointer / key, "This is no instant.",
            remedy: "Write it with its zone, such as 2031-03-01T06:30:00Z.")
        return nil
    }

    private mutating func refuse(_ keys: [String], in members: JSONMembers, with kind: String) {
        for key in keys where members.has(key) {
            invalid(members.pointer / key, "\(key) means nothing beside \(kind).", remedy: "Remove it.")
        }
    }

    private mutating func invalid(_ pointer: JSONPointer, _ message: String, remedy: String) {
        problems.add(.scheduleInvalid, at: pointer, message, remedy: remedy)
    }

    /// Whether there is such a zone is PostgreSQL's to say.
    private func isZoneName(_ text: String) -> Bool {
        text.utf8.count <= 64
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "/"), UInt8(ascii: "+"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
