import type { Records } from '../../contracts/index.ts'

/** Records of a store that is opened later: the table of routes is needed before. */
export const laterRecords = (opened: Promise<Records>): Records => ({
  get: async (...args) => (await opened).get(...args),
  list: async (...args) => (await opened).list(...args),
  update: async (...args) => (await opened).update(...args),
})
