import { isSeq, type Node } from 'yaml'
import { extensionId, overridableParameters } from '../../contracts/index.ts'
import { ownToolsForAny } from '../../policy/foreign-tools.ts'
import { describeNode, listNames } from '../../yaml/messages.ts'
import { type ReadResult, textOfNode, type ValueProblem } from '../../yaml/yaml-nodes.ts'

/** What the entries of a list are. Reading and the JSON Schema are made from `listEntries`. */
export type ListEntry =
  | 'model'
  | 'tool'
  | 'client tool'
  | 'agent'
  | 'skill'
  | 'host'
  | 'folder'
  | 'variable'
  | 'parameter'
  | 'extension'
  | 'event'

interface EntrySpec {
  readonly isRequired?: true
  /** A regular expression for a whole entry without surrounding spaces. */
  readonly pattern: string
  problem(written: string): string
  readonly remedy?: string
}

const label = '[A-Za-z0-9_](?:[\\w-]*\\w)?'
/** An address with at least two colons. */
const ipv6 = '[\\da-fA-F]*:[\\da-fA-F]*:[\\da-fA-F:.]*'
const oneLine = '[^\\n\\0]+'

export const listEntries: { readonly [Entry in ListEntry]: EntrySpec } = {
  model: { isRequired: true, pattern: '\\S+', problem: (name) => `the model name \`${name}\` has spaces` },
  // `tool`, `ext.tool`, `server/tool`, `server/*`, `prefix*`, `*`, `./module.ts`.
  tool: {
    pattern: '\\*|(?:[\\w.-]+\\*?|[\\w.-]+/(?:\\*|[\\w.-]+\\*?))\\??|\\.{0,2}/[^\\n\\0*]+',
    problem: (name) => `\`${name}\` is not a valid tool name or pattern`,
  },
  'client tool': {
    pattern: '\\*|[\\w-]+\\*?',
    problem: (name) => `\`${name}\` is not a valid name or pattern of tools`,
    remedy: 'Write `allow`, `deny`, or names such as `Bash` and `mcp__*`.',
  },
  agent: { pattern: oneLine, problem: () => 'the name of an agent has more than one line' },
  skill: {
    pattern: '\\*|[a-z0-9]+(?:-[a-z0-9]+)*-?\\*?',
    problem: (name) => `\`${name}\` is not a valid skill name or pattern`,
    remedy: 'Use lower-case letters, digits and single hyphens; end with `*` to match any name that begins like this.',
  },
  host: {
    pattern: `(?:\\*\\.)?${label}(?:\\.${label})*|${ipv6}|\\[(?:${ipv6})\\]`,
    problem: (name) => `\`${name}\` is not a valid host`,
    remedy: 'Write only the host: `example.com`, or `*.example.com` for its subdomains. Leave out `https:`, port and path.',
  },
  folder: { pattern: oneLine, problem: () => 'the path of a folder has more than one line' },
  variable: {
    pattern: '[A-Za-z_][A-Za-z0-9_]*',
    problem: (name) => `\`${name}\` is not a valid variable name`,
    remedy: 'Write only the name, like `LANG`; the value is set elsewhere.',
  },
  extension: {
    pattern: extensionId.source.slice(1, -1),
    problem: (name) => `\`${name}\` is not a valid extension id`,
    remedy: 'Write the id of its manifest, such as `file_manager`.',
  },
  event: {
    pattern: '[A-Za-z][\\w.-]*',
    problem: (name) => `\`${name}\` is not a valid name of an event`,
    remedy: 'Use letters, digits, `_`, `-` and `.`; begin with a letter.',
  },
  parameter: {
    pattern: overridableParameters.join('|'),
    problem: (name) => `\`${name}\` is not a parameter that callers can set`,
    remedy: `Possible are ${listNames(overridableParameters)}.`,
  },
}

const patterns = Object.fromEntries(Object.entries(listEntries).map(([entry, { pattern }]) => [entry, new RegExp(`^(?:${pattern})$`)])) as {
  readonly [Entry in ListEntry]: RegExp
}

interface ListSpec {
  readonly key: string
  readonly of: ListEntry
  readonly example: string
}

/** Reads one entry or a list of entries. */
export function readList(node: Node | null, { key, of, example }: ListSpec): ReadResult {
  const spec = listEntries[of]
  const likeThis = `Write it like \`${key}: ${example}\`.`
  const nodes = isSeq<Node>(node) ? node.items : [node]
  const problems: ValueProblem[] = []
  const names: string[] = []
  const add = (at: Node | null, message: string, remedy: string): void => void problems.push({ node: at, message, remedy })
  if (nodes.length === 0 && spec.isRequired) add(node, `\`${key}\` is an empty list`, likeThis)
  for (const each of nodes) {
    const name = textOfNode(each)
    const isValid = patterns[of].test(name)
    if (name === '') add(each, `${/^[aeiou]/.test(of) ? 'an' : 'a'} ${of} must be a name, not ${describeNode(each)}`, likeThis)
    else if (!isValid && name.includes(',') && !isSeq(node))
      add(each, `\`${key}\` is one text, not a list`, `Write \`${key}: [${splitNames(name, of).join(', ')}]\`.`)
    else if (!isValid) add(each, spec.problem(name), spec.remedy ?? likeThis)
    else if (names.includes(name)) add(each, `the ${of} \`${name}\` is listed twice`, 'Remove one of them.')
    else names.push(name)
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: names }
}

/** Splits at commas; tool names of other programs become ours. */
function splitNames(written: string, of: ListEntry): readonly string[] {
  const names = written.split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]))
  return of === 'tool' ? [...new Set(names.flatMap((name) => ownToolsForAny(name, 'granted') ?? [name]))] : names
}

interface TextsSpec {
  readonly key: string
  readonly type: { readonly max: number; readonly maxChars: number }
  readonly example: string
}

/** Reads a list of texts: each once, none empty. */
export function readTexts(node: Node | null, { key, type: { max, maxChars }, example }: TextsSpec): ReadResult {
  const remedy = `Write it like \`${key}: ${example}\`.`
  if (!isSeq<Node>(node) || node.items.length === 0 || node.items.length > max)
    return { ok: false, problems: [{ node, message: `\`${key}\` must be a list of 1 to ${max} texts`, remedy }] }
  const texts = node.items.map(textOfNode)
  const problems = node.items.flatMap((each, at): readonly ValueProblem[] => {
    const text = texts[at] ?? ''
    if (text === '') return [{ node: each, message: `\`${key}\` must contain texts, not ${describeNode(each)}`, remedy }]
    if (text.length > maxChars)
      return [
        { node: each, message: `a text of \`${key}\` has ${text.length} characters; the maximum is ${maxChars}`, remedy: 'Shorten it.' },
      ]
    return texts.indexOf(text) < at ? [{ node: each, message: `\`${key}\` contains a text twice`, remedy: 'Remove one of them.' }] : []
  })
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: texts }
}
