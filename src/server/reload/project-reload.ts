import { type Project, trustPathOf } from '../../project/index.ts'
import type { AgentRuntime } from '../../runtime/index.ts'
import { HotReload, type HotReloadOptions } from './hot-reload.ts'
import { watchedPaths } from './watched-paths.ts'

interface ProjectReloadOptions extends Pick<HotReloadOptions, 'clock' | 'health' | 'log' | 'reloaded'> {
  readonly project: Project
  readonly runtime: AgentRuntime
  /** What a changed project becomes before it is applied. */
  extend(project: Project): Promise<Project>
  /** Throws if its agents cannot be served. */
  check(project: Project): void
  applied(project: Project): void
}

/** Reload of the files of a project into its runtime. */
export const projectReload = ({ project, runtime, extend, check, applied, ...options }: ProjectReloadOptions): HotReload =>
  new HotReload({
    ...options,
    first: project,
    load: () => project.reload(),
    async apply(loaded) {
      const changed = await extend(loaded)
      check(changed)
      const { adapter, hooks, sandbox } = changed
      await runtime.update(changed.config, { adapter, hooks, ...(sandbox && { sandbox }) })
      applied(changed)
    },
    pathsOf: watchedPaths,
    trustFile: trustPathOf({ env: project.report.setup.environment }),
  })
