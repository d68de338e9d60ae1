import type { ApprovalRule, Problem } from '../../contracts/index.ts'
import { automaticTools } from '../../policy/builtin-tool-names.ts'
import { ownToolsForAny } from '../../policy/foreign-tools.ts'
import { matchesSource, matchesTool } from '../../policy/tool-name-patterns.ts'
import { type KnownTools, patternsOf, rulePatternProblem, toolNameProblem } from '../../policy/tool-name-problems.ts'
import { findCycles } from '../../util/find-cycles.ts'
import { didYouMean, listNames } from '../../yaml/messages.ts'
import { toolEntries } from '../agent-file/tool-entries.ts'
import { locationOf } from '../options/option-values.ts'
import { type ChildReference, type LoadedFile, locationOfReference } from './loaded-file.ts'
import { type MissingTool, mustHaveItsTools } from './missing-tools.ts'
import { isModulePath } from './tool-modules.ts'

/** Settings that a child needs. Foreign files do not have them. */
export function childProblems({ from, to }: Edge): readonly Problem[] {
  const { dialect, agent, values, at } = to
  if (dialect !== 'troupe') return []
  const by = `\`${from.agent.toolName}\` calls this agent`
  const problems: Problem[] = []
  if (agent.usage === undefined)
    problems.push({
      ...at,
      message: `\`usage\` is missing: ${by}`,
      remedy: 'Add an example of its input: `usage: a city and a date`.',
    })
  if (![...values.keys()].some((key) => key.startsWith('output.')))
    problems.push({
      ...at,
      message: `\`output\` is missing: ${by}`,
      remedy: 'Add the format of its answer: `output: { format: json, schema: { … } }`, or `output: { format: markdown }`.',
    })
  return problems
}

/** Entries of `tools` without a match. */
export function unknownTools(file: LoadedFile, { tools: known, sources }: KnownTools, isIncomplete = false): readonly UnknownTool[] {
  if (!mustHaveItsTools(file)) return []
  const servers = [...sources, ...Object.keys(file.values.get('mcpServers')?.value ?? {})]
  return toolEntries(file.values).flatMap(({ written, isOptional, at }) => {
    if (written === '*' || isModulePath(written) || known.some((name) => matchesTool(written, name))) return []
    if (servers.some((server) => matchesSource(written, server))) return []
    // It may be a tool of a module that was not imported.
    if (isIncomplete && toolNameProblem(written, { tools: known, sources: [] })?.kind === 'nothing') return []
    return [{ ...at, ...unknownTool(written, known), written, agent: file.path, isOptional, kind: 'absent' as const }]
  })
}

interface UnknownTool extends MissingTool {
  readonly written: string
}

/** Rules that can match no call. Foreign rules are checked when they are translated. */
export function ruleProblems(
  { dialect, values, agent: { clientTools } }: LoadedFile,
  known: KnownTools,
  isIncomplete = false,
): readonly Problem[] {
  const option = values.get('approvals.rules')
  if (!option || (dialect !== 'troupe' && option.precedence !== 'override')) return []
  return (option.value as readonly ApprovalRule[]).flatMap((rule, index) =>
    patternsOf(rule).flatMap((pattern) => {
      const fault = rulePatternProblem(pattern, {
        ...known,
        sources: [...known.sources, ...Object.keys(values.get('mcpServers')?.value ?? {})],
        clientTools,
      })
      if (isIncomplete && fault?.kind === 'nothing') return []
      return fault ? [{ ...locationOf(option, index), message: `the rule has no effect: ${fault.message}`, remedy: fault.remedy }] : []
    }),
  )
}

function unknownTool(pattern: string, known: readonly string[]): Pick<Problem, 'message' | 'remedy'> {
  const message = `there is no tool \`${pattern}\``
  const given = Object.hasOwn(automaticTools, pattern) ? automaticTools[pattern] : undefined
  if (given !== undefined) return { message: `\`${pattern}\` is not named`, remedy: `Remove it: ${given}.` }
  if (pattern.startsWith('agent__')) return { message, remedy: 'List agents that it can call in `agents`.' }
  const ours = ownToolsForAny(pattern, 'granted')?.filter((name) => known.includes(name))
  if (ours && ours.length > 0) return { message: `\`${pattern}\` is a tool of another program`, remedy: `Here, write ${listNames(ours)}.` }
  const near = didYouMean(pattern, known)
  if (near !== undefined) return { message, remedy: near }
  const fault = toolNameProblem(pattern, { tools: known, sources: [] })
  if (fault?.kind === 'no source') return { message: fault.message, remedy: 'Remove it, or configure the source in `.ai-agent.json`.' }
  return { message, remedy: known.length > 0 ? `There are ${listNames(known.toSorted())}.` : 'There are no tools; remove it.' }
}

export interface Edge {
  readonly from: LoadedFile
  readonly to: LoadedFile
  readonly reference: ChildReference
}

/** Reports each cycle once, at the entry that closes it. */
export function cycleProblems(files: readonly LoadedFile[], edgesFrom: (file: LoadedFile) => readonly Edge[]): readonly Problem[] {
  return findCycles(files, edgesFrom).map(({ nodes, closing }) => cycleProblem(nodes, closing))
}

function cycleProblem(files: readonly LoadedFile[], { to, reference }: Edge): Problem {
  const way = [...files, to].map(({ agent }) => agent.toolName).join(' → ')
  const message = `agents call each other in a cycle: ${way}`
  return { ...locationOfReference(reference), message, remedy: 'Remove one of them from `agents`.' }
}
