import { agentTemplate, type OverrideArguments, type RegisteredAgent, readAgent, registeredTemplate } from '../../project/index.ts'
import { shellWord } from '../../util/shell-word.ts'
import { columns, columnsOn, paragraph, type Row } from '../terminal/columns.ts'
import { placeOf } from '../terminal/place-of.ts'
import { printable } from '../terminal/printable.ts'
import type { Host } from '../terminal/process-host.ts'

interface AgentHelpOptions {
  readonly overrides: OverrideArguments
  readonly configFile?: string | undefined
}

/** Prints `troupe run FILE --help`: description, usage, children and effective settings. */
export async function agentHelp(file: string, { configFile, overrides }: AgentHelpOptions, host: Host): Promise<string> {
  const { root, agents } = await readAgent(file, { ...placeOf(host), settings: overrides, configFile })
  const { toolName, description, usage } = root.definition
  const maxWidth = columnsOn(host.stdout)
  return [
    ...paragraph(`${toolName}: ${printable(description)}`, maxWidth),
    '',
    'Usage',
    `  troupe run ${shellWord(file)} PROMPT [options]`,
    ...(usage === undefined ? [] : [`  PROMPT is ${printable(usage)}`]),
    ...childrenSection(root, agents, maxWidth),
    '',
    'Effective settings, as a template for a new file',
    '',
    agentTemplate(registeredTemplate(root)),
    '',
    'All settings: troupe help agent-file. All options: troupe help run',
    '',
  ].join('\n')
}

function childrenSection({ definition }: RegisteredAgent, agents: readonly RegisteredAgent[], maxWidth: number): readonly string[] {
  const rows = agents.flatMap(({ definition: child }): readonly Row[] =>
    definition.agents.includes(child.name) ? [[child.toolName, printable(child.description)]] : [],
  )
  return rows.length === 0 ? [] : ['', 'Agents that it can call', ...columns(rows, { maxWidth })]
}
