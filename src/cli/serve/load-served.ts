import type { KernelProject } from '../../kernel/index.ts'
import type { LoadProjectOptions, OpenProjectOptions, Project } from '../../project/index.ts'
import type { Host } from '../host/process-host.ts'
import type { ServeInvocation } from '../options/serve-invocations.ts'
import { loadTrustedProject } from '../trust/load-trusted-project.ts'

export interface LoadOptions extends Pick<LoadProjectOptions, 'alsoTrusted'>, Pick<OpenProjectOptions, 'otherModels'> {
  readonly host: Host
  /** Whether `--trust` applies. A later change needs its own trust. */
  readonly isTrusted: boolean
  /** Whether the kernel runs: there is an orchestrator, and extensions have models. */
  readonly hasKernel: boolean
}

export type ServedProject = Project | KernelProject

/** Reads and checks everything, as a run does. Throws all errors together. */
export async function loadServed(invocation: ServeInvocation, options: LoadOptions): Promise<ServedProject> {
  const { host, isTrusted, hasKernel, alsoTrusted, otherModels = [] } = options
  const { agents, configFile, dataDir, allow, deny } = invocation
  const { cwd, env } = host
  const report = await loadTrustedProject(
    { cwd, env, agents: agents.length > 0 ? agents : undefined, configFile, alsoTrusted },
    // A server asks nobody: untrusted files are reported.
    { host, isTrusted, storesTrust: isTrusted },
  )
  const opening = { dataDir, allow, deny, otherModels }
  if (!hasKernel) return report.open({ ...opening, serves: true })
  const { openKernelProject } = await import('../../kernel/index.ts')
  return openKernelProject(report, opening)
}
