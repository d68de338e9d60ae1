import { isMap, isSeq, type Node } from 'yaml'
import { readSettings, readValue, type Setting, settingOf, type ValueSpec } from '../../agents/index.ts'
import { describeNode, listNames, suggestName } from '../../yaml/messages.ts'
import { type Position, type SourceText, startOfText } from '../../yaml/source-text.ts'
import { manifestKeys, scheduleKeys, schedulesKey } from './manifest-keys.ts'

/** Values that have the right types, with their places. */
export interface ManifestValues {
  get(key: string): unknown
  /** Where the value of a key is. Default: the beginning. */
  at(key: string): Position
  /** Whether a key or section is written, even with a wrong value. */
  has(key: string): boolean
  readonly schedules: readonly ManifestValues[]
}

type Keys = { readonly [key: string]: ValueSpec }

/** Far more than a manifest needs. Keeps a hostile file from taking seconds. */
const maxLength = 32_768

/** Reports wrong YAML, unknown keys and wrong types to `source`. */
export function readManifestValues(source: SourceText): ManifestValues {
  const yaml = source.lines.join('\n')
  if (yaml.length > maxLength) {
    source.problem(
      startOfText,
      `the manifest is longer than ${maxLength} characters`,
      'Move long text to the file of `agent.instructions`.',
    )
    return new Values(source, () => startOfText)
  }
  const { settings, positionOf } = readSettings(source, yaml, startOfText)
  const values = new Values(source, positionOf)
  values.read(settings, manifestKeys, '')
  return values
}

class Values implements ManifestValues {
  readonly schedules: Values[] = []
  readonly #values = new Map<string, unknown>()
  readonly #places = new Map<string, Position>()
  readonly #source: SourceText
  readonly #positionOf: (node: Node) => Position

  constructor(source: SourceText, positionOf: (node: Node) => Position) {
    this.#source = source
    this.#positionOf = positionOf
  }

  get = (key: string): unknown => this.#values.get(key)
  at = (key: string): Position => this.#places.get(key) ?? startOfText
  has = (key: string): boolean => this.#places.has(key)

  read(settings: readonly Setting[], keys: Keys, section: string): void {
    for (const setting of settings) {
      const key = section + setting.key
      const spec = Object.hasOwn(keys, key) ? keys[key] : undefined
      if (spec) this.#readValue(key, spec, setting)
      else if (Object.keys(keys).some((each) => each.startsWith(`${key}.`))) this.#readSection(key, keys, setting)
      else if (keys === manifestKeys && key === schedulesKey) this.#readSchedules(setting)
      else this.#source.problem(setting.at, `unknown key \`${setting.key}\``, suggestName(setting.key, keysIn(keys, section)))
    }
  }

  #readValue(key: string, spec: ValueSpec, { at, value, valueAt }: Setting): void {
    this.#places.set(key, valueAt)
    const result = readValue(key, spec, value)
    if (result.ok) this.#values.set(key, result.value)
    else
      for (const { node, message, remedy = `Write it like \`${key.split('.').at(-1)}: ${spec.example}\`.` } of result.problems)
        this.#source.problem(node === null ? at : this.#positionOf(node), message, remedy)
  }

  #readSection(key: string, keys: Keys, { at, value, valueAt }: Setting): void {
    this.#places.set(key, at)
    if (isMap<Node, Node | null>(value)) this.read(this.#settingsOf(value), keys, `${key}.`)
    else this.#source.problem(valueAt, `\`${key}\` must be a map, not ${describeNode(value)}`, keyList(keysIn(keys, `${key}.`)))
  }

  #readSchedules({ at, value, valueAt }: Setting): void {
    this.#places.set(schedulesKey, at)
    if (!isSeq<Node>(value)) {
      this.#source.problem(valueAt, `\`${schedulesKey}\` must be a list, not ${describeNode(value)}`, entry)
      return
    }
    for (const node of value.items) {
      if (!isMap<Node, Node | null>(node)) {
        this.#source.problem(this.#positionOf(node), `a schedule must be a map, not ${describeNode(node)}`, entry)
        continue
      }
      const schedule = new Values(this.#source, this.#positionOf)
      schedule.#places.set('', this.#positionOf(node))
      schedule.read(this.#settingsOf(node), scheduleKeys, '')
      this.schedules.push(schedule)
    }
  }

  readonly #settingsOf = (map: { readonly items: readonly { readonly key: Node; readonly value: Node | null }[] }): readonly Setting[] =>
    map.items.map((pair) => settingOf(pair, this.#positionOf))
}

const keyList = (keys: readonly string[]): string => `Its keys are ${listNames(keys)}.`
const entry = 'Write entries like `- { id: morning, cron: "0 8 * * 1-5", task: Summarize the news }`.'

/** The names directly inside of a section. */
const keysIn = (keys: Keys, section: string): readonly string[] => [
  ...new Set(
    [...Object.keys(keys), ...(keys === manifestKeys ? [schedulesKey] : [])].flatMap((key) =>
      key.startsWith(section) ? [key.slice(section.length).split('.')[0] ?? ''] : [],
    ),
  ),
]
