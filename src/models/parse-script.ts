import { isMap, isScalar, isSeq, type Node } from 'yaml'
import { type ModelFailureClass, noUsage, type Usage } from '../contracts/index.ts'
import { parseDuration } from '../util/parse-units.ts'
import { kindOf, suggestion, YamlSource } from './yaml-source.ts'

export type ScriptFault =
  | Extract<ModelFailureClass, 'rate_limit' | 'auth' | 'quota' | 'network' | 'timeout' | 'invalid_response' | 'model'>
  | 'cut'
  | 'silence'

interface ScriptCall {
  readonly tool: string
  /** JSON text, sent unchanged. */
  readonly input: string
}

export interface ScriptStep {
  readonly reasoning?: string
  readonly text?: string
  readonly calls: readonly ScriptCall[]
  readonly fault?: ScriptFault
  readonly delayMs: number
  readonly usage?: Usage
}

const faults: readonly ScriptFault[] = ['rate_limit', 'auth', 'quota', 'network', 'timeout', 'invalid_response', 'model', 'cut', 'silence']
const stepKeys = ['reasoning', 'text', 'calls', 'fault', 'delay', 'usage'] as const
const usageKeys = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const

const noSteps = {
  message: 'a script must have `steps`, the list of its replies',
  remedy: 'Write `steps:` and below it `  - text: Hello.`',
}

/** Reads a script. Throws `script_invalid` with all problems and their places. A text that is no script is not shown. */
export function parseScript(text: string, place: string): readonly ScriptStep[] {
  const source = new YamlSource(text.replace(/^\uFEFF/, ''), place)
  if (!isMap(source.root) || !source.root.has('steps')) return source.refuse('script_invalid', { what: 'the script', ...noSteps })
  const { steps } = source.fields(source.root, 'a script', ['steps'])
  const nodes = steps ? source.items(steps, '`steps`') : []
  if (isSeq(steps) && nodes.length === 0) source.problem(steps, '`steps` is empty', 'Write at least `- text: Hello.`')
  const read = nodes.map((node) => readStep(source, node))
  source.done('script_invalid', 'the script')
  return read
}

function readStep(source: YamlSource, node: Node): ScriptStep {
  const { reasoning, text, calls, fault, delay, usage } = source.fields(node, 'a step', stepKeys)
  const says = [text, calls, fault].some((part) => part !== undefined)
  if (!says) source.problem(node, 'a step must have `text`, `calls` or `fault`')
  const delayMs = delay === undefined ? 0 : readDelay(source, delay, node)
  return {
    ...optional('reasoning', reasoning === undefined ? undefined : source.text(reasoning, '`reasoning`')),
    ...optional('text', text === undefined ? undefined : source.text(text, '`text`')),
    calls: calls ? source.items(calls, '`calls`').flatMap((call) => readCall(source, call)) : [],
    ...optional('fault', fault === undefined ? undefined : readFault(source, fault, node)),
    delayMs,
    ...optional('usage', usage ? readUsage(source, usage) : undefined),
  }
}

function readCall(source: YamlSource, node: Node): readonly ScriptCall[] {
  const { tool, input } = source.fields(node, 'a call', ['tool', 'input'])
  if (tool === undefined) source.problem(node, 'a call must have `tool`, the name of the tool')
  const name = tool === undefined ? undefined : source.text(tool, '`tool`')
  return name === undefined ? [] : [{ tool: name, input: readInput(source, input) }]
}

/** Text is sent unchanged, so that a script can also contain broken JSON. */
function readInput(source: YamlSource, node: Node | null | undefined): string {
  if (!node) return '{}'
  if (isScalar(node) && typeof node.value === 'string') return node.value
  const value: unknown = source.plain(node)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return JSON.stringify(value)
  source.problem(node, `\`input\` must be a map, or JSON as text, not ${kindOf(node)}`)
  return '{}'
}

function readFault(source: YamlSource, node: Node | null, step: Node): ScriptFault | undefined {
  const name = isScalar(node) ? String(node.value) : kindOf(node)
  const fault = faults.find((known) => known === name)
  if (!fault) source.problem(node ?? step, `there is no fault \`${name}\``, suggestion(name, faults))
  return fault
}

function readDelay(source: YamlSource, node: Node | null, step: Node): number {
  const delayMs = parseDuration(isScalar(node) ? node.value : undefined)
  if (delayMs === undefined) source.problem(node ?? step, '`delay` must be a time', 'Write it like `300ms`, `2s` or `1m`.')
  return delayMs ?? 0
}

function readUsage(source: YamlSource, node: Node): Usage {
  const usage: { -readonly [K in keyof Usage]: Usage[K] } = { ...noUsage }
  const fields = source.fields(node, '`usage`', usageKeys)
  for (const key of usageKeys) {
    const figure = fields[key]
    if (figure === undefined) continue
    const tokens = isScalar(figure) ? figure.value : undefined
    if (typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0) usage[key] = tokens
    else source.problem(figure ?? node, `\`${key}\` must be a whole number of tokens, not ${kindOf(figure)}`)
  }
  return usage
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: Value }
}
