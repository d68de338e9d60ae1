import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { AgentDiagnostic } from './registry/agent-diagnostic.ts'
import type { Registry } from './registry/load-registry.ts'
import type { ConfigOptions, Setup } from './setup/read-setup.ts'

/** A team has the configuration of its root. Warns about configuration files next to children. */
export function unusedConfigFiles(
  registry: Registry,
  { workingDirectory }: Setup,
  { file, configFile }: ConfigOptions,
): readonly AgentDiagnostic[] {
  const read = new Set([workingDirectory, ...(file === undefined ? [] : [dirname(resolve(workingDirectory, file))])])
  const children = registry.ok ? registry.agents.filter(({ path }) => !read.has(dirname(path))) : []
  const folders = new Map(children.map((agent) => [dirname(agent.path), agent]))
  return [...folders].flatMap(([folder, { definition }]) =>
    ['.ai-agent.json', '.ai-agent.env'].flatMap((name): readonly AgentDiagnostic[] => {
      const path = join(folder, name)
      if (!hasContent(path) || (configFile !== undefined && resolve(workingDirectory, configFile) === path)) return []
      const message = `this file does not apply to \`${definition.toolName}\` as a child: a team uses the configuration of its root agent`
      return [
        {
          code: 'agent_config_unused',
          severity: 'warning',
          place: path,
          message,
          remedy: `Add its settings to ${join(workingDirectory, name)}.`,
        },
      ]
    }),
  )
}

function hasContent(path: string): boolean {
  try {
    return !/^\s*(?:\{\s*\}\s*)?$/.test(readFileSync(path, 'utf8'))
  } catch {
    return false
  }
}
