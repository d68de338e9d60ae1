import type { CallIntent, Json, JsonObject } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { printable } from '../paint.ts'
import { isOffered } from './join-session.ts'
import type { RequestNode } from './nodes.ts'

// What a call is about, and why it is made. Tools are other people's code: nothing here knows a tool, only how people use
// to name what a tool is given.

export interface CallWords {
  /** A command line, a path, an address, the task of an agent. Empty where it cannot be told. */
  readonly about: string
  /** In the words of the model; empty where it gave none. */
  readonly reason: string
}

type Told = Pick<CallIntent, 'tool' | 'type' | 'title' | 'input' | 'details'>

/** `asked`: what a person was asked before it could run. */
export function wordsOf(item: Told, asked?: RequestNode): CallWords {
  const { tool, title } = item
  const parts = partsOf(item).map((part) => printable(part.slice(0, mostRead)))
  const about = parts.filter(Boolean).join(' · ')
  const said = printable(title)
  if (title === tool) return { about, reason: '' }
  // The tool's own summary stands where the model gave no reason.
  if (!asked || asked.reason !== undefined || title !== asked.summary) return { about, reason: said === about ? '' : said }
  if (shownFor(item) !== undefined) return { about, reason: '' }
  const saysMore = parts.every((part) => said.includes(part)) && /^\p{L}+ (.+)$/u.exec(said)?.[1] !== about
  return { about: about === '' || saysMore ? said : about, reason: '' }
}

/** A task may be a whole page. */
const mostRead = 1_000

function partsOf(item: Told): readonly string[] {
  const { tool, type, input, details } = item
  const shown = shownFor(item)
  if (shown !== undefined) return [shown]
  const agent = type === 'subagent_call' && !isOffered(tool) && typeof details?.agent === 'string' ? [details.agent] : []
  return [...agent, ...namedIn(agent.length > 0 ? without(input, 'agent') : input)]
}

/** What the tool itself shows to people of a call: the command, or the files that are to change. */
export function shownFor({ details }: Pick<CallIntent, 'details'>): string | undefined {
  if (typeof details?.command === 'string') return details.command
  const files = Array.isArray(details?.changes) ? filesIn(details.changes) : ''
  return files === '' ? undefined : files
}

function filesIn(changes: readonly Json[]): string {
  const paths = changes.flatMap((change) => (isPlainObject(change) && typeof change.path === 'string' ? [change.path] : []))
  return paths.length > mostNamed ? `${paths.slice(0, mostNamed).join(', ')} and ${paths.length - mostNamed} more` : paths.join(', ')
}
const mostNamed = 3

/** How arguments are named that tell what a call does, and where; the first that is there counts. */
const whatNames = ['command', 'cmd', 'url', 'uri', 'pattern', 'query', 'search', 'question', 'prompt', 'task', 'name']
const whereNames = ['path', 'file', 'filename', 'file_path', 'filePath', 'folder', 'directory', 'dir']
/** Why, in the model's words; and what could not be read. They tell nothing of what a call does. */
const otherNames = ['reason', 'call_reason', 'unparsed']

/** What arguments tell of a call, as they are written. */
export function namedIn(input: JsonObject): readonly string[] {
  const what = firstOf(input, whatNames)
  const where = firstOf(input, whereNames)
  if (what !== undefined || where !== undefined) {
    const both = [what, where].flatMap((text) => text ?? [])
    // What is long is cut at its end, and takes along what stands behind it.
    return (what ?? '').length > longWhat ? both.toReversed() : both
  }
  const rest = Object.entries(input).filter(([name]) => !otherNames.includes(name))
  const [, text] = rest.find(([, value]) => typeof value === 'string' && value.trim() !== '') ?? []
  if (typeof text === 'string') return [text]
  return rest.filter(([, value]) => typeof value === 'number').map(([name, value]) => `${name} ${String(value)}`)
}
const longWhat = 60

function firstOf(input: JsonObject, names: readonly string[]): string | undefined {
  const name = names.find((each) => Object.hasOwn(input, each) && typeof input[each] === 'string' && input[each].trim() !== '')
  return name === undefined ? undefined : String(input[name])
}

function without(input: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = input
  return rest
}
