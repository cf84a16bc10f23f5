/// What a device token says about itself by how it begins, in hexadecimal digits, since Apple's tokens have nothing else:
///
///     5a5a5a5a…       of the sandbox only; b0b0b0b0… of production only; any other of either
///     fa17 CCCC …     this fault at every request; fa1c CCCC … at the first only
///
/// `CCCC` is the status and a counting digit for a reason of Apple's (`fa174101…` Unregistered), or `0` and a number for a
/// fault of answer, stream or connection. `GET /admin/apns` lists them. Both marks may stand together, in this order.
struct APNsToken {
    static let sandboxMark = Array("5a5a5a5a".utf8)
    static let productionMark = Array("b0b0b0b0".utf8)

    /// What goes wrong.
    enum Trouble: Equatable {
        case reason(APNsReason)
        case fault(Fault)
    }

    private(set) var isSandbox: Bool?
    private(set) var trouble: Trouble?

    /// - Parameters:
    ///   - token: in lower case.
    ///   - attempts: requests for it before this one.
    init(_ token: ArraySlice<UInt8>, attempts: UInt32) {
        var rest = token
        if rest.starts(with: Self.sandboxMark) {
            isSandbox = true
            rest = rest.dropFirst(Self.sandboxMark.count)
        } else if rest.starts(with: Self.productionMark) {
            isSandbox = false
            rest = rest.dropFirst(Self.productionMark.count)
        }
        guard rest.first == UInt8(ascii: "f"), rest.count >= 8 else { return }
        let mark = rest.prefix(4)
        guard mark.elementsEqual("fa17".utf8) || attempts == 0 && mark.elementsEqual("fa1c".utf8) else { return }
        trouble = Self.byCode[String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)]
    }

    private static let byCode: [String: Trouble] = {
        var table: [String: Trouble] = [:]
        var counts: [Int: Int] = [:]
        for reason in APNsReason.allCases {
            let number = counts[reason.status, default: 0]
            counts[reason.status] = number + 1
            table[String(reason.status) + String(number, radix: 16)] = .reason(reason)
        }
        for (index, fault) in Fault.allCases.enumerated() {
            let number = String(index, radix: 16)
            table[String(repeating: "0", count: 4 - number.count) + number] = .fault(fault)
        }
        return table
    }()

    /// What a token begins with to get into trouble at every request, by Apple's reason or the fault's name.
    static let prefixes: [String: String] = Dictionary(
        uniqueKeysWithValues: byCode.map { code, trouble in
            switch trouble {
            case .reason(let reason): (reason.rawValue, "fa17" + code)
            case .fault(let fault): (fault.rawValue, "fa17" + code)
            }
        })
}
