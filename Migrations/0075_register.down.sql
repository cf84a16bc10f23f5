DROP FUNCTION pushfleet.unregister_subscriber;
DROP FUNCTION pushfleet.register_subscriber;
DROP FUNCTION pushfleet.installation_problems;
DROP FUNCTION pushfleet.is_p256_point;
DROP FUNCTION pushfleet.base64_bytes;
DROP FUNCTION pushfleet.refuse;
