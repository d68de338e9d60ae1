import type { ProjectPlace } from '../../project/index.ts'
import type { Host } from './process-host.ts'

/** Where a command reads its project. */
export const placeOf = ({ cwd, env }: Pick<Host, 'cwd' | 'env'>): ProjectPlace => ({ cwd, env })
