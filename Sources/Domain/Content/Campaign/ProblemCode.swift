/// Every code that a `Problem` can carry (content model §10, decisions.md "Content"). The last group is ours: it covers
/// what those pages leave without a name.
package enum ProblemCode: String, Sendable, CaseIterable {
    case contentMissing = "content_missing"
    case languageKeyInvalid = "language_key_invalid"
    case languageKeyDuplicate = "language_key_duplicate"
    case defaultLanguageMissing = "default_language_missing"
    case defaultLanguageUnknown = "default_language_unknown"
    case titleMissing = "title_missing"
    case titleTooLong = "title_too_long"
    case bodyMissing = "body_missing"
    case bodyTooLong = "body_too_long"
    case imageInvalid = "image_invalid"
    case urlInvalid = "url_invalid"
    case urlTooLong = "url_too_long"
    case actionsTooMany = "actions_too_many"
    case actionIDInvalid = "action_id_invalid"
    case actionIDDuplicate = "action_id_duplicate"
    case actionTitleMissing = "action_title_missing"
    case actionTitleTooLong = "action_title_too_long"
    case placeholderMalformed = "placeholder_malformed"
    case placeholderNotAllowed = "placeholder_not_allowed"
    case presentationInvalid = "presentation_invalid"
    case dataNotString = "data_not_string"
    case dataKeyInvalid = "data_key_invalid"
    case dataKeyTooLong = "data_key_too_long"
    case dataKeyReserved = "data_key_reserved"
    case dataValueTooLong = "data_value_too_long"
    case silentWithABTest = "silent_with_ab_test"
    case payloadTooLarge = "payload_too_large"
    case unknownField = "unknown_field"

    case characterInvalid = "character_invalid"
    case typeInvalid = "type_invalid"
    case deliveryInvalid = "delivery_invalid"
    case scheduleInvalid = "schedule_invalid"
    case audienceInvalid = "audience_invalid"
    case throttleInvalid = "throttle_invalid"
    case overrideInvalid = "override_invalid"
    case variantInvalid = "variant_invalid"
    case templateUnknown = "template_unknown"

    /// The text is not JSON.
    case jsonInvalid = "json_invalid"
    /// More bytes than a file or draft may have.
    case fileTooLarge = "file_too_large"
    /// A member without which a campaign makes no sense is absent or blank.
    case fieldMissing = "field_missing"
    /// A member's value is out of its range, where no other code says so.
    case fieldInvalid = "field_invalid"

    /// What drafts are checked for too; everything else waits for the send (D-26).
    var bindsDrafts: Bool {
        switch self {
        case .characterInvalid, .typeInvalid, .jsonInvalid, .fileTooLarge: true
        default: false
        }
    }
}
