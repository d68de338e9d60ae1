export type { SqliteStoreOptions, SqliteSurroundings, SqliteTiming } from './options.ts'
export { sqliteStore } from './sqlite-store.ts'
