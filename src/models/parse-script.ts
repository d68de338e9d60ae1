import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, Scalar } from 'yaml'
import { type ModelFailureClass, noUsage, type Usage } from '../contracts/index.ts'
import { messageOf } from '../util/message-of.ts'
import { parseDuration } from '../util/parse-units.ts'
import { describeNode, listNames, suggestName } from '../yaml/messages.ts'
import { SourceText, startOfText } from '../yaml/source-text.ts'
import { yamlProblem } from '../yaml/unclosed-bracket.ts'
import { keyText, nodeToJson, positionAt, refuseAliases } from '../yaml/yaml-nodes.ts'
import type { TokenPrice } from './token-price.ts'

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

export interface Script {
  readonly steps: readonly ScriptStep[]
  /** Tokens a second at which texts arrive. Without it they arrive immediately. */
  readonly pace?: number
  readonly price?: TokenPrice
}

const scriptKeys = ['steps', 'pace', 'price'] as const
const faults: readonly ScriptFault[] = ['rate_limit', 'auth', 'quota', 'network', 'timeout', 'invalid_response', 'model', 'cut', 'silence']
const stepKeys = ['reasoning', 'text', 'calls', 'fault', 'delay', 'usage'] as const
const priceKeys = ['input', 'output', 'cacheRead', 'cacheWrite'] as const
const usageKeys = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const

type Report = (node: Node, message: string, remedy?: string) => void

/** Reads a script. Throws `script_invalid` with all problems and their places. A text that is no script is not shown. */
export function parseScript(text: string, place: string): Script {
  const source = new SourceText(text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n'), place)
  const script = readScript(source)
  source.throwIfProblems('script_invalid', 'The script')
  return script
}

function readScript(source: SourceText): Script {
  const counter = new LineCounter()
  const positionOf = (node: Node) => positionAt(counter, node.range?.[0] ?? 0)
  const report: Report = (node, message, remedy) => source.problem(positionOf(node), message, remedy)
  try {
    const yaml = source.lines.join('\n')
    const document = parseDocument<Node>(yaml, { lineCounter: counter, prettyErrors: false, stringKeys: true })
    const { contents } = document
    if (!isMap(contents) || !contents.has('steps')) {
      const remedy = 'Write `steps:` and below it `  - text: Hello.`'
      source.problemWithoutLine(startOfText, 'a script must have `steps`, the list of its replies', remedy)
      return { steps: [] }
    }
    for (const error of [...document.errors, ...document.warnings]) {
      const { at, message, remedy } = yamlProblem(document, yaml, error)
      source.problem(positionAt(counter, at), message, remedy)
    }
    refuseAliases(source, document, positionOf)
    const { steps, pace, price } = fieldsOf(contents, { what: 'a script', known: scriptKeys }, report)
    if (isSeq(steps) && steps.items.length === 0) report(steps, '`steps` is empty', 'Write at least `- text: Hello.`')
    return {
      steps: itemsOf(steps, '`steps`', report).map((node) => readStep(node, report)),
      ...optional('pace', pace && readPace(pace, report)),
      ...optional('price', price && readPrice(price, report)),
    }
  } catch (error) {
    // The parser is recursive: thousands of nested brackets exhaust its stack.
    source.problemWithoutLine(startOfText, `the text cannot be read as YAML: ${messageOf(error)}`)
    return { steps: [] }
  }
}

const maxPace = 10_000

function readPace(node: Node, report: Report): number | undefined {
  const pace = isScalar(node) ? node.value : undefined
  if (typeof pace === 'number' && pace >= 1 && pace <= maxPace) return pace
  const message = `\`pace\` must be a number of tokens a second from 1 to ${maxPace}, not ${describeNode(node)}`
  report(node, message, 'Write it like `60`, or leave it out: then texts arrive immediately.')
  return undefined
}

const priceExample = '`price: { input: 3, output: 15 }`'

function readPrice(node: Node, report: Report): TokenPrice | undefined {
  const price: { -readonly [K in keyof TokenPrice]?: number } = {}
  const fields = fieldsOf(node, { what: '`price`', known: priceKeys }, report)
  for (const key of priceKeys) {
    const figure = fields[key]
    const usd = isScalar(figure) ? figure.value : undefined
    if (typeof usd === 'number' && Number.isFinite(usd) && usd >= 0) price[key] = usd
    else if (figure)
      report(
        figure,
        `\`${key}\` must be US dollars per million tokens, at least 0, not ${describeNode(figure)}`,
        `Write it like ${priceExample}.`,
      )
  }
  if (isMap(node) && (!fields.input || !fields.output))
    report(node, '`price` must have `input` and `output`, in US dollars per million tokens', `Write it like ${priceExample}.`)
  const { input, output } = price
  return input === undefined || output === undefined ? undefined : { ...price, input, output }
}

function readStep(node: Node, report: Report): ScriptStep {
  const { reasoning, text, calls, fault, delay, usage } = fieldsOf(node, { what: 'a step', known: stepKeys }, report)
  if (!text && !calls && !fault) report(node, 'a step must have `text`, `calls` or `fault`')
  return {
    ...optional('reasoning', reasoning && readText(reasoning, '`reasoning`', report)),
    ...optional('text', text && readText(text, '`text`', report)),
    calls: itemsOf(calls, '`calls`', report).flatMap((call) => readCall(call, report)),
    ...optional('fault', fault && readFault(fault, report)),
    delayMs: delay ? readDelay(delay, report) : 0,
    ...optional('usage', usage && readUsage(usage, report)),
  }
}

function readCall(node: Node, report: Report): readonly ScriptCall[] {
  const { tool, input } = fieldsOf(node, { what: 'a call', known: ['tool', 'input'] }, report)
  if (!tool) report(node, 'a call must have `tool`, the name of the tool')
  const name = tool && readText(tool, '`tool`', report)
  return name === undefined ? [] : [{ tool: name, input: input ? readInput(input, report) : '{}' }]
}

/** Text is sent unchanged, so that a script can also contain broken JSON. */
function readInput(node: Node, report: Report): string {
  if (isScalar(node) && typeof node.value === 'string') return node.value
  if (isMap(node)) return JSON.stringify(nodeToJson(node))
  if (!isScalar(node) || node.value !== null) report(node, `\`input\` must be a map, or JSON as text, not ${describeNode(node)}`)
  return '{}'
}

function readFault(node: Node, report: Report): ScriptFault | undefined {
  const name = isScalar(node) ? String(node.value) : describeNode(node)
  const fault = faults.find((known) => known === name)
  if (!fault) report(node, `there is no fault \`${name}\``, suggestName(name, faults))
  return fault
}

function readDelay(node: Node, report: Report): number {
  const delayMs = parseDuration(isScalar(node) ? node.value : undefined)
  if (delayMs === undefined) report(node, '`delay` must be a time', 'Write it like `300ms`, `2s` or `1m`.')
  return delayMs ?? 0
}

function readUsage(node: Node, report: Report): Usage {
  const usage: { -readonly [K in keyof Usage]: Usage[K] } = { ...noUsage }
  const fields = fieldsOf(node, { what: '`usage`', known: usageKeys }, report)
  for (const key of usageKeys) {
    const figure = fields[key]
    const tokens = isScalar(figure) ? figure.value : undefined
    if (typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0) usage[key] = tokens
    else if (figure) report(figure, `\`${key}\` must be an integer of at least 0, not ${describeNode(figure)}`)
  }
  return usage
}

interface MapSpec<Key extends string> {
  readonly what: string
  readonly known: readonly Key[]
}

/** The values of a map by key. */
function fieldsOf<Key extends string>(node: Node, { what, known }: MapSpec<Key>, report: Report): { readonly [K in Key]?: Node } {
  const found: { [K in Key]?: Node } = {}
  if (!isMap<Node, Node | null>(node)) report(node, `${what} must be a map with ${listNames(known)}, not ${describeNode(node)}`)
  else
    for (const { key, value } of node.items) {
      const name = known.find((each) => each === keyText(key))
      if (name !== undefined) found[name] = value ?? Object.assign(new Scalar(null), { range: key.range ?? null })
      else report(key, `${what} has no key \`${keyText(key)}\``, suggestName(keyText(key), known))
    }
  return found
}

function itemsOf(node: Node | undefined, what: string, report: Report): readonly Node[] {
  if (isSeq<Node>(node)) return node.items
  if (node) report(node, `${what} must be a list, not ${describeNode(node)}`)
  return []
}

function readText(node: Node, what: string, report: Report): string | undefined {
  if (isScalar(node) && typeof node.value === 'string') return node.value
  report(node, `${what} must be text, not ${describeNode(node)}`, 'Put it in quotes.')
  return undefined
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: Value }
}
