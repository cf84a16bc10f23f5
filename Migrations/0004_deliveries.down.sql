DROP TABLE pushfleet.reason;
DROP TABLE pushfleet.attempt;
DROP TABLE pushfleet.delivery;
