export type { PostgresStoreOptions, PostgresSurroundings, PostgresTiming } from './postgres-options.ts'
export { migratePostgres, postgresStore } from './postgres-store.ts'
