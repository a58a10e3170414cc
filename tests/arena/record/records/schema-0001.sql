BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE article (
	hash TEXT NOT NULL, 
	source TEXT NOT NULL, 
	url TEXT NOT NULL, 
	title TEXT NOT NULL, 
	text TEXT NOT NULL, 
	published_at TEXT NOT NULL, 
	dated TEXT NOT NULL, 
	PRIMARY KEY (hash)
)
 STRICT

;
INSERT INTO "article" VALUES('8a5b021dbe7317df72209ca7d5f66fd6c53f51bee298e9de731bd396585abffe','sky.example','','News of sim:sun','','2026-01-03T00:00:00.000000Z','2026-01-03 00:00 UTC');
INSERT INTO "article" VALUES('48f7ba87986530c8c3ba93a61b499ff64e13589e3731790db7774707d9b45e60','Old Paper','https://x.example/é','On sim:sun','Who knows?','2026-01-02T11:59:59.000000Z','2026-01-01');
INSERT INTO "article" VALUES('2937d01b75eafde671c6a4d1478000bca5e65308f3928300f7689414900552e7','sky.example','','News of sim:rain','','2026-01-03T00:00:00.000000Z','2026-01-03 00:00 UTC');
INSERT INTO "article" VALUES('d4f4bae85b775481504f09dc3508fabb35c9e0a1896c00666e27afc6b969cfdc','Old Paper','https://x.example/é','On sim:rain','Who knows?','2026-01-02T11:59:59.000000Z','2026-01-01');
INSERT INTO "article" VALUES('6321b0f2331ff3e1553222a4f876bf96f274ac6a4a1c758d4affe42b7a00890e','sky.example','','News of sim:snow','','2026-01-03T00:00:00.000000Z','2026-01-03 00:00 UTC');
INSERT INTO "article" VALUES('77b4720c4adebd72dd5ed7b64b77f2402a215a733bb42b1df27e8fb1e10c78b7','Old Paper','https://x.example/é','On sim:snow','Who knows?','2026-01-02T11:59:59.000000Z','2026-01-01');
INSERT INTO "article" VALUES('4b0207b57c399797521265de8b961959328bd6cf389c0ebf8c43b06a49bd42fe','sky.example','','News of sim:wind','','2026-01-03T00:00:00.000000Z','2026-01-03 00:00 UTC');
INSERT INTO "article" VALUES('56eaf54b0391f317483cc3d2c36385e37aabb19a933f1697263ec1aa8c40c7ce','Old Paper','https://x.example/é','On sim:wind','Who knows?','2026-01-02T11:59:59.000000Z','2026-01-01');
INSERT INTO "article" VALUES('2502bae558fe3f653c46891cf3e8211a8aaae26e859c402f3e6dd0e7ec24dd82','sky.example','','News of sim:sun','','2026-01-10T00:00:00.000000Z','2026-01-10 00:00 UTC');
INSERT INTO "article" VALUES('2f6bcc36949a17293b3824bb89ddd697bc3504bd16b0c829c0826549bbde47cb','sky.example','','News of sim:rain','','2026-01-10T00:00:00.000000Z','2026-01-10 00:00 UTC');
INSERT INTO "article" VALUES('8b961709929030136275f605c7dca27e470914220f190bc518309acc4e8dafd5','sky.example','','News of sim:snow','','2026-01-10T00:00:00.000000Z','2026-01-10 00:00 UTC');
INSERT INTO "article" VALUES('79887151b641506eee109df6496763cf4f7290dac4f956637caaf2414b33b312','sky.example','','News of sim:wind','','2026-01-10T00:00:00.000000Z','2026-01-10 00:00 UTC');
CREATE TABLE call (
	id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	entrant_id INTEGER NOT NULL, 
	stage TEXT NOT NULL, 
	sample INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	messages TEXT NOT NULL, 
	prompt_hash TEXT NOT NULL, 
	seed INTEGER NOT NULL, 
	reply TEXT, 
	finish TEXT NOT NULL, 
	model TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	rung TEXT NOT NULL, 
	tokens_in INTEGER NOT NULL, 
	tokens_out INTEGER NOT NULL, 
	cost INTEGER, 
	worst INTEGER, 
	latency_ms INTEGER NOT NULL, 
	error_code TEXT, 
	error_message TEXT, 
	error_retry INTEGER NOT NULL, 
	made_at TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(entrant_id) REFERENCES entrant (id), 
	FOREIGN KEY(round_id) REFERENCES round (id), 
	UNIQUE (round_id, entrant_id, stage, sample, attempt)
)
 STRICT

;
INSERT INTO "call" VALUES(1,1,1,'final',1,1,'[{"content":"Which of these will happen?","role":"system"},{"content":"sim:sun at 40¢…","role":"user"}]','41b93297d4d628629ad7db64abadd7080fc98a482df47b21a0a5ced6d6b38bdc',5,NULL,'stop','demo-1','fp','prompt',10,5,NULL,NULL,12,'rate_limit','slow down',1,'2026-01-04T12:00:00.000000Z','1b2128433717b43d2d2f79ea5a46f4598ab38e4efd8ad216bdd5e483f8691269');
INSERT INTO "call" VALUES(2,1,1,'blind',1,1,'[{"content":"Which of these will happen?","role":"system"},{"content":"sim:sun at 40¢…","role":"user"}]','41b93297d4d628629ad7db64abadd7080fc98a482df47b21a0a5ced6d6b38bdc',5,'blind','stop','demo-1','fp','prompt',10,5,120,NULL,12,NULL,NULL,0,'2026-01-04T12:00:00.000000Z','2ba8b2e2c4b88bcb5c1173aabc5378a99693b3001ccd3f6c3cff5f61223ea5a9');
INSERT INTO "call" VALUES(3,1,1,'final',1,2,'[{"content":"Which of these will happen?","role":"system"},{"content":"sim:sun at 40¢…","role":"user"}]','41b93297d4d628629ad7db64abadd7080fc98a482df47b21a0a5ced6d6b38bdc',5,'{"forecasts": …}','stop','demo-1','fp','prompt',10,5,120,NULL,12,NULL,NULL,0,'2026-01-04T12:00:00.000000Z','72302e5f3551e4ff42706cab91400a059788edb9bdeb8224589046b9d303e0e3');
INSERT INTO "call" VALUES(4,1,3,'final',1,1,'[{"content":"Which of these will happen?","role":"system"},{"content":"sim:sun at 40¢…","role":"user"}]','41b93297d4d628629ad7db64abadd7080fc98a482df47b21a0a5ced6d6b38bdc',5,'prose','stop','demo-1','fp','prompt',10,5,120,NULL,12,NULL,NULL,0,'2026-01-04T12:00:00.000000Z','398dd4c756d49fd620ced7eeefa2e1416113541a50f7bdd00b2d850309a56792');
INSERT INTO "call" VALUES(5,1,3,'final',1,2,'[{"content":"Which of these will happen?","role":"system"},{"content":"sim:sun at 40¢…","role":"user"}]','41b93297d4d628629ad7db64abadd7080fc98a482df47b21a0a5ced6d6b38bdc',5,'more prose','stop','demo-1','fp','prompt',10,5,120,NULL,12,NULL,NULL,0,'2026-01-04T12:00:00.000000Z','3d0f0ce0b1965ba2846d980a997fc1ad47d52fb4cc7dd9a234209e6bf1ff5955');
INSERT INTO "call" VALUES(6,2,1,'final',1,1,'[{"content":"Which of these will happen?","role":"system"},{"content":"sim:sun at 40¢…","role":"user"}]','41b93297d4d628629ad7db64abadd7080fc98a482df47b21a0a5ced6d6b38bdc',5,'1','stop','demo-1','fp','prompt',10,5,120,NULL,12,NULL,NULL,0,'2026-01-04T12:00:00.000000Z','66b0d45593e67a862914189fddca6710bd0328c024ff82c2a92409d0bc38eeef');
INSERT INTO "call" VALUES(7,2,3,'final',1,1,'[{"content":"Which of these will happen?","role":"system"},{"content":"sim:sun at 40¢…","role":"user"}]','41b93297d4d628629ad7db64abadd7080fc98a482df47b21a0a5ced6d6b38bdc',5,NULL,'stop','demo-1','fp','prompt',10,5,NULL,NULL,12,'timeout','no answer in 120 s',0,'2026-01-04T12:00:00.000000Z','458782ce71cc5210437cdf1c41b5db4778da2f27685bd7cd0f360beee19dd9e5');
INSERT INTO "call" VALUES(8,2,3,'final',1,2,'[{"content":"Which of these will happen?","role":"system"},{"content":"sim:sun at 40¢…","role":"user"}]','41b93297d4d628629ad7db64abadd7080fc98a482df47b21a0a5ced6d6b38bdc',5,'2','stop','demo-1','fp','prompt',10,5,120,NULL,12,NULL,NULL,0,'2026-01-04T12:00:00.000000Z','1edd250badec6eb8cc6048ba1221735d997070a8286954d49835d1185b53780d');
CREATE TABLE claim (
	round_id INTEGER NOT NULL, 
	entrant_id INTEGER NOT NULL, 
	token INTEGER NOT NULL, 
	holder TEXT NOT NULL, 
	expires_at TEXT NOT NULL, 
	PRIMARY KEY (round_id, entrant_id), 
	FOREIGN KEY(entrant_id) REFERENCES entrant (id), 
	FOREIGN KEY(round_id) REFERENCES round (id)
)
 STRICT

;
INSERT INTO "claim" VALUES(1,1,1,'me','2026-01-04T12:30:00.000000Z');
INSERT INTO "claim" VALUES(1,2,1,'me','2026-01-04T12:30:00.000000Z');
INSERT INTO "claim" VALUES(1,3,1,'me','2026-01-04T12:30:00.000000Z');
INSERT INTO "claim" VALUES(2,1,1,'me','2026-01-04T12:30:00.000000Z');
INSERT INTO "claim" VALUES(2,2,1,'me','2026-01-04T12:30:00.000000Z');
INSERT INTO "claim" VALUES(2,3,2,'me','2026-01-04T12:30:00.000000Z');
INSERT INTO "claim" VALUES(3,4,1,'me','2026-01-04T12:30:00.000000Z');
INSERT INTO "claim" VALUES(3,5,1,'me','2026-01-04T12:30:00.000000Z');
CREATE TABLE cohort (
	id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	starts_at TEXT NOT NULL, 
	frozen TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	ended_at TEXT, 
	PRIMARY KEY (id), 
	UNIQUE (number)
)
 STRICT

;
INSERT INTO "cohort" VALUES(1,1,'2026-01-04T12:00:00.000000Z','{"bankroll":10000000000,"entrants":[{"kind":"llm","name":"ann","position":0,"settings":{"model":"demo/é","of":["ann"],"prompt":"bet"}},{"kind":"llm","name":"bob","position":1,"settings":{"model":"demo/é","of":["ann"],"prompt":"bet"}},{"kind":"llm","name":"eve","position":2,"settings":{"model":"demo/é","of":["ann"],"prompt":"bet"}}],"every":604800,"evidence":"folder","evidence_settings":{},"guard":{"characters":1000,"per_market":5,"restricted":[]},"number":1,"prompts":{"bet":"2a4270ff4789ab3eb38da6426a3e9d3e0bb2a3a43fade86c7e14267d33d4cb05"},"rounds":3,"rules":{"base":"start","cap":"bet","extremes":false,"fee":"venue","fill":"book","max_bet":250000,"max_gap":50000,"max_quote_age":900,"max_spread":100000,"merge":true,"min_bet":50000000,"name":"realistic","worst_price":30000},"seed":1,"stamp":"simulated","starts_at":"2026-01-04T12:00:00.000000Z","universe":{"categories":[],"closes_after":0,"closes_within":10000000,"max_price":1000000,"max_spread":100000,"min_depth":0,"min_price":0,"min_volume":0,"not_categories":[],"per_event":2,"price_only":false,"show":4,"strata":[]},"venue":"simulator","venue_settings":{"seed":7}}','d144ef47518d85fc3d35f5b93b7d1028f6f16ed092120d055957d184be50cce8',NULL);
INSERT INTO "cohort" VALUES(2,2,'2026-01-11T12:00:00.000000Z','{"bankroll":10000000000,"entrants":[{"kind":"llm","name":"ann","position":0,"settings":{"model":"demo/é","of":["ann"],"prompt":"bet"}},{"kind":"llm","name":"zoe","position":1,"settings":{"model":"demo/é","of":["ann"],"prompt":"bet"}}],"every":604800,"evidence":"none","evidence_settings":{},"guard":{"characters":1000,"per_market":5,"restricted":[]},"number":2,"prompts":{"bet":"2a4270ff4789ab3eb38da6426a3e9d3e0bb2a3a43fade86c7e14267d33d4cb05"},"rounds":3,"rules":{"base":"running","cap":"bet","extremes":false,"fee":"none","fill":"mid","max_bet":250000,"max_gap":50000,"max_quote_age":900,"max_spread":100000,"merge":false,"min_bet":50000000,"name":"seed","worst_price":30000},"seed":2,"stamp":"simulated","starts_at":"2026-01-11T12:00:00.000000Z","universe":{"categories":[],"closes_after":0,"closes_within":10000000,"max_price":1000000,"max_spread":100000,"min_depth":0,"min_price":0,"min_volume":0,"not_categories":[],"per_event":2,"price_only":false,"show":4,"strata":[]},"venue":"simulator","venue_settings":{"seed":7}}','591827e3f33dcfa1aab9365cf3184cd855a0c9ab23b61e9e86714041f49646c4',NULL);
CREATE TABLE entrant (
	id INTEGER NOT NULL, 
	cohort_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(cohort_id) REFERENCES cohort (id), 
	UNIQUE (cohort_id, name), 
	UNIQUE (cohort_id, position)
)
 STRICT

;
INSERT INTO "entrant" VALUES(1,1,0,'ann','llm','{"model":"demo/é","of":["ann"],"prompt":"bet"}');
INSERT INTO "entrant" VALUES(2,1,1,'bob','llm','{"model":"demo/é","of":["ann"],"prompt":"bet"}');
INSERT INTO "entrant" VALUES(3,1,2,'eve','llm','{"model":"demo/é","of":["ann"],"prompt":"bet"}');
INSERT INTO "entrant" VALUES(4,2,0,'ann','llm','{"model":"demo/é","of":["ann"],"prompt":"bet"}');
INSERT INTO "entrant" VALUES(5,2,1,'zoe','llm','{"model":"demo/é","of":["ann"],"prompt":"bet"}');
CREATE TABLE entry (
	id INTEGER NOT NULL, 
	entrant_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	market_id TEXT NOT NULL, 
	side TEXT NOT NULL, 
	cash INTEGER NOT NULL, 
	shares INTEGER NOT NULL, 
	cost INTEGER NOT NULL, 
	realised INTEGER NOT NULL, 
	balance INTEGER NOT NULL, 
	held INTEGER NOT NULL, 
	ref TEXT NOT NULL, 
	previous TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CHECK (balance >= 0 OR kind IN ('reverse', 'settle', 'refund', 'sell')), 
	CHECK (held >= 0), 
	FOREIGN KEY(entrant_id) REFERENCES entrant (id), 
	UNIQUE (entrant_id, number)
)
 STRICT

;
INSERT INTO "entry" VALUES(1,1,1,'2026-01-04T12:00:00.000000Z','deposit','','',10000000000,0,0,0,10000000000,0,'bankroll','','ccbe4bcb923d8ce3e4d2f9eeaff5aa5cd21622f2d9b24bcd5ff00bd16d89215d');
INSERT INTO "entry" VALUES(2,2,1,'2026-01-04T12:00:00.000000Z','deposit','','',10000000000,0,0,0,10000000000,0,'bankroll','','ccbe4bcb923d8ce3e4d2f9eeaff5aa5cd21622f2d9b24bcd5ff00bd16d89215d');
INSERT INTO "entry" VALUES(3,3,1,'2026-01-04T12:00:00.000000Z','deposit','','',10000000000,0,0,0,10000000000,0,'bankroll','','ccbe4bcb923d8ce3e4d2f9eeaff5aa5cd21622f2d9b24bcd5ff00bd16d89215d');
INSERT INTO "entry" VALUES(4,1,2,'2026-01-04T12:00:00.000000Z','buy','sim:sun','YES',-300000000,715541621,300000000,0,9700000000,715541621,'fill:1:0','ccbe4bcb923d8ce3e4d2f9eeaff5aa5cd21622f2d9b24bcd5ff00bd16d89215d','ba691dabebb833de98a21e029caaa31fa637147bd7277686bf82fe4ef82e093c');
INSERT INTO "entry" VALUES(5,1,3,'2026-01-04T12:00:00.000000Z','buy','sim:rain','NO',-200000000,354027414,200000000,0,9500000000,354027414,'fill:1:1','ba691dabebb833de98a21e029caaa31fa637147bd7277686bf82fe4ef82e093c','2e48f1a3479db078bf0ca03bf6273822bc26b044aae3b68ed99017f21021632f');
INSERT INTO "entry" VALUES(6,2,2,'2026-01-04T12:00:00.000000Z','buy','sim:snow','YES',-100000000,194175509,100000000,0,9900000000,194175509,'fill:1:0','ccbe4bcb923d8ce3e4d2f9eeaff5aa5cd21622f2d9b24bcd5ff00bd16d89215d','96d2115caad0c90f6b8844221c60c605ae263ac20c772892cfd9328d4b93f340');
INSERT INTO "entry" VALUES(7,2,3,'2026-01-04T12:00:00.000000Z','buy','sim:wind','YES',-100000000,177013707,100000000,0,9800000000,177013707,'fill:1:1','96d2115caad0c90f6b8844221c60c605ae263ac20c772892cfd9328d4b93f340','b25282d67d9ed7fbf603e47139193223b540d84c679dedc0c59a53a80990b897');
INSERT INTO "entry" VALUES(8,4,1,'2026-01-11T12:00:00.000000Z','deposit','','',10000000000,0,0,0,10000000000,0,'bankroll','','4158fe38668ce9f6fd2bc7af209995e9c300e8d4ccff64adf8ce08d1fc8aa03e');
INSERT INTO "entry" VALUES(9,5,1,'2026-01-11T12:00:00.000000Z','deposit','','',10000000000,0,0,0,10000000000,0,'bankroll','','4158fe38668ce9f6fd2bc7af209995e9c300e8d4ccff64adf8ce08d1fc8aa03e');
INSERT INTO "entry" VALUES(10,1,4,'2026-01-11T12:00:00.000000Z','sell','sim:sun','YES',148520680,-357770810,-150000000,-1479320,9648520680,357770811,'fill:2:0','2e48f1a3479db078bf0ca03bf6273822bc26b044aae3b68ed99017f21021632f','c0aedc38cdace1b8f8ad28a1909cb3862b8f75337c4b08150e488d43534e0b8a');
INSERT INTO "entry" VALUES(11,1,5,'2026-01-11T12:00:00.000000Z','buy','sim:wind','YES',-150000000,252169496,150000000,0,9498520680,252169496,'fill:2:1','c0aedc38cdace1b8f8ad28a1909cb3862b8f75337c4b08150e488d43534e0b8a','8ca02fc4f4e5e731202c67e3637c7cb39f7a2043b77705c13b685246b2112f58');
INSERT INTO "entry" VALUES(12,2,4,'2026-01-11T12:00:00.000000Z','sell','sim:snow','YES',100001939,-194175509,-100000000,1939,9900001939,0,'fill:2:0','b25282d67d9ed7fbf603e47139193223b540d84c679dedc0c59a53a80990b897','7c0a4945b49519607560ff769c3175e7be01165a6679c7045c3996482295c519');
INSERT INTO "entry" VALUES(13,3,2,'2026-01-11T12:00:00.000000Z','buy','sim:wind','NO',-60000000,137962113,60000000,0,9940000000,137962113,'fill:2:0','ccbe4bcb923d8ce3e4d2f9eeaff5aa5cd21622f2d9b24bcd5ff00bd16d89215d','1482037f4d828dac25008b9bd7272f08424120b6dcd4448da2b527dcfcab9b2b');
INSERT INTO "entry" VALUES(14,4,2,'2026-01-11T12:00:00.000000Z','buy','sim:sun','YES',-500000000,1162790697,500000000,0,9500000000,1162790697,'fill:1:0','4158fe38668ce9f6fd2bc7af209995e9c300e8d4ccff64adf8ce08d1fc8aa03e','0d906f7900858832ca8cc8f6242bb4abbf0d6776879c7c2a5b56be71a88ed277');
INSERT INTO "entry" VALUES(15,4,3,'2026-01-11T12:00:00.000000Z','buy','sim:sun','YES',-400000000,930232558,400000000,0,9100000000,2093023255,'fill:1:1','0d906f7900858832ca8cc8f6242bb4abbf0d6776879c7c2a5b56be71a88ed277','60b522a2c7ba93bacb90711a21e221aef064d5cc60a682337806f09736c8f00f');
INSERT INTO "entry" VALUES(16,4,4,'2026-01-11T12:00:00.000000Z','buy','sim:sun','NO',-300000000,526315789,300000000,0,8800000000,526315789,'fill:1:2','60b522a2c7ba93bacb90711a21e221aef064d5cc60a682337806f09736c8f00f','ffc89481479c0c093bcfd051371694e765d37352400de0480d268412c0b34b9b');
INSERT INTO "entry" VALUES(17,5,2,'2026-01-11T12:00:00.000000Z','buy','sim:rain','NO',-777000000,1494230769,777000000,0,9223000000,1494230769,'fill:1:0','4158fe38668ce9f6fd2bc7af209995e9c300e8d4ccff64adf8ce08d1fc8aa03e','2c74bd9ae354922e34afa249460c8c5b0ed860adbfa972f22a6361074a132ed3');
INSERT INTO "entry" VALUES(18,5,3,'2026-01-11T12:00:00.000000Z','buy','sim:snow','YES',-100000000,188679245,100000000,0,9123000000,188679245,'fill:1:1','2c74bd9ae354922e34afa249460c8c5b0ed860adbfa972f22a6361074a132ed3','c5e37ecb358ff4053ef5e1f1ae2308196d5033f2d184c83bb7e65a28d91ae09b');
CREATE TABLE evidence (
	gathering_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	market_id TEXT NOT NULL, 
	article TEXT NOT NULL, 
	fetched_at TEXT NOT NULL, 
	PRIMARY KEY (gathering_id, position), 
	FOREIGN KEY(article) REFERENCES article (hash), 
	FOREIGN KEY(gathering_id) REFERENCES gathering (id), 
	FOREIGN KEY(market_id) REFERENCES market (id)
)
 STRICT

;
INSERT INTO "evidence" VALUES(1,0,'sim:sun','8a5b021dbe7317df72209ca7d5f66fd6c53f51bee298e9de731bd396585abffe','2026-01-04T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(1,1,'sim:sun','48f7ba87986530c8c3ba93a61b499ff64e13589e3731790db7774707d9b45e60','2026-01-04T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(1,2,'sim:rain','2937d01b75eafde671c6a4d1478000bca5e65308f3928300f7689414900552e7','2026-01-04T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(1,3,'sim:rain','d4f4bae85b775481504f09dc3508fabb35c9e0a1896c00666e27afc6b969cfdc','2026-01-04T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(1,4,'sim:snow','6321b0f2331ff3e1553222a4f876bf96f274ac6a4a1c758d4affe42b7a00890e','2026-01-04T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(1,5,'sim:snow','77b4720c4adebd72dd5ed7b64b77f2402a215a733bb42b1df27e8fb1e10c78b7','2026-01-04T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(1,6,'sim:wind','4b0207b57c399797521265de8b961959328bd6cf389c0ebf8c43b06a49bd42fe','2026-01-04T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(1,7,'sim:wind','56eaf54b0391f317483cc3d2c36385e37aabb19a933f1697263ec1aa8c40c7ce','2026-01-04T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(2,0,'sim:sun','2502bae558fe3f653c46891cf3e8211a8aaae26e859c402f3e6dd0e7ec24dd82','2026-01-11T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(2,1,'sim:sun','48f7ba87986530c8c3ba93a61b499ff64e13589e3731790db7774707d9b45e60','2026-01-11T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(2,2,'sim:rain','2f6bcc36949a17293b3824bb89ddd697bc3504bd16b0c829c0826549bbde47cb','2026-01-11T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(2,3,'sim:rain','d4f4bae85b775481504f09dc3508fabb35c9e0a1896c00666e27afc6b969cfdc','2026-01-11T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(2,4,'sim:snow','8b961709929030136275f605c7dca27e470914220f190bc518309acc4e8dafd5','2026-01-11T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(2,5,'sim:snow','77b4720c4adebd72dd5ed7b64b77f2402a215a733bb42b1df27e8fb1e10c78b7','2026-01-11T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(2,6,'sim:wind','79887151b641506eee109df6496763cf4f7290dac4f956637caaf2414b33b312','2026-01-11T12:01:00.000000Z');
INSERT INTO "evidence" VALUES(2,7,'sim:wind','56eaf54b0391f317483cc3d2c36385e37aabb19a933f1697263ec1aa8c40c7ce','2026-01-11T12:01:00.000000Z');
CREATE TABLE fill (
	id INTEGER NOT NULL, 
	turn_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	market_id TEXT NOT NULL, 
	side TEXT NOT NULL, 
	action TEXT NOT NULL, 
	shares INTEGER NOT NULL, 
	amount INTEGER NOT NULL, 
	fee INTEGER NOT NULL, 
	wanted INTEGER NOT NULL, 
	base INTEGER NOT NULL, 
	quote_at TEXT NOT NULL, 
	quote_hash TEXT NOT NULL, 
	fee_rate INTEGER NOT NULL, 
	"left" TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CHECK (shares > 0 AND amount >= 0 AND fee >= 0), 
	FOREIGN KEY(market_id) REFERENCES market (id), 
	FOREIGN KEY(turn_id) REFERENCES turn (id), 
	UNIQUE (turn_id, position)
)
 STRICT

;
INSERT INTO "fill" VALUES(1,1,0,'sim:sun','YES','buy',715541621,300000000,3472519,300000000,10000000000,'2026-01-04T12:00:00.000000Z','2fa32418a3a549e0ec42c3e51c67cb2561f5d06548be0820a9fbab6aefea0f97',20000,'','','ad96f8bc42152b59dbe3cf3c9450a2ea00140fc6b4d40d60245b2076d24aac81');
INSERT INTO "fill" VALUES(2,1,1,'sim:rain','NO','buy',354027414,200000000,1744648,200000000,10000000000,'2026-01-04T12:00:00.000000Z','b11062243b7fce6d22b95b40b778f2b0be426b508a3df99f86890f13f09050d7',20000,'','','7636c1306cdb7dba3b5d2871629a7159c478d02243395d27357e49ad3445e242');
INSERT INTO "fill" VALUES(3,2,0,'sim:snow','YES','buy',194175509,100000000,970490,100000000,10000000000,'2026-01-04T12:00:00.000000Z','607a9c4e2e2901aa55a285339073ecac2ff722980c71d3b4d786ef86851a1abc',20000,'','','d809d33eb7a40cc2a8bc5a8ef977f869c7b91c20c9db7198bd19535cf831d6ad');
INSERT INTO "fill" VALUES(4,2,1,'sim:wind','YES','buy',177013707,100000000,872324,100000000,10000000000,'2026-01-04T12:00:00.000000Z','5da269c01d0bae48204b5f2c1b442bee32feb5f0cae3c1e898c1436fb0f8315d',20000,'','','01f603a4eaa871a6062ab4da7d6a6948bfbed5eeed718795a9d5169e45a14abe');
INSERT INTO "fill" VALUES(5,4,0,'sim:sun','YES','sell',357770810,148520680,1743060,357770810,9500000000,'2026-01-11T12:00:00.000000Z','ba2227f5441eb271c939ccece5bab7adfc54fc506a96a877de1890d126e663c2',20000,'','','a94d8780278692a0539807fa0c502fb3a9eff6cab9b13e51e01757b2fade9dd9');
INSERT INTO "fill" VALUES(6,4,1,'sim:wind','YES','buy',252169496,150000000,1219997,150000000,9500000000,'2026-01-11T12:00:00.000000Z','6ebcb9c89db91719e12afc9b97cf5c4e557154d6dbda6b276494f629ecd36e0a',20000,'','','821d5a6800036b8bdf31011680e26a80ab6a078fdd64d1fe4895b8f5a99008af');
INSERT INTO "fill" VALUES(7,5,0,'sim:snow','YES','sell',194175509,100001939,969325,194175509,9800000000,'2026-01-11T12:00:00.000000Z','bcddf5ebf991ac9e645b01342554f6764a086b4082e79119a41384fbb17d414a',20000,'','','19df13f244b1499c171ffa362a5f89ed317fc5879ab0e0147f08457801d940da');
INSERT INTO "fill" VALUES(8,6,0,'sim:wind','NO','buy',137962113,60000000,676291,60000000,10000000000,'2026-01-11T12:00:00.000000Z','6ebcb9c89db91719e12afc9b97cf5c4e557154d6dbda6b276494f629ecd36e0a',20000,'','','acc1f4aa9511ffd4812e961b14139d55e41ca23154bc39ed6077d9140e9e885c');
INSERT INTO "fill" VALUES(9,7,0,'sim:sun','YES','buy',1162790697,500000000,0,500000000,10000000000,'2026-01-11T12:00:00.000000Z','ba2227f5441eb271c939ccece5bab7adfc54fc506a96a877de1890d126e663c2',0,'','','66964b6e26b254aec1ce51f4f567aff625fe3ea9097fff3e1568ce501027dba7');
INSERT INTO "fill" VALUES(10,7,1,'sim:sun','YES','buy',930232558,400000000,0,400000000,9500000000,'2026-01-11T12:00:00.000000Z','ba2227f5441eb271c939ccece5bab7adfc54fc506a96a877de1890d126e663c2',0,'','','197839964b8fd9ed5ec97fb613f667aa4e4086d7b4a222019457e56db29c8ebe');
INSERT INTO "fill" VALUES(11,7,2,'sim:sun','NO','buy',526315789,300000000,0,300000000,9100000000,'2026-01-11T12:00:00.000000Z','ba2227f5441eb271c939ccece5bab7adfc54fc506a96a877de1890d126e663c2',0,'','','1b6153693d3251b0ab082a572302f529d96362a48329c6d0ad10ae6df971315f');
INSERT INTO "fill" VALUES(12,8,0,'sim:rain','NO','buy',1494230769,777000000,0,777000000,10000000000,'2026-01-11T12:00:00.000000Z','a61daff83c00881534792b1ea8fcda3cc953ad9afcf31d82537f912a8246bb90',0,'','','66265b9dc4d1b13c5a6dcb699ff2e260ff828773bb06fa1b8f72c5bb1791749c');
INSERT INTO "fill" VALUES(13,8,1,'sim:snow','YES','buy',188679245,100000000,0,100000000,9223000000,'2026-01-11T12:00:00.000000Z','bcddf5ebf991ac9e645b01342554f6764a086b4082e79119a41384fbb17d414a',0,'','','9a071ff619f13105fe12484c73ba6f795c8f78571397a8577535b3792a0fd2aa');
CREATE TABLE fill_level (
	fill_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	price INTEGER NOT NULL, 
	shares INTEGER NOT NULL, 
	amount INTEGER NOT NULL, 
	fee INTEGER NOT NULL, 
	PRIMARY KEY (fill_id, position), 
	FOREIGN KEY(fill_id) REFERENCES fill (id)
)
 STRICT

;
INSERT INTO "fill_level" VALUES(1,0,410000,400000000,165935200,1935200);
INSERT INTO "fill_level" VALUES(1,1,420000,315541621,134064800,1537319);
INSERT INTO "fill_level" VALUES(2,0,560000,354027414,200000000,1744648);
INSERT INTO "fill_level" VALUES(3,0,510000,194175509,100000000,970490);
INSERT INTO "fill_level" VALUES(4,0,560000,177013707,100000000,872324);
INSERT INTO "fill_level" VALUES(5,0,420000,357770810,148520680,1743060);
INSERT INTO "fill_level" VALUES(6,0,590000,252169496,150000000,1219997);
INSERT INTO "fill_level" VALUES(7,0,520000,194175509,100001939,969325);
INSERT INTO "fill_level" VALUES(8,0,430000,137962113,60000000,676291);
INSERT INTO "fill_level" VALUES(9,0,430000,1162790697,500000000,0);
INSERT INTO "fill_level" VALUES(10,0,430000,930232558,400000000,0);
INSERT INTO "fill_level" VALUES(11,0,570000,526315789,300000000,0);
INSERT INTO "fill_level" VALUES(12,0,520000,1494230769,777000000,0);
INSERT INTO "fill_level" VALUES(13,0,530000,188679245,100000000,0);
CREATE TABLE forecast (
	turn_id INTEGER NOT NULL, 
	market_id TEXT NOT NULL, 
	stage TEXT NOT NULL, 
	probability INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	PRIMARY KEY (turn_id, market_id, stage), 
	CHECK (probability BETWEEN 0 AND 1000000), 
	FOREIGN KEY(market_id) REFERENCES market (id), 
	FOREIGN KEY(turn_id) REFERENCES turn (id)
)
 STRICT

;
INSERT INTO "forecast" VALUES(1,'sim:sun','blind',500000,'');
INSERT INTO "forecast" VALUES(1,'sim:sun','final',600000,'so');
INSERT INTO "forecast" VALUES(2,'sim:wind','final',700000,'so');
INSERT INTO "forecast" VALUES(2,'sim:rain','final',0,'so');
INSERT INTO "forecast" VALUES(4,'sim:sun','final',800000,'so');
INSERT INTO "forecast" VALUES(5,'sim:snow','final',100000,'so');
INSERT INTO "forecast" VALUES(6,'sim:wind','final',200000,'so');
INSERT INTO "forecast" VALUES(7,'sim:sun','final',1000000,'so');
INSERT INTO "forecast" VALUES(8,'sim:rain','final',300000,'so');
CREATE TABLE gathering (
	id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	found INTEGER NOT NULL, 
	dropped TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(round_id) REFERENCES round (id), 
	UNIQUE (round_id)
)
 STRICT

;
INSERT INTO "gathering" VALUES(1,1,11,'{"later":1,"undated":2}','dd0149fd0bb72ff63722c461d2639e9c7168c9cd53b062542ba80410d9ddb488');
INSERT INTO "gathering" VALUES(2,2,11,'{"later":1,"undated":2}','73ad9a9f3299c8a6668a289f502a4d18e74d7d99afc8884c273400b974be6e05');
CREATE TABLE mark (
	entrant_id INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	snapshot_id INTEGER NOT NULL, 
	cash INTEGER NOT NULL, 
	value INTEGER NOT NULL, 
	liquidation INTEGER NOT NULL, 
	cost INTEGER NOT NULL, 
	realised INTEGER NOT NULL, 
	stale INTEGER NOT NULL, 
	age INTEGER NOT NULL, 
	PRIMARY KEY (entrant_id, at), 
	FOREIGN KEY(entrant_id) REFERENCES entrant (id), 
	FOREIGN KEY(snapshot_id) REFERENCES snapshot (id)
)
 STRICT

;
INSERT INTO "mark" VALUES(1,'2026-01-04T12:00:00.000000Z',1,9500000000,480931725,470236035,500000000,0,0,0);
INSERT INTO "mark" VALUES(2,'2026-01-04T12:00:00.000000Z',1,9800000000,194445292,190733400,200000000,0,0,0);
INSERT INTO "mark" VALUES(3,'2026-01-04T12:00:00.000000Z',1,10000000000,0,0,0,0,0,0);
INSERT INTO "mark" VALUES(1,'2026-01-11T12:00:00.000000Z',2,9498520680,484194010,474554333,500000000,-1479320,0,0);
INSERT INTO "mark" VALUES(2,'2026-01-11T12:00:00.000000Z',2,9900001939,102667950,100897812,100000000,1939,0,0);
INSERT INTO "mark" VALUES(3,'2026-01-11T12:00:00.000000Z',2,9940000000,57944087,56564466,60000000,0,0,0);
INSERT INTO "mark" VALUES(4,'2026-01-11T12:00:00.000000Z',3,8800000000,1199999998,1173806608,1200000000,0,0,0);
INSERT INTO "mark" VALUES(5,'2026-01-11T12:00:00.000000Z',3,9123000000,876999998,860170899,877000000,0,0,0);
CREATE TABLE market (
	id TEXT NOT NULL, 
	first_seen_at TEXT NOT NULL, 
	PRIMARY KEY (id)
)
 STRICT

;
INSERT INTO "market" VALUES('sim:sun','2026-01-04T12:00:00.000000Z');
INSERT INTO "market" VALUES('sim:rain','2026-01-04T12:00:00.000000Z');
INSERT INTO "market" VALUES('sim:snow','2026-01-04T12:00:00.000000Z');
INSERT INTO "market" VALUES('sim:wind','2026-01-04T12:00:00.000000Z');
CREATE TABLE market_version (
	id INTEGER NOT NULL, 
	market_id TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	event_id TEXT NOT NULL, 
	question TEXT NOT NULL, 
	rules TEXT NOT NULL, 
	category TEXT NOT NULL, 
	opens_at TEXT NOT NULL, 
	closes_at TEXT NOT NULL, 
	tick INTEGER NOT NULL, 
	fee_rate INTEGER NOT NULL, 
	min_shares INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(market_id) REFERENCES market (id), 
	UNIQUE (market_id, version)
)
 STRICT

;
INSERT INTO "market_version" VALUES(1,'sim:sun',1,'2026-01-04T12:00:00.000000Z','sky','Will sim:sun happen?','YES if it happens.','weather','2025-12-05T12:00:00.000000Z','2026-02-15T12:00:00.000000Z',10000,20000,0,'f59755a73e87058acd7c6acf1fa5cc5fbee71cb93eb91595c234fc18e32a781a');
INSERT INTO "market_version" VALUES(2,'sim:rain',1,'2026-01-04T12:00:00.000000Z','fall','Will sim:rain happen?','YES if it happens.','weather','2025-12-05T12:00:00.000000Z','2026-02-15T12:00:00.000000Z',10000,20000,0,'65b44038bb12295f64623301a53b2e3fce4216fd3e5231d0311db22b209d439b');
INSERT INTO "market_version" VALUES(3,'sim:snow',1,'2026-01-04T12:00:00.000000Z','fall','Will sim:snow happen?','YES if it happens.','weather','2025-12-05T12:00:00.000000Z','2026-02-15T12:00:00.000000Z',10000,20000,0,'e13cb63ee23ec97019308cfae86c6edd6698de0ea194e9ffb7a358734992860e');
INSERT INTO "market_version" VALUES(4,'sim:wind',1,'2026-01-04T12:00:00.000000Z','sky','Will sim:wind happen?','YES if it happens.','weather','2025-12-05T12:00:00.000000Z','2026-02-15T12:00:00.000000Z',10000,20000,0,'d4dbb4f7e052dc2c1e71a190d00f471edebf0b5ecd5828afa0ed35fae44df605');
CREATE TABLE prompt (
	hash TEXT NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (hash)
)
 STRICT

;
INSERT INTO "prompt" VALUES('2a4270ff4789ab3eb38da6426a3e9d3e0bb2a3a43fade86c7e14267d33d4cb05','Which of these will happen?');
CREATE TABLE prune (
	id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	older_than TEXT NOT NULL, 
	quotes INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (number)
)
 STRICT

;
CREATE TABLE quote (
	id INTEGER NOT NULL, 
	market_id TEXT NOT NULL, 
	at TEXT NOT NULL, 
	bid INTEGER, 
	ask INTEGER, 
	mid INTEGER, 
	last INTEGER, 
	volume INTEGER NOT NULL, 
	book TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(market_id) REFERENCES market (id), 
	UNIQUE (market_id, at, hash)
)
 STRICT

;
INSERT INTO "quote" VALUES(1,'sim:sun','2026-01-04T12:00:00.000000Z',390000,410000,400000,NULL,0,'{"asks":[[410000,400000000],[420000,400000000]],"bids":[[390000,400000000],[380000,400000000]]}','2fa32418a3a549e0ec42c3e51c67cb2561f5d06548be0820a9fbab6aefea0f97');
INSERT INTO "quote" VALUES(2,'sim:rain','2026-01-04T12:00:00.000000Z',440000,460000,450000,NULL,0,'{"asks":[[460000,400000000],[470000,400000000]],"bids":[[440000,400000000],[430000,400000000]]}','b11062243b7fce6d22b95b40b778f2b0be426b508a3df99f86890f13f09050d7');
INSERT INTO "quote" VALUES(3,'sim:snow','2026-01-04T12:00:00.000000Z',490000,510000,500000,NULL,0,'{"asks":[[510000,400000000],[520000,400000000]],"bids":[[490000,400000000],[480000,400000000]]}','607a9c4e2e2901aa55a285339073ecac2ff722980c71d3b4d786ef86851a1abc');
INSERT INTO "quote" VALUES(4,'sim:wind','2026-01-04T12:00:00.000000Z',540000,560000,550000,NULL,0,'{"asks":[[560000,400000000],[570000,400000000]],"bids":[[540000,400000000],[530000,400000000]]}','5da269c01d0bae48204b5f2c1b442bee32feb5f0cae3c1e898c1436fb0f8315d');
INSERT INTO "quote" VALUES(5,'sim:sun','2026-01-11T12:00:00.000000Z',420000,440000,430000,NULL,0,'{"asks":[[440000,400000000],[450000,400000000]],"bids":[[420000,400000000],[410000,400000000]]}','ba2227f5441eb271c939ccece5bab7adfc54fc506a96a877de1890d126e663c2');
INSERT INTO "quote" VALUES(6,'sim:rain','2026-01-11T12:00:00.000000Z',470000,490000,480000,NULL,0,'{"asks":[[490000,400000000],[500000,400000000]],"bids":[[470000,400000000],[460000,400000000]]}','a61daff83c00881534792b1ea8fcda3cc953ad9afcf31d82537f912a8246bb90');
INSERT INTO "quote" VALUES(7,'sim:snow','2026-01-11T12:00:00.000000Z',520000,540000,530000,NULL,0,'{"asks":[[540000,400000000],[550000,400000000]],"bids":[[520000,400000000],[510000,400000000]]}','bcddf5ebf991ac9e645b01342554f6764a086b4082e79119a41384fbb17d414a');
INSERT INTO "quote" VALUES(8,'sim:wind','2026-01-11T12:00:00.000000Z',570000,590000,580000,NULL,0,'{"asks":[[590000,400000000],[600000,400000000]],"bids":[[570000,400000000],[560000,400000000]]}','6ebcb9c89db91719e12afc9b97cf5c4e557154d6dbda6b276494f629ecd36e0a');
CREATE TABLE rejection (
	turn_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	code TEXT NOT NULL, 
	message TEXT NOT NULL, 
	market_id TEXT NOT NULL, 
	PRIMARY KEY (turn_id, position), 
	FOREIGN KEY(turn_id) REFERENCES turn (id)
)
 STRICT

;
INSERT INTO "rejection" VALUES(1,0,'side','bet 4: UP is no side','sim:sun');
INSERT INTO "rejection" VALUES(1,1,'over_cap','bet $9,000.00 is over the cap of $2,500.00: 25% of $10,000.00 cash','sim:snow');
CREATE TABLE resolution (
	id INTEGER NOT NULL, 
	market_id TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	known_at TEXT NOT NULL, 
	learnt_at TEXT NOT NULL, 
	payout INTEGER, 
	source TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(market_id) REFERENCES market (id), 
	UNIQUE (market_id, version), 
	CONSTRAINT possible CHECK (version >= 1 AND payout BETWEEN 0 AND 1000000)
)
 STRICT

;
CREATE TABLE round (
	id INTEGER NOT NULL, 
	cohort_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	snapshot_id INTEGER NOT NULL, 
	done INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(cohort_id) REFERENCES cohort (id), 
	FOREIGN KEY(snapshot_id) REFERENCES snapshot (id), 
	UNIQUE (cohort_id, at), 
	UNIQUE (cohort_id, number)
)
 STRICT

;
INSERT INTO "round" VALUES(1,1,1,'2026-01-04T12:00:00.000000Z',1,1);
INSERT INTO "round" VALUES(2,1,2,'2026-01-11T12:00:00.000000Z',2,1);
INSERT INTO "round" VALUES(3,2,1,'2026-01-11T12:00:00.000000Z',3,1);
CREATE TABLE set_aside (
	id INTEGER NOT NULL, 
	venue TEXT NOT NULL, 
	record TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	code TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	raw TEXT NOT NULL, 
	first_seen_at TEXT NOT NULL, 
	last_seen_at TEXT NOT NULL, 
	times INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (venue, record, kind, code)
)
 STRICT

;
CREATE TABLE sighting (
	sync_id INTEGER NOT NULL, 
	market_id TEXT NOT NULL, 
	quoted INTEGER NOT NULL, 
	PRIMARY KEY (sync_id, market_id), 
	FOREIGN KEY(market_id) REFERENCES market (id), 
	FOREIGN KEY(sync_id) REFERENCES sync (id)
)
 STRICT

;
CREATE TABLE snapshot (
	id INTEGER NOT NULL, 
	cohort_id INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	taken_at TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(cohort_id) REFERENCES cohort (id), 
	UNIQUE (cohort_id, at)
)
 STRICT

;
INSERT INTO "snapshot" VALUES(1,1,'2026-01-04T12:00:00.000000Z','2026-01-04T12:00:00.000000Z','71140019f7b4dab474851552f01d1ea04a96763edfdaa65d47028cdf0b40c580');
INSERT INTO "snapshot" VALUES(2,1,'2026-01-11T12:00:00.000000Z','2026-01-11T12:00:00.000000Z','1f6ba70f4e1c775dbe5765e838c1ea9e89639fc84126f77381159c53187a397d');
INSERT INTO "snapshot" VALUES(3,2,'2026-01-11T12:00:00.000000Z','2026-01-11T12:00:00.000000Z','9c8f87e058ab1dc4dd09b0f1e4807a8a81ca08a1fd139d441745e16057803d8e');
CREATE TABLE snapshot_item (
	snapshot_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	market_id TEXT NOT NULL, 
	version_id INTEGER NOT NULL, 
	quote_id INTEGER, 
	quoted_at TEXT, 
	shown INTEGER NOT NULL, 
	PRIMARY KEY (snapshot_id, position), 
	FOREIGN KEY(market_id) REFERENCES market (id), 
	FOREIGN KEY(quote_id) REFERENCES quote (id), 
	FOREIGN KEY(snapshot_id) REFERENCES snapshot (id), 
	FOREIGN KEY(version_id) REFERENCES market_version (id)
)
 STRICT

;
INSERT INTO "snapshot_item" VALUES(1,0,'sim:sun',1,1,'2026-01-04T12:00:00.000000Z',1);
INSERT INTO "snapshot_item" VALUES(1,1,'sim:rain',2,2,'2026-01-04T12:00:00.000000Z',1);
INSERT INTO "snapshot_item" VALUES(1,2,'sim:snow',3,3,'2026-01-04T12:00:00.000000Z',1);
INSERT INTO "snapshot_item" VALUES(1,3,'sim:wind',4,4,'2026-01-04T12:00:00.000000Z',1);
INSERT INTO "snapshot_item" VALUES(2,0,'sim:sun',1,5,'2026-01-11T12:00:00.000000Z',1);
INSERT INTO "snapshot_item" VALUES(2,1,'sim:rain',2,6,'2026-01-11T12:00:00.000000Z',1);
INSERT INTO "snapshot_item" VALUES(2,2,'sim:snow',3,7,'2026-01-11T12:00:00.000000Z',1);
INSERT INTO "snapshot_item" VALUES(2,3,'sim:wind',4,8,'2026-01-11T12:00:00.000000Z',1);
INSERT INTO "snapshot_item" VALUES(3,0,'sim:sun',1,5,'2026-01-11T12:00:00.000000Z',1);
INSERT INTO "snapshot_item" VALUES(3,1,'sim:rain',2,6,'2026-01-11T12:00:00.000000Z',1);
INSERT INTO "snapshot_item" VALUES(3,2,'sim:snow',3,7,'2026-01-11T12:00:00.000000Z',1);
INSERT INTO "snapshot_item" VALUES(3,3,'sim:wind',4,8,'2026-01-11T12:00:00.000000Z',1);
CREATE TABLE sync (
	id INTEGER NOT NULL, 
	venue TEXT NOT NULL, 
	stamp TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	markets INTEGER NOT NULL, 
	seen TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (venue, at), 
	UNIQUE (venue, number)
)
 STRICT

;
CREATE TABLE turn (
	id INTEGER NOT NULL, 
	round_id INTEGER NOT NULL, 
	entrant_id INTEGER NOT NULL, 
	verdict TEXT NOT NULL, 
	note TEXT NOT NULL, 
	cash INTEGER NOT NULL, 
	wishes TEXT NOT NULL, 
	code_version TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(entrant_id) REFERENCES entrant (id), 
	FOREIGN KEY(round_id) REFERENCES round (id), 
	UNIQUE (round_id, entrant_id)
)
 STRICT

;
INSERT INTO "turn" VALUES(1,1,1,'played','',10000000000,'{"bets":[{"amount":300000000,"limit":null,"market_id":"sim:sun","reason":"","side":"YES"},{"amount":200000000,"limit":null,"market_id":"sim:rain","reason":"","side":"NO"},{"amount":9000000000,"limit":null,"market_id":"sim:snow","reason":"","side":"YES"}],"sales":[]}','1','1ea1c682091303c0dad61ba96bc9cdb3dfe8e90f8e5209fc01200fb946db25bc');
INSERT INTO "turn" VALUES(2,1,2,'played','',10000000000,'{"bets":[{"amount":100000000,"limit":null,"market_id":"sim:snow","reason":"","side":"YES"},{"amount":100000000,"limit":null,"market_id":"sim:wind","reason":"","side":"YES"}],"sales":[]}','1','9325f1d2c0776ece39f4c0c08fda9bae7ac4b07ddc24cfdc4055772137f957ff');
INSERT INTO "turn" VALUES(3,1,3,'malformed','no JSON',10000000000,'{"bets":[],"sales":[]}','1','ae9f410d428b321828fa6826e79838a21f75277e76d0c4ce7243fe766b156ac6');
INSERT INTO "turn" VALUES(4,2,1,'played','',9500000000,'{"bets":[{"amount":150000000,"limit":null,"market_id":"sim:wind","reason":"","side":"YES"}],"sales":[{"fraction":500000,"limit":null,"market_id":"sim:sun","reason":"","shares":null,"side":"YES"}]}','1','002f7658dc741ef5fe11f2505f958f99754319472175fc5b2e04bdd8ade0e35e');
INSERT INTO "turn" VALUES(5,2,2,'played','',9800000000,'{"bets":[],"sales":[{"fraction":null,"limit":null,"market_id":"sim:snow","reason":"","shares":null,"side":"YES"}]}','1','8b1acf982822c0e3e7d6532b7de55ea1858793c9db59fac7890a793d03a5255b');
INSERT INTO "turn" VALUES(6,2,3,'played','',10000000000,'{"bets":[{"amount":60000000,"limit":null,"market_id":"sim:wind","reason":"","side":"NO"}],"sales":[]}','2','dd33c366b79cd11da72bccd2346ed036aaed6fd10d0469e461ac0a978057f4f0');
INSERT INTO "turn" VALUES(7,3,4,'played','',10000000000,'{"bets":[{"amount":500000000,"limit":null,"market_id":"sim:sun","reason":"","side":"YES"},{"amount":400000000,"limit":null,"market_id":"sim:sun","reason":"","side":"YES"},{"amount":300000000,"limit":null,"market_id":"sim:sun","reason":"","side":"NO"}],"sales":[]}','1','c61d9e66f7f356578514120f639e3217bef04fabcd80b4e7876807e781b01f78');
INSERT INTO "turn" VALUES(8,3,5,'played','',10000000000,'{"bets":[{"amount":777000000,"limit":null,"market_id":"sim:rain","reason":"","side":"NO"},{"amount":100000000,"limit":null,"market_id":"sim:snow","reason":"","side":"YES"}],"sales":[]}','1','48f39a1465775e1750f86012e78b684924bcabbf49b6e96ff607c5acf82f7f4a');
CREATE INDEX ix_market_version_event_id ON market_version (event_id);
CREATE INDEX ix_mark_at ON mark (at);
CREATE INDEX ix_sighting_market_id ON sighting (market_id);
CREATE INDEX ix_call_made_at ON call (made_at, cost, worst);
CREATE INDEX ix_call_entrant_id ON call (entrant_id, cost, worst);
CREATE INDEX ix_call_round_id ON call (round_id, cost, worst);
CREATE INDEX ix_snapshot_item_market_id ON snapshot_item (market_id);
CREATE INDEX ix_snapshot_item_quote_id ON snapshot_item (quote_id);
CREATE TRIGGER prompt_no_update BEFORE UPDATE ON prompt BEGIN SELECT RAISE(ABORT, 'prompt: the record is append-only'); END;
CREATE TRIGGER entrant_no_update BEFORE UPDATE ON entrant BEGIN SELECT RAISE(ABORT, 'entrant: the record is append-only'); END;
CREATE TRIGGER market_no_update BEFORE UPDATE ON market BEGIN SELECT RAISE(ABORT, 'market: the record is append-only'); END;
CREATE TRIGGER market_version_no_update BEFORE UPDATE ON market_version BEGIN SELECT RAISE(ABORT, 'market_version: the record is append-only'); END;
CREATE TRIGGER snapshot_no_update BEFORE UPDATE ON snapshot BEGIN SELECT RAISE(ABORT, 'snapshot: the record is append-only'); END;
CREATE TRIGGER snapshot_item_no_update BEFORE UPDATE ON snapshot_item BEGIN SELECT RAISE(ABORT, 'snapshot_item: the record is append-only'); END;
CREATE TRIGGER resolution_no_update BEFORE UPDATE ON resolution BEGIN SELECT RAISE(ABORT, 'resolution: the record is append-only'); END;
CREATE TRIGGER article_no_update BEFORE UPDATE ON article BEGIN SELECT RAISE(ABORT, 'article: the record is append-only'); END;
CREATE TRIGGER gathering_no_update BEFORE UPDATE ON gathering BEGIN SELECT RAISE(ABORT, 'gathering: the record is append-only'); END;
CREATE TRIGGER evidence_no_update BEFORE UPDATE ON evidence BEGIN SELECT RAISE(ABORT, 'evidence: the record is append-only'); END;
CREATE TRIGGER call_no_update BEFORE UPDATE ON call BEGIN SELECT RAISE(ABORT, 'call: the record is append-only'); END;
CREATE TRIGGER forecast_no_update BEFORE UPDATE ON forecast BEGIN SELECT RAISE(ABORT, 'forecast: the record is append-only'); END;
CREATE TRIGGER rejection_no_update BEFORE UPDATE ON rejection BEGIN SELECT RAISE(ABORT, 'rejection: the record is append-only'); END;
CREATE TRIGGER fill_no_update BEFORE UPDATE ON fill BEGIN SELECT RAISE(ABORT, 'fill: the record is append-only'); END;
CREATE TRIGGER fill_level_no_update BEFORE UPDATE ON fill_level BEGIN SELECT RAISE(ABORT, 'fill_level: the record is append-only'); END;
CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'entry: the record is append-only'); END;
CREATE TRIGGER sync_no_update BEFORE UPDATE ON sync BEGIN SELECT RAISE(ABORT, 'sync: the record is append-only'); END;
CREATE TRIGGER sighting_no_update BEFORE UPDATE ON sighting BEGIN SELECT RAISE(ABORT, 'sighting: the record is append-only'); END;
CREATE TRIGGER prune_no_update BEFORE UPDATE ON prune BEGIN SELECT RAISE(ABORT, 'prune: the record is append-only'); END;
CREATE TRIGGER cohort_no_update BEFORE UPDATE ON cohort WHEN NOT (OLD.ended_at IS NULL AND NEW.id = OLD.id AND NEW.number = OLD.number AND NEW.starts_at = OLD.starts_at AND NEW.frozen = OLD.frozen AND NEW.hash = OLD.hash) BEGIN SELECT RAISE(ABORT, 'cohort: the record is append-only'); END;
CREATE TRIGGER round_no_update BEFORE UPDATE ON round WHEN NOT (OLD.done = 0 AND NEW.id = OLD.id AND NEW.cohort_id = OLD.cohort_id AND NEW.number = OLD.number AND NEW.at = OLD.at AND NEW.snapshot_id = OLD.snapshot_id) BEGIN SELECT RAISE(ABORT, 'round: the record is append-only'); END;
CREATE TRIGGER turn_no_update BEFORE UPDATE ON turn WHEN NOT (OLD.verdict = 'failed' AND NEW.id = OLD.id AND NEW.round_id = OLD.round_id AND NEW.entrant_id = OLD.entrant_id) BEGIN SELECT RAISE(ABORT, 'turn: the record is append-only'); END;
CREATE TRIGGER set_aside_no_update BEFORE UPDATE ON set_aside WHEN NOT (NEW.id = OLD.id AND NEW.venue = OLD.venue AND NEW.record = OLD.record AND NEW.kind = OLD.kind AND NEW.code = OLD.code AND NEW.first_seen_at = OLD.first_seen_at AND NEW.last_seen_at >= OLD.last_seen_at AND NEW.times > OLD.times) BEGIN SELECT RAISE(ABORT, 'set_aside: the record is append-only'); END;
CREATE TRIGGER quote_no_update BEFORE UPDATE ON quote BEGIN SELECT RAISE(ABORT, 'quote: the record is append-only'); END;
CREATE TRIGGER prompt_no_delete BEFORE DELETE ON prompt BEGIN SELECT RAISE(ABORT, 'prompt: the record is append-only'); END;
CREATE TRIGGER entrant_no_delete BEFORE DELETE ON entrant BEGIN SELECT RAISE(ABORT, 'entrant: the record is append-only'); END;
CREATE TRIGGER market_no_delete BEFORE DELETE ON market BEGIN SELECT RAISE(ABORT, 'market: the record is append-only'); END;
CREATE TRIGGER market_version_no_delete BEFORE DELETE ON market_version BEGIN SELECT RAISE(ABORT, 'market_version: the record is append-only'); END;
CREATE TRIGGER snapshot_no_delete BEFORE DELETE ON snapshot BEGIN SELECT RAISE(ABORT, 'snapshot: the record is append-only'); END;
CREATE TRIGGER snapshot_item_no_delete BEFORE DELETE ON snapshot_item BEGIN SELECT RAISE(ABORT, 'snapshot_item: the record is append-only'); END;
CREATE TRIGGER resolution_no_delete BEFORE DELETE ON resolution BEGIN SELECT RAISE(ABORT, 'resolution: the record is append-only'); END;
CREATE TRIGGER article_no_delete BEFORE DELETE ON article BEGIN SELECT RAISE(ABORT, 'article: the record is append-only'); END;
CREATE TRIGGER gathering_no_delete BEFORE DELETE ON gathering BEGIN SELECT RAISE(ABORT, 'gathering: the record is append-only'); END;
CREATE TRIGGER evidence_no_delete BEFORE DELETE ON evidence BEGIN SELECT RAISE(ABORT, 'evidence: the record is append-only'); END;
CREATE TRIGGER call_no_delete BEFORE DELETE ON call BEGIN SELECT RAISE(ABORT, 'call: the record is append-only'); END;
CREATE TRIGGER forecast_no_delete BEFORE DELETE ON forecast BEGIN SELECT RAISE(ABORT, 'forecast: the record is append-only'); END;
CREATE TRIGGER rejection_no_delete BEFORE DELETE ON rejection BEGIN SELECT RAISE(ABORT, 'rejection: the record is append-only'); END;
CREATE TRIGGER fill_no_delete BEFORE DELETE ON fill BEGIN SELECT RAISE(ABORT, 'fill: the record is append-only'); END;
CREATE TRIGGER fill_level_no_delete BEFORE DELETE ON fill_level BEGIN SELECT RAISE(ABORT, 'fill_level: the record is append-only'); END;
CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'entry: the record is append-only'); END;
CREATE TRIGGER sync_no_delete BEFORE DELETE ON sync BEGIN SELECT RAISE(ABORT, 'sync: the record is append-only'); END;
CREATE TRIGGER sighting_no_delete BEFORE DELETE ON sighting BEGIN SELECT RAISE(ABORT, 'sighting: the record is append-only'); END;
CREATE TRIGGER prune_no_delete BEFORE DELETE ON prune BEGIN SELECT RAISE(ABORT, 'prune: the record is append-only'); END;
CREATE TRIGGER cohort_no_delete BEFORE DELETE ON cohort BEGIN SELECT RAISE(ABORT, 'cohort: the record is append-only'); END;
CREATE TRIGGER round_no_delete BEFORE DELETE ON round BEGIN SELECT RAISE(ABORT, 'round: the record is append-only'); END;
CREATE TRIGGER turn_no_delete BEFORE DELETE ON turn BEGIN SELECT RAISE(ABORT, 'turn: the record is append-only'); END;
CREATE TRIGGER set_aside_no_delete BEFORE DELETE ON set_aside BEGIN SELECT RAISE(ABORT, 'set_aside: the record is append-only'); END;
CREATE TRIGGER quote_no_delete BEFORE DELETE ON quote WHEN NOT (EXISTS (SELECT 1 FROM prune JOIN quote AS later ON later.market_id = OLD.market_id WHERE OLD.at < prune.older_than AND later.at < prune.older_than AND (later.at > OLD.at OR (later.at = OLD.at AND later.id > OLD.id)))) BEGIN SELECT RAISE(ABORT, 'quote: the record is append-only'); END;
COMMIT;