-- Who may do what in the arena's database, made once with the server's data: compose.yaml mounts this file for that.
-- For a server of your own: psql --set=secrets=FOLDER --file=deploy/roles.sql, as its superuser, in the arena's database.
-- The passwords are those in the folder's files arena, arena_worker and arena_reader.
\set ON_ERROR_STOP on
\if :{?secrets}
\else
  \set secrets /run/secrets
\endif
\set arena `cat :secrets/arena`
\set worker `cat :secrets/arena_worker`
\set reader `cat :secrets/arena_reader`

-- The scheduler has the tables: it makes and upgrades them. Workers only read and write, the dashboard only reads.
CREATE ROLE arena LOGIN PASSWORD :'arena';
CREATE ROLE arena_worker LOGIN PASSWORD :'worker';
CREATE ROLE arena_reader LOGIN PASSWORD :'reader';
ALTER ROLE arena_reader SET default_transaction_read_only = on;

REVOKE ALL ON DATABASE :"DBNAME" FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE :"DBNAME" TO arena;
GRANT CONNECT ON DATABASE :"DBNAME" TO arena_worker, arena_reader;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO arena;
GRANT USAGE ON SCHEMA public TO arena_worker, arena_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE arena IN SCHEMA public
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO arena_worker;
ALTER DEFAULT PRIVILEGES FOR ROLE arena IN SCHEMA public GRANT USAGE ON SEQUENCES TO arena_worker;
ALTER DEFAULT PRIVILEGES FOR ROLE arena IN SCHEMA public GRANT SELECT ON TABLES TO arena_reader;
