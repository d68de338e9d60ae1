import { supervisorFolder } from '../../../kernel/supervisor/index.ts'
import { dataFolder, type ProjectPlace } from '../../../project/index.ts'

/** Where `troupe up` of the current folder keeps its quarantine. The configuration is not read: the supervisor must work when it is wrong. */
export const supervisorPlace = (dataDir: string | undefined, { cwd, env }: ProjectPlace): string =>
  supervisorFolder(dataFolder({ flag: dataDir, cwd, env }), cwd)
