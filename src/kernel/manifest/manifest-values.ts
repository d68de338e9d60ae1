import { isMap, isSeq, type Node } from 'yaml'
import { readSettings, readValue, type Setting, settingOf, type ValueSpec } from '../../project/index.ts'
import { describeNode, listNames, suggestName } from '../../yaml/messages.ts'
import { type Position, type SourceText, startOfText } from '../../yaml/source-text.ts'
import { manifestKeys } from './manifest-keys.ts'

/** Far more than a manifest needs. Keeps a hostile file from taking seconds. */
const maxLength = 32_768

/** The names directly inside of a section of `manifestKeys`. */
const keysIn = (section: string): readonly string[] => [
  ...new Set(Object.keys(manifestKeys).flatMap((key) => (key.startsWith(section) ? [key.slice(section.length).split('.')[0] ?? ''] : []))),
]

/** The values of a manifest by their keys, with their places. Entries of a list are `schedules.0`, `schedules.1`, … */
export class ManifestValues {
  readonly #values = new Map<string, unknown>()
  readonly #places = new Map<string, Position>()
  readonly #source: SourceText
  #positionOf: (node: Node) => Position = () => startOfText

  /** Reports wrong YAML, unknown keys and wrong types to `source`. */
  constructor(source: SourceText) {
    this.#source = source
    const yaml = source.lines.join('\n')
    if (yaml.length > maxLength) {
      const message = `the manifest is longer than ${maxLength} characters`
      source.problem(startOfText, message, 'Move long text to the file of `agent.instructions`.')
      return
    }
    const { settings, positionOf } = readSettings(source, yaml, startOfText)
    this.#positionOf = positionOf
    this.#read(settings, '', '')
  }

  text = (key: string): string | undefined => this.#values.get(key) as string | undefined
  texts = (key: string): readonly string[] => (this.#values.get(key) ?? []) as readonly string[]
  number = (key: string): number | undefined => this.#values.get(key) as number | undefined
  get = (key: string): unknown => this.#values.get(key)
  /** Where the value of a key is. Default: the beginning. */
  at = (key: string): Position => this.#places.get(key) ?? startOfText
  /** Whether a key or section is written, even with a wrong value. */
  has = (key: string): boolean => this.#places.has(key)
  /** The keys of the entries of a list. */
  entries = (key: string): readonly string[] =>
    [...this.#places.keys()].filter((each) => each.startsWith(`${key}.`) && /^\d+$/.test(each.slice(key.length + 1)))

  /** `section`: in `manifestKeys`, such as `schedules.#.`. `path`: in this manifest, such as `schedules.0.`. */
  #read(settings: readonly Setting[], section: string, path: string): void {
    for (const setting of settings) {
      const [key, written] = [section + setting.key, path + setting.key]
      const spec = Object.hasOwn(manifestKeys, key) ? manifestKeys[key] : undefined
      const inside = keysIn(`${key}.`)
      this.#places.set(written, setting.at)
      if (spec) this.#readValue(written, spec, setting)
      else if (inside.includes('#')) this.#readList(key, setting)
      else if (inside.length > 0) this.#readMap(setting.value, { key, path: written, what: `\`${key}\``, at: setting.valueAt })
      else this.#source.problem(setting.at, `unknown key \`${setting.key}\``, suggestName(setting.key, keysIn(section)))
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

  #readMap(node: Node | null, { key, path, what, at }: MapPlace): void {
    if (isMap<Node, Node | null>(node)) {
      const settings = node.items.map((pair) => settingOf(pair, this.#positionOf))
      this.#read(settings, `${key}.`, `${path}.`)
    } else this.#source.problem(at, `${what} must be a map, not ${describeNode(node)}`, `Its keys are ${listNames(keysIn(`${key}.`))}.`)
  }

  #readList(key: string, { value, valueAt }: Setting): void {
    if (!isSeq<Node>(value)) {
      const remedy = `Write a list of maps with the keys ${listNames(keysIn(`${key}.#.`))}.`
      this.#source.problem(valueAt, `\`${key}\` must be a list, not ${describeNode(value)}`, remedy)
      return
    }
    for (const [index, node] of value.items.entries()) {
      const [path, at] = [`${key}.${index}`, this.#positionOf(node)]
      this.#places.set(path, at)
      this.#readMap(node, { key: `${key}.#`, path, what: `an entry of \`${key}\``, at })
    }
  }
}

interface MapPlace {
  readonly key: string
  readonly path: string
  readonly what: string
  readonly at: Position
}
