DROP TABLE pushfleet.subscriber;
DROP TABLE pushfleet.route;
DROP TABLE pushfleet.access_token;
DROP TABLE pushfleet.credential;
DROP TABLE pushfleet.app;
DROP SCHEMA pushfleet;
