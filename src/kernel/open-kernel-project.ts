import { orchestratorName } from '../policy/orchestrator-name.ts'
import type { OpenProjectOptions, Project, ProjectReport } from '../project/index.ts'
import { defaultOrchestrator } from './orchestrator/default-orchestrator.ts'
import { agentModel } from './orchestrator/orchestrator-definition.ts'
import { findProjectExtensions } from './project-extensions.ts'
import type { FoundExtension } from './shared/kernel-types.ts'

/** A project with an orchestrator, and with the models that its extensions need. */
export interface KernelProject extends Project {
  /** What was found, in the order of ids. */
  readonly extensions: readonly FoundExtension[]
}

/** How a project is opened. A kernel decides the rest. */
export type KernelProjectOptions = Omit<OpenProjectOptions, 'serves' | 'hasExtensions' | 'addedAgents'>

/** Opens a project for a kernel. Loads no extension. */
export async function openKernelProject(report: ProjectReport, options: KernelProjectOptions = {}): Promise<KernelProject> {
  const { registry, setup } = report
  const extensions = await findProjectExtensions(setup)
  const isOrchestrated = registry.ok && registry.agents.some(({ definition }) => definition.name === orchestratorName)
  const project = await report.open({
    ...options,
    serves: true,
    hasExtensions: true,
    addedAgents: isOrchestrated ? [] : [defaultOrchestrator(setup)],
    otherModels: [...(options.otherModels ?? []), ...extensions.flatMap((found) => agentModel(found) ?? [])],
  })
  return { ...project, extensions, reload: async () => openKernelProject(await report.reload(), options) }
}
