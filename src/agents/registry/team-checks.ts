import type { ApprovalRule, Problem } from '../../contracts/index.ts'
import { automaticTools } from '../../policy/builtin-tool-names.ts'
import { ownToolsForAny } from '../../policy/foreign-tools.ts'
import { matches, offeredName } from '../../policy/tool-name-patterns.ts'
import { type KnownTools, patternsOf, rulePatternProblem, toolNameProblem } from '../../policy/tool-name-problems.ts'
import { findCycles } from '../../util/find-cycles.ts'
import { locationOf, type OptionValue, type SourceLocation } from '../agent-file/option-values.ts'
import { didYouMean, listNames } from '../values/messages.ts'
import type { ChildReference, LoadedFile } from './loaded-file.ts'

/** What an agent must say of itself to be called by others. Files of other programs have no words for it. */
export function childProblems({ from, to }: Edge): readonly Problem[] {
  const { dialect, agent, values, at } = to
  if (dialect !== 'troupe') return []
  const by = `\`${from.agent.toolName}\` calls this agent`
  const problems: Problem[] = []
  if (agent.usage === undefined)
    problems.push({
      ...at,
      message: `\`usage\` is missing: ${by}`,
      remedy: 'Give an example of what it is asked: `usage: a city and a date`.',
    })
  if (![...values.keys()].some((key) => key.startsWith('output.')))
    problems.push({
      ...at,
      message: `\`output\` is not stated: ${by}`,
      remedy: 'Say what it answers with: `output: { format: json, schema: { … } }`, or `output: { format: markdown }`.',
    })
  return problems
}

/** Patterns of `tools` that nothing fits. */
export function toolProblems({ dialect, agent, values }: LoadedFile, known: readonly string[]): readonly Problem[] {
  const said = values.get('tools')
  if (dialect !== 'troupe' && said?.rank !== 'override') return []
  return agent.tools.flatMap((pattern, index) => {
    if (pattern === '*' || known.some((name) => matches(pattern, name) || matches(pattern, offeredName(name)))) return []
    return [{ ...entrySpot(said, index), ...missingTool(pattern, known) }]
  })
}

/** Rules that can match no call. What a file of another program says is translated, and reported, when it is read. */
export function ruleProblems({ dialect, values }: LoadedFile, known: KnownTools): readonly Problem[] {
  const said = values.get('approvals.rules')
  if (!said || (dialect !== 'troupe' && said.rank !== 'override')) return []
  return (said.value as readonly ApprovalRule[]).flatMap((rule, index) =>
    patternsOf(rule).flatMap((pattern) => {
      const fault = rulePatternProblem(pattern, known)
      return fault ? [{ ...locationOf(said, index), message: `the rule has no effect: ${fault.message}`, remedy: fault.remedy }] : []
    }),
  )
}

function missingTool(pattern: string, known: readonly string[]): Pick<Problem, 'message' | 'remedy'> {
  const message = `there is no tool \`${pattern}\``
  const given = Object.hasOwn(automaticTools, pattern) ? automaticTools[pattern] : undefined
  if (given !== undefined) return { message: `\`${pattern}\` is not named`, remedy: `Leave it out: ${given}.` }
  if (pattern.startsWith('agent__')) return { message, remedy: 'Agents that it may call are named in `agents`.' }
  const ours = ownToolsForAny(pattern, 'granted')?.filter((name) => known.includes(name))
  if (ours && ours.length > 0) return { message: `\`${pattern}\` is a tool of another program`, remedy: `Here, write ${listNames(ours)}.` }
  const near = didYouMean(pattern, known)
  if (near !== undefined) return { message, remedy: near }
  const fault = toolNameProblem(pattern, { tools: known, sources: [] })
  if (fault?.kind === 'no source')
    return { message: fault.message, remedy: 'Remove it: servers and extensions offer no tools in this version.' }
  return { message, remedy: known.length > 0 ? `There are ${listNames(known.toSorted())}.` : 'There are no tools here; leave it out.' }
}

const entrySpot = (said: OptionValue | undefined, index: number): SourceLocation => (said ? locationOf(said, index) : { place: 'tools' })

/** Who calls whom: `from` names `to` at `reference`. */
export interface Edge {
  readonly from: LoadedFile
  readonly to: LoadedFile
  readonly reference: ChildReference
}

/** Each way that leads back to where it began, told once, at the entry that closes it. */
export function cycleProblems(files: readonly LoadedFile[], edgesFrom: (file: LoadedFile) => readonly Edge[]): readonly Problem[] {
  return findCycles(files, edgesFrom).map(({ nodes, closing }) => cycleProblem(nodes, closing))
}

function cycleProblem(files: readonly LoadedFile[], { to, reference }: Edge): Problem {
  const way = [...files, to].map(({ agent }) => agent.toolName).join(' → ')
  const { place, line } = reference
  return {
    place,
    message: `agents would call themselves: ${way}`,
    remedy: 'Take one of them out of `agents`.',
    ...(line !== undefined && { line }),
  }
}
