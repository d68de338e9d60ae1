import type { SessionEntry, TreeEntry } from '../../contracts/index.ts'

export const sessionEntry = ({ treeId: sessionId, ...entry }: TreeEntry): SessionEntry => ({ sessionId, ...entry })
