/// Turns a campaign file into a `CampaignFile`, naming everything that is wrong with it.
struct CampaignReader {
    var problems: ProblemList
    private let meter: (any MessageMeter)?
    private var target: ProviderTarget?
    /// The transports that the audience can have.
    private var reachable: Set<TransportKind> = []

    private static let known = [
        "app", "name", "idempotencyKey", "message", "variants", "holdout", "delivery", "audience", "schedule",
        "throttle", "queue",
    ]

    init(_ problems: ProblemList, meter: (any MessageMeter)?) {
        self.problems = problems
        self.meter = meter
    }

    mutating func campaign(_ value: JSONValue) throws(ContentProblems) -> CampaignFile {
        problems.refuseNulls(in: value, at: .root)
        guard let file = problems.object(value, at: .root, known: Self.known) else {
            throw ContentProblems(problems.sorted)
        }
        let (delivery, disturbance) = delivery(file)
        target = target(file)
        let audience = target == nil ? audience(file) : .all
        reachable = target == nil ? audience?.transports ?? Set(TransportKind.allCases) : [.fcm]
        let variants = variants(file, delivery)
        let message = message(file, delivery, isOptional: file.has("variants"))
        let holdout = holdout(file)
        refuseSilentTest(file, message, variants, holdout)
        let campaign = CampaignFile(
            app: label("app", of: file), name: label("name", of: file), idempotencyKey: idempotencyKey(file),
            message: message, messageJSON: file["message"]?.text, variants: variants, holdout: holdout,
            delivery: delivery, disturbance: disturbance, audience: audience, target: target, schedule: schedule(file),
            perSecond: perSecond(file), weight: weight(file))
        try problems.throwIfAny()
        return campaign
    }

    // MARK: - Messages

    private mutating func message(
        _ file: JSONMembers, _ delivery: DeliveryOptions, isOptional: Bool
    ) -> MessageSource? {
        guard let value = file["message"] else {
            if !isOptional {
                problems.add(
                    .contentMissing, at: file.pointer / "message", "There is no message.",
                    remedy: "Give a message, or variants of one.")
            }
            return nil
        }
        return source(value, at: file.pointer / "message", delivery)
    }

    private mutating func source(
        _ value: JSONValue, at pointer: JSONPointer, _ delivery: DeliveryOptions
    ) -> MessageSource? {
        var reader = MessageReader(problems)
        let source = reader.source(value, at: pointer)
        problems = reader.problems
        if case .inline(let message)? = source { measure(message, delivery, at: pointer) }
        return source
    }

    private mutating func measure(_ message: Message, _ delivery: DeliveryOptions, at pointer: JSONPointer) {
        let sizes = meter?.sizes(of: message, delivery: delivery) ?? []
        for size in sizes.narrowed(to: reachable, target: target) where size.bytes > size.limit {
            problems.add(
                .payloadTooLarge, at: size.language.map { pointer / "content" / $0 } ?? pointer,
                "On \(size.transport.name) this has \(size.bytes) bytes; the limit is \(size.limit).",
                remedy: "Shorten the text or the data by \(size.bytes - size.limit) bytes.")
        }
    }

    private mutating func variants(_ file: JSONMembers, _ delivery: DeliveryOptions) -> [CampaignFile.MessageVariant] {
        guard let elements = problems.array("variants", of: file) else { return [] }
        let pointer = file.pointer / "variants"
        if elements.isEmpty {
            problems.add(
                .variantInvalid, at: pointer, "There are no variants.", remedy: "Give one at least, or leave it out.")
        }
        if elements.count > CampaignFile.maximumVariants {
            problems.add(
                .variantInvalid, at: pointer, "There are \(elements.count) variants.",
                remedy: "Give at most \(CampaignFile.maximumVariants).")
        }
        var names: Set<String> = []
        return elements.enumerated().compactMap { index, element in
            variant(element, at: pointer / index, delivery, names: &names)
        }
    }

    private mutating func variant(
        _ value: JSONValue, at pointer: JSONPointer, _ delivery: DeliveryOptions, names: inout Set<String>
    ) -> CampaignFile.MessageVariant? {
        guard let members = problems.object(value, at: pointer, known: ["name", "weight", "message"]) else {
            return nil
        }
        let name = problems.inkedString("name", of: members, else: .variantInvalid, remedy: "Name the variant.") ?? ""
        if !name.isEmpty, CharacterCount.of(name, exceeds: 64) || !names.insert(name).inserted {
            problems.add(
                .variantInvalid, at: pointer / "name", "The name is too long, or another variant's.",
                remedy: "Give each variant a name of its own, of at most 64 characters.")
        }
        let weight = problems.number("weight", of: members)
        if !members.has("weight") || weight.map({ !($0 > 0 && $0 <= 1_000_000) }) == true {
            problems.add(
                .variantInvalid, at: pointer / "weight", "The weight is missing or out of its range.",
                remedy: "Give a number above 0, at most 1,000,000.")
        }
        let source = message(members, delivery, isOptional: false)
        return CampaignFile.MessageVariant(
            name: name, weight: weight ?? 1, message: source, messageJSON: members["message"]?.text ?? "{}")
    }

    private mutating func holdout(_ file: JSONMembers) -> Double {
        guard let share = problems.number("holdout", of: file) else { return 0 }
        if share >= 0, share < 1 { return share }
        problems.add(
            .variantInvalid, at: file.pointer / "holdout", "The holdout is out of its range.",
            remedy: "Give a share from 0 to below 1.")
        return 0
    }

    /// A background push shows nothing that two groups could differ in.
    private mutating func refuseSilentTest(
        _ file: JSONMembers, _ message: MessageSource?, _ variants: [CampaignFile.MessageVariant],
        _ holdout: Double
    ) {
        guard file.has("variants") || holdout > 0 else { return }
        if case .inline(let message)? = message, message.silent { addSilentTest(file.pointer / "message") }
        for (index, variant) in variants.enumerated() {
            guard case .inline(let message)? = variant.message, message.silent else { continue }
            addSilentTest(file.pointer / "variants" / index / "message")
        }
    }

    private mutating func addSilentTest(_ pointer: JSONPointer) {
        problems.add(
            .silentWithABTest, at: pointer / "silent",
            "A silent push cannot be tested in variants or against a holdout.",
            remedy: "Remove the variants and the holdout, or show something.")
    }

    // MARK: - Small members

    private mutating func label(_ key: String, of file: JSONMembers) -> String {
        guard let text = problems.inkedString(key, of: file, else: .fieldMissing, remedy: "Every campaign needs it.")
        else {
            return ""
        }
        if CharacterCount.of(text, exceeds: 200) {
            problems.add(
                .fieldInvalid, at: file.pointer / key, "The \(key) is longer than 200 characters.",
                remedy: "Shorten it.")
        }
        return text
    }

    private mutating func idempotencyKey(_ file: JSONMembers) -> String? {
        guard let key = problems.string("idempotencyKey", of: file) else { return nil }
        if !WhiteSpace.isBlank(key), key.utf8.count <= 200 { return key }
        problems.add(
            .fieldInvalid, at: file.pointer / "idempotencyKey", "The idempotencyKey is empty or too long.",
            remedy: "Use 1 to 200 bytes, or leave it out.")
        return nil
    }

    private mutating func perSecond(_ file: JSONMembers) -> Int? {
        guard let throttle = problems.object("throttle", of: file, known: ["perSecond"]) else { return nil }
        if !throttle.has("perSecond") {
            problems.add(
                .throttleInvalid, at: throttle.pointer / "perSecond", "The throttle names no rate.",
                remedy: "Give perSecond, or leave the throttle out.")
        }
        return problems.integer("perSecond", of: throttle, in: 1...1_000_000, else: .throttleInvalid)
    }

    private mutating func weight(_ file: JSONMembers) -> Int {
        guard let queue = problems.object("queue", of: file, known: ["weight"]) else { return 1 }
        return problems.integer("weight", of: queue, in: 1...1000, else: .fieldInvalid) ?? 1
    }
}
