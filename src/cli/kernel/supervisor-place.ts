import { homedir } from 'node:os'
import { supervisorFolder } from '../../kernel/supervisor/index.ts'
import { dataFolder } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'

/** Where `troupe up` of the current folder keeps its quarantine. The configuration is not read: the supervisor must work when it is wrong. */
export const supervisorPlace = (dataDir: string | undefined, { env }: Pick<Host, 'env'>): string =>
  supervisorFolder(dataFolder({ flag: dataDir, env, home: homedir() }), process.cwd())
