export { copyStore, migrateStore, openStore } from './open-store.ts'
export { type StoredNames, storedNames } from './sqlite/stored-names.ts'
