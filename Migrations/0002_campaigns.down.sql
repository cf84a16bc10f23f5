DROP TABLE pushfleet.run_total;
DROP TABLE pushfleet.run_progress;
DROP TABLE pushfleet.run;
DROP TABLE pushfleet.content_version;
DROP TABLE pushfleet.campaign;
