BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004');
CREATE TABLE judgement (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id VARCHAR(64) NOT NULL, 
	sentence VARCHAR(64) NOT NULL, 
	start_word INTEGER NOT NULL, 
	end_word INTEGER NOT NULL, 
	label TEXT NOT NULL, 
	gold VARCHAR(64) NOT NULL, 
	kind VARCHAR(2) NOT NULL, 
	verdict VARCHAR(16) NOT NULL, 
	annotator TEXT NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	note TEXT NOT NULL, 
	correction BOOLEAN NOT NULL, 
	undoes VARCHAR(64) NOT NULL, 
	blind BOOLEAN NOT NULL, 
	seconds FLOAT, 
	at VARCHAR(32) NOT NULL, correct_label TEXT DEFAULT '' NOT NULL, tags TEXT DEFAULT '' NOT NULL, correct_tree TEXT DEFAULT '' NOT NULL, blocks TEXT DEFAULT '' NOT NULL, 
	UNIQUE (id), 
	FOREIGN KEY(sentence) REFERENCES sentence (hash)
);
INSERT INTO "judgement" VALUES(1,'one00000','5710cf00e8367e8c9f60b0d6629ffdf2662271cbd07ce49c4248341b72b15604',4,7,'NP','1bb7cef7c17bfe490a02d7b8ef8358ba8d4fbc1f54e587c8e315b7c7534c3b73','CE','accepted','anna','annotator','a note',0,'',0,NULL,'2025-01-01T00:00:02.000000Z','','','','');
INSERT INTO "judgement" VALUES(2,'two00000','65c0e1ed171387ab73e985214183d205544d4cbef7e421c28f6d006d8ab17596',1,5,'NP','652dfd6c23c112689a1c55d7e468a38ac894782f1f6d0b8bf41299f7c9f4d6a0','CE','rejected','anna','annotator','',1,'',0,2.5,'2025-01-01T00:00:03.000000Z','','','','');
INSERT INTO "judgement" VALUES(3,'three000','5710cf00e8367e8c9f60b0d6629ffdf2662271cbd07ce49c4248341b72b15604',4,7,'NP','1bb7cef7c17bfe490a02d7b8ef8358ba8d4fbc1f54e587c8e315b7c7534c3b73','CE','rejected','anna','annotator','',0,'',0,NULL,'2025-01-01T00:00:01.000000Z','','','','');
INSERT INTO "judgement" VALUES(4,'four0000','5710cf00e8367e8c9f60b0d6629ffdf2662271cbd07ce49c4248341b72b15604',4,7,'NP','1bb7cef7c17bfe490a02d7b8ef8358ba8d4fbc1f54e587c8e315b7c7534c3b73','CE','rejected','ben','annotator','',0,'',0,NULL,'2025-01-01T00:00:04.000000Z','','','','');
INSERT INTO "judgement" VALUES(5,'five0000','ea33db9f26a9661b8ab61a6d73aedc105839608ca0f4e968241841b22e673f40',1,4,'NP','dc17c7fcf2ba3e7b5205974264c1ef75516a73a3cb875892f8778643d82fa596','CE','skipped','ben','annotator','',0,'',0,NULL,'2025-01-01T00:00:05.000000Z','','','','');
INSERT INTO "judgement" VALUES(6,'six00000','65c0e1ed171387ab73e985214183d205544d4cbef7e421c28f6d006d8ab17596',1,5,'NP','652dfd6c23c112689a1c55d7e468a38ac894782f1f6d0b8bf41299f7c9f4d6a0','CE','withdrawn','anna','annotator','',0,'two00000',0,NULL,'2025-01-01T00:00:06.000000Z','','','','');
INSERT INTO "judgement" VALUES(7,'seven000','ea33db9f26a9661b8ab61a6d73aedc105839608ca0f4e968241841b22e673f40',1,4,'NP','dc17c7fcf2ba3e7b5205974264c1ef75516a73a3cb875892f8778643d82fa596','CE','rejected','anna','adjudicator','über',1,'',1,4.5,'2025-01-01T00:00:07.000000Z','PP','attachment,coordination','(S (VP (V List)))','');
INSERT INTO "judgement" VALUES(8,'eight000','ea33db9f26a9661b8ab61a6d73aedc105839608ca0f4e968241841b22e673f40',1,5,'VP','dc17c7fcf2ba3e7b5205974264c1ef75516a73a3cb875892f8778643d82fa596','SP','unsure','carla','annotator','',0,'',0,NULL,'2025-01-01T00:00:08.000000Z','','','','1-2 4-5');
CREATE TABLE sentence (
	hash VARCHAR(64) NOT NULL, 
	words TEXT NOT NULL, 
	PRIMARY KEY (hash)
);
INSERT INTO "sentence" VALUES('5710cf00e8367e8c9f60b0d6629ffdf2662271cbd07ce49c4248341b72b15604','["What", "is", "the", "cheapest", "fare", "from", "Porto", "to", "Madrid", "?"]');
INSERT INTO "sentence" VALUES('65c0e1ed171387ab73e985214183d205544d4cbef7e421c28f6d006d8ab17596','["Does", "the", "airport", "hotel", "in", "Madrid", "offer", "a", "shuttle", "service", "?"]');
INSERT INTO "sentence" VALUES('ea33db9f26a9661b8ab61a6d73aedc105839608ca0f4e968241841b22e673f40','["List", "the", "hotels", "near", "the", "airport", "in", "Zurich", "."]');
CREATE TABLE setting (
	name VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "setting" VALUES('link afc1557391c1340dc02817dafba57e8f47a6f057','["annotator", "ben", 1]');
INSERT INTO "setting" VALUES('secret','0000000000000000000000000000000000000000000000000000000000000001');
CREATE TRIGGER sentence_no_update BEFORE UPDATE ON sentence BEGIN SELECT RAISE(ABORT, 'the log of judgements only grows'); END;
CREATE TRIGGER sentence_no_delete BEFORE DELETE ON sentence BEGIN SELECT RAISE(ABORT, 'the log of judgements only grows'); END;
CREATE TRIGGER judgement_no_update BEFORE UPDATE ON judgement BEGIN SELECT RAISE(ABORT, 'the log of judgements only grows'); END;
CREATE TRIGGER judgement_no_delete BEFORE DELETE ON judgement BEGIN SELECT RAISE(ABORT, 'the log of judgements only grows'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('judgement',8);
COMMIT;
