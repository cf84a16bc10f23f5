import ArgumentParser
import Domain
import QueueStore
import Transports

struct CampaignValidate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Checks a campaign file as strictly as sending does, and weighs it.",
        discussion: """
            Weighs each language on each transport, placeholders by their fallbacks. With --audience the database is asked
            besides: the app's channels, template and FCM mode are taken, its zone is looked up, and each language is weighed once more with the
            longest value of each attribute that any of the app's subscribers has. A warning is no fault: such a message is
            sent.

            EXAMPLE
              pushfleet campaign validate winter.json --json
              pushfleet campaign validate winter.json --audience
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Flag(help: "Also weigh with the longest values that subscribers of its audience have; needs the database.")
    var audience = false
    @Argument(help: "The campaign file.") var file: String

    func run() async throws {
        try await reportingFailures {
            var report = ValidationReport()
            do {
                var reading = try CampaignReading(unweighed: file)
                var largest: [String: String] = [:]
                if audience {
                    (reading, largest) = try await completed(reading)
                }
                report.weigh(reading, largest: audience ? largest : nil)
                if audience { try reading.requireFit() } else { _ = try CampaignReading(file) }
            } catch let problems as ContentProblems {
                report.add(problems)
            }
            writeOutput(output.json ? try exactJSONLine(report) : report.text)
            if !report.valid { throw ExitStatus.badInput }
        }
    }

    private func completed(_ reading: CampaignReading) async throws -> (CampaignReading, [String: String]) {
        try await database.withClient { client in
            let store = AdminStore(client)
            var reading = reading
            try await reading.complete(from: store)
            try await store.checkZone(of: reading.campaign.schedule)
            let names = Set(reading.messages.flatMap(\.message.placeholderNames)).sorted()
            return (
                reading,
                try await store.largestValues(
                    app: reading.campaign.app, audience: reading.campaign.audience, attributes: names)
            )
        }
    }
}

/// What `campaign validate --json` prints.
struct ValidationReport: Encodable {
    struct Fault: Encodable { let pointer, code, message, remedy: String }
    struct Warning: Encodable { let pointer, code, message, remedy: String }
    struct Size: Encodable {
        let transport, language: String
        let bytes, limit: Int
        /// Of its transport.
        var largest = false
        /// With the longest values that subscribers have, where they were asked for.
        var audienceBytes: Int?
        /// Which message of an A/B test; absent for the campaign's own.
        var variant: String?
    }

    var valid = true
    var problems: [Fault] = []
    var warnings: [Warning] = []
    var sizes: [Size] = []

    mutating func add(_ found: ContentProblems) {
        valid = false
        problems += found.problems.map {
            Fault(pointer: $0.pointer, code: $0.code, message: $0.message, remedy: $0.remedy)
        }
    }

    /// - Parameter largest: by attribute; nil = subscribers were not asked.
    mutating func weigh(_ reading: CampaignReading, largest: [String: String]?) {
        for (pointer, message) in reading.messages {
            let filled = largest.map { reading.sizes(of: message.filled(with: $0)) }
            for (index, size) in reading.sizes(of: message).enumerated() {
                sizes.append(
                    Size(
                        transport: size.transport.name, language: size.language ?? "-", bytes: size.bytes,
                        limit: size.limit, audienceBytes: filled?[index].bytes,
                        variant: Self.variant(pointer, reading.campaign)))
                warn(max(size.bytes, filled?[index].bytes ?? 0), size, pointer)
            }
        }
        for index in sizes.indices {
            let same = sizes.filter { $0.transport == sizes[index].transport }
            sizes[index].largest = sizes[index].bytes == same.map(\.bytes).max()
        }
    }

    /// - Parameter bytes: the most that is known of it.
    private mutating func warn(_ bytes: Int, _ size: SizeReport, _ pointer: String) {
        guard size.transport == .webpush, bytes > WebPushMessageMeter.bridgeBytes, bytes <= size.limit else { return }
        warnings.append(
            Warning(
                pointer: size.language.map { "\(pointer)/content/\($0)" } ?? pointer, code: "webpush_bridge",
                message: "Firefox for Android may not get \(bytes) bytes; its bridge takes "
                    + "\(WebPushMessageMeter.bridgeBytes).",
                remedy: "Shorten the text or the data by \(bytes - WebPushMessageMeter.bridgeBytes) bytes."))
    }

    private static func variant(_ pointer: String, _ campaign: CampaignFile) -> String? {
        let parts = pointer.split(separator: "/")
        guard parts.first == "variants", parts.count > 1, let index = Int(parts[1]) else { return nil }
        return campaign.variants[index].name
    }

    var text: String {
        var text = valid ? "valid\n" : ""
        if !sizes.isEmpty {
            let isMeasured = sizes.contains { $0.audienceBytes != nil }
            var table = TextTable(
                ["TRANSPORT", "LANGUAGE", "BYTES", "LIMIT"] + (isMeasured ? ["AUDIENCE"] : []) + [""],
                right: isMeasured ? [2, 3, 4] : [2, 3])
            for size in sizes {
                let name = size.variant.map { "\(size.language) (\($0))" } ?? size.language
                var row = [size.transport, name, "\(size.bytes)", "\(size.limit)"]
                if isMeasured { row.append(size.audienceBytes.map { "\($0)" } ?? "") }
                table.add(row + [mark(size)])
            }
            text += table.text
        }
        for warning in warnings { text += "warning: \(warning.pointer): \(warning.message) \(warning.remedy)\n" }
        if !valid {
            text +=
                describe(
                    problems.map {
                        Problem(pointer: $0.pointer, code: $0.code, message: $0.message, remedy: $0.remedy)
                    }) + "\n"
        }
        return text
    }

    private func mark(_ size: Size) -> String {
        if size.bytes > size.limit { return "too large" }
        let largest = size.largest ? "largest" : ""
        guard let most = size.audienceBytes, most > size.limit else { return largest }
        return (largest.isEmpty ? "" : largest + "; ") + "may be too large for some subscribers"
    }
}
