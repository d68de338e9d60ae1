import { dirname } from 'node:path'
import { systemClock } from '../../runtime/index.ts'
import type { Host } from '../host/process-host.ts'
import type { findModels } from './find-models.ts'

/** What models are found with: keys in the environment, and what their names refer to beside the agent's file. */
export function modelOptions(agentFile: string, { env }: Pick<Host, 'env'>): Parameters<typeof findModels>[1] {
  return { clock: systemClock, variables: env, baseDir: dirname(agentFile) }
}
