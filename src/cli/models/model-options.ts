import { dirname } from 'node:path'
import { systemClock } from '../../runtime/index.ts'
import type { Host } from '../host/process-host.ts'
import type { findModels } from './find-models.ts'

/** Options for resolving the models of an agent file. */
export function modelOptions(agentFile: string, { env }: Pick<Host, 'env'>): Parameters<typeof findModels>[1] {
  return { clock: systemClock, variables: env, baseDir: dirname(agentFile) }
}
