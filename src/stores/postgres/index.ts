export type { PostgresStoreOptions, PostgresSurroundings, PostgresTiming } from './postgres-options.ts'
export { copyFromSqlite, migratePostgres, postgresStore } from './postgres-store.ts'
