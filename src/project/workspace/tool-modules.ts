import type { Tool } from '../../contracts/index.ts'
import { checkTools, systemClock } from '../../runtime/index.ts'
import type { ImportModules } from '../registry/tool-modules.ts'
import { packageFile } from '../setup/package-file.ts'

/** The tools of the modules that agent files name. */
export interface ModuleTools {
  readonly tools: readonly Tool[]
  /** The modules and the files that they import, which agents must not change. */
  readonly files: readonly string[]
}

export const noModuleTools: ModuleTools = { tools: [], files: [] }

/** Imports modules for a registry, and keeps their tools. */
export class ModuleImporter {
  #loaded = noModuleTools

  get loaded(): ModuleTools {
    return this.#loaded
  }

  readonly importModules: ImportModules = async (modules) => {
    const { loadToolModules } = await import('../../tools/modules/index.ts')
    const { tools, names, problems } = await loadToolModules(modules, {
      clock: systemClock,
      ownPackage: packageFile('package.json'),
      checkTools,
    })
    this.#loaded = { tools, files: modules.flatMap(({ files }) => files.map(({ path }) => path)) }
    return { tools: names, problems }
  }
}
