import type { Records } from '../../contracts/index.ts'
import { shortHash } from '../../util/hash.ts'

/** Separates the projects that share a data folder. `workspace`: the folder of the project, absolute. */
export const projectScope = (workspace: string): string => shortHash(workspace)

/** The records of one project. */
export function projectRecords(records: Records, workspace: string): Records {
  const inProject = (namespace: string): string => `${namespace}@${projectScope(workspace)}`
  return {
    get: (namespace, key) => records.get(inProject(namespace), key),
    list: (namespace, options) => records.list(inProject(namespace), options),
    update: (namespace, key, change) => records.update(inProject(namespace), key, change),
  }
}
