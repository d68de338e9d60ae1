export type { SqliteStoreOptions, SqliteSurroundings, SqliteTiming } from './sqlite-options.ts'
export { sqliteStore } from './sqlite-store.ts'
