import { type ApprovalRule, ruleVerdicts, TroupeError } from '../../contracts/index.ts'
import { type FoundAgent, loadProject } from '../../project/index.ts'
import type { AgentsInvocation } from '../arguments/project-invocations.ts'
import { columns, columnsOn, type Row } from '../terminal/columns.ts'
import { exitCodes } from '../terminal/exit-codes.ts'
import { placeOf } from '../terminal/place-of.ts'
import { printDocument, printNotice } from '../terminal/print-messages.ts'
import { printable } from '../terminal/printable.ts'
import type { Host } from '../terminal/process-host.ts'

/** `troupe agents list`: lists the readable agents and mentions errors. Reports the errors in full if no agent is readable. */
export async function agentsCommand({ output, display, configFile }: AgentsInvocation, host: Host): Promise<number> {
  const { registry, error, isConfigured } = await loadProject({ ...placeOf(host), configFile, importsModules: false })
  const agents = registry.found.toSorted((a, b) => (a.place < b.place ? -1 : 1))
  // A configuration named with --config must be valid.
  if (error && configFile !== undefined && !isConfigured) throw error
  if (error && agents.length === 0 && registry.files.length > 0) throw unreadable(error)
  const problems = error?.problems ?? []
  if (output === 'json') await printDocument({ agents, problems }, host)
  else if (agents.length > 0) await host.stdout.lines(columns(agents.map(rowOf), { maxWidth: columnsOn(host.stdout) }))
  if (agents.length === 0) await printNotice('No agents found here. Create a sample project: troupe init', { host, display })
  if (problems.length > 0) await printNotice(`Some agents have errors; run: troupe validate`, { host, display })
  return exitCodes.done.code
}

function unreadable({ code, problems }: TroupeError): TroupeError {
  return new TroupeError(code, 'None of the agent files here is valid.', {
    problems,
    remedy: 'Fix the errors and check again: troupe validate',
  })
}

function rowOf({ toolName, description, usage, place, dialect, enabled, approvals = [], agents, metadata }: FoundAgent): Row {
  const facts = [
    place,
    ...(dialect === 'troupe' ? [] : [dialect]),
    ...(enabled ? [] : ['disabled']),
    ...(agents.length > 0 ? [`calls ${agents.join(', ')}`] : []),
    ...(approvals.length > 0 ? [`rules: ${approvals.flatMap(clausesOf).join(', ')}`] : []),
    ...Object.entries(metadata).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
  ]
  const example = usage === undefined ? [] : [`input: ${printable(usage)}`]
  return [toolName, [printable(description), ...example, printable(facts.join(' · '))].join('\n')]
}

const maxPatterns = 6

function clausesOf(rule: ApprovalRule): readonly string[] {
  return ruleVerdicts.flatMap((verdict) => {
    const patterns = [rule[verdict] ?? []].flat()
    const shown = patterns.length > maxPatterns ? [...patterns.slice(0, maxPatterns), '…'] : patterns
    return patterns.length > 0 ? [`${verdict} ${shown.join(' ')}`] : []
  })
}
