import Domain
import FoundationEssentials
import Postgres
import QueueStore

/// A campaign file as read, with what its app says where the database was asked.
struct CampaignReading {
    var campaign: CampaignFile
    /// The file itself.
    let body: String
    var faces = ContentFaces()

    /// Reads and checks a file as sending does, without a database.
    /// - Throws: `ContentProblems` with every problem; `CommandFailure`.
    init(_ path: String) throws {
        let bytes = try Self.bytes(of: path)
        campaign = try CampaignFile.parse(bytes, mode: .strict, meter: faces)
        body = String(decoding: bytes, as: UTF8.self)
    }

    /// As above, but too large a message is not refused: for reports that show how large it is.
    init(unweighed path: String) throws {
        let bytes = try Self.bytes(of: path)
        campaign = try CampaignFile.parse(bytes, mode: .strict)
        body = String(decoding: bytes, as: UTF8.self)
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure("file: \(path) cannot be read; name a campaign file (JSON)")
        }
        let bytes = [UInt8](data)
        // A byte order mark, as editors on Windows write it.
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// Takes the app's templates, channels and FCM mode from the database.
    mutating func complete(from store: AdminStore) async throws {
        campaign = try await store.resolvingTemplate(of: campaign)
        let settings = try await store.contentSettings(app: campaign.app)
        if campaign.delivery.fcmMode == nil { campaign.delivery.fcmMode = settings.fcmMode }
        faces = ContentFaces(settings)
    }

    /// - Throws: `ContentProblems` where the message, with what the app says, does not fit.
    func requireFit() throws {
        let problems = messages.flatMap { pointer, message in
            sizes(of: message).filter { $0.bytes > $0.limit }.map { size in
                Problem(
                    pointer: size.language.map { "\(pointer)/content/\($0)" } ?? pointer,
                    code: ProblemCode.payloadTooLarge.rawValue,
                    message: "On \(size.transport.name) this has \(size.bytes) bytes; the limit is \(size.limit).",
                    remedy: "Shorten the text or the data by \(size.bytes - size.limit) bytes.")
            }
        }
        if !problems.isEmpty { throw ContentProblems(problems) }
    }

    /// Every message of the campaign with its pointer: its own and its variants'.
    var messages: [(pointer: String, message: Message)] {
        var messages: [(String, Message)] = []
        if case .inline(let message)? = campaign.message { messages.append(("/message", message)) }
        for (index, variant) in campaign.variants.enumerated() {
            if case .inline(let message)? = variant.message { messages.append(("/variants/\(index)/message", message)) }
        }
        return messages
    }

    /// What each language weighs on each transport that the audience can have.
    func sizes(of message: Message) -> [SizeReport] {
        faces.sizes(of: message, delivery: campaign.delivery)
            .narrowed(to: transports(of: message), target: campaign.target)
    }

    /// Browsers show something or nothing at all: a silent message is not sent to them.
    func transports(of message: Message) -> Set<TransportKind> {
        if campaign.target != nil { return [.fcm] }
        let reachable = campaign.audience?.transports ?? Set(TransportKind.allCases)
        return message.silent ? reachable.subtracting([.webpush]) : reachable
    }
}
