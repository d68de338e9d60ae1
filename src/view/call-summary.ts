import type { ApprovalRequest, CallIntent, Json, JsonObject } from '../contracts/index.ts'
import { joinNames } from '../util/join-names.ts'
import { isPlainObject } from '../util/json-schema/schema-values.ts'
import { oneLine } from '../util/one-line.ts'
import { isAgentTool } from './join-session.ts'
import type { RequestNode } from './nodes.ts'

// The subject and the reason of a call in one line each. No tool is known here, only the usual names of arguments.

type SummarisedCall = Pick<CallIntent, 'tool' | 'type' | 'title' | 'input' | 'details'>

interface CallSummary {
  /** A command line, a path, an address, the task of an agent. May be empty. */
  readonly about: string
  /** The reason that the model gave. May be empty. */
  readonly reason: string
}

/** `asked`: the request that a person approved before the call could run. */
export function callSummary(item: SummarisedCall, asked?: RequestNode): CallSummary {
  const { tool, title } = item
  const parts = subjectsOf(item).map((part) => oneLine(part.slice(0, maxSubjectLength)))
  const about = parts.filter(Boolean).join(' · ')
  const reason = oneLine(title)
  if (title === tool) return { about, reason: '' }
  // Without a reason of the model the title is the tool's own summary.
  if (!asked || asked.reason !== undefined || title !== asked.summary) return { about, reason: reason === about ? '' : reason }
  if (shownFor(item) !== undefined) return { about, reason: '' }
  const saysMore = parts.every((part) => reason.includes(part)) && /^\p{L}+ (.+)$/u.exec(reason)?.[1] !== about
  return { about: about === '' || saysMore ? reason : about, reason: '' }
}

/** A task may be a whole page. */
const maxSubjectLength = 1_000

/** The task of an agent in one line. May be empty. */
export const taskText = ({ task = '' }: { readonly task?: string }): string => oneLine(task.slice(0, maxSubjectLength))

function subjectsOf(item: SummarisedCall): readonly string[] {
  const { tool, type, input, details } = item
  const shown = shownFor(item)
  if (shown !== undefined) return [shown]
  const agent = type === 'subagent_call' && !isAgentTool(tool) && typeof details?.agent === 'string' ? [details.agent] : []
  return [...agent, ...subjectsIn(agent.length > 0 ? without(input, 'agent') : input)]
}

/** The subject that the tool itself names: a command, or the files to change. */
export function shownFor({ details }: Pick<CallIntent, 'details'>): string | undefined {
  if (typeof details?.command === 'string') return details.command
  const files = Array.isArray(details?.changes) ? filesIn(details.changes) : ''
  return files === '' ? undefined : files
}

function filesIn(changes: readonly Json[]): string {
  return joinNames(
    changes.flatMap((change) => (isPlainObject(change) && typeof change.path === 'string' ? [change.path] : [])),
    maxListed,
  )
}

const maxListed = 3

/** Usual names of the arguments that say what a call does, and where. The first one present is used. */
const whatNames = ['command', 'cmd', 'url', 'uri', 'pattern', 'query', 'search', 'question', 'prompt', 'task', 'name', 'ids']
const whereNames = ['path', 'file', 'filename', 'file_path', 'filePath', 'folder', 'directory', 'dir']
/** The reason, and arguments that could not be parsed: they do not say what a call does. */
const otherNames = ['reason', 'call_reason', 'unparsed']

/** The subjects of a call, from its arguments. */
function subjectsIn(input: JsonObject): readonly string[] {
  const what = firstOf(input, whatNames)
  const where = firstOf(input, whereNames)
  if (what !== undefined || where !== undefined) {
    const both = [what, where].flatMap((text) => text ?? [])
    // A long text is cut at its end, so the short one comes first.
    return (what ?? '').length > longSubject ? both.toReversed() : both
  }
  const rest = Object.entries(input).filter(([name]) => !otherNames.includes(name))
  const [, text] = rest.find(([, value]) => typeof value === 'string' && value.trim() !== '') ?? []
  if (typeof text === 'string') return [text]
  return rest.filter(([, value]) => typeof value === 'number').map(([name, value]) => `${name} ${String(value)}`)
}
const longSubject = 60

function firstOf(input: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined
    const text =
      name === 'ids' && Array.isArray(value)
        ? joinNames(
            value.filter((id) => typeof id === 'string'),
            maxListed,
          )
        : value
    if (typeof text === 'string' && text.trim() !== '') return text
  }
  return undefined
}

function without(input: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = input
  return rest
}

/** A request for approval in one line. A request to leave the sandbox names its command, not its JSON. */
export function requestSummary({ scope, tool, summary, input }: Pick<ApprovalRequest, 'scope' | 'tool' | 'summary' | 'input'>): string {
  if (scope !== 'unsandboxed' || !summary.startsWith(`Run ${tool} again outside the sandbox`)) return summary
  const about = subjectsIn(input).join(' · ')
  return about === '' ? summary : `${runAgainOutside}${about}`
}

export const runAgainOutside = 'Run again outside the sandbox: '
