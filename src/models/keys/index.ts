export { type KeyOwner, keyInfo, keyOwner, readPastedKey } from './pasted-key.ts'
export { tryKey } from './try-key.ts'
