import type { YAMLMap } from 'yaml'
import { readSettings, readShape, type Sourced, sourcedAt, sourcedToJson } from '../../project/index.ts'
import { type Position, type SourceText, startOfText } from '../../yaml/source-text.ts'
import { manifestShape } from './manifest-shape.ts'

/** Far more than a manifest needs. Keeps a hostile file from taking seconds. */
const maxLength = 32_768

/** The valid values of a manifest by their keys, such as `agent.model`, with their places. */
export class ManifestValues {
  readonly #root: YAMLMap | undefined
  readonly #tree: Sourced | undefined

  /** Reports wrong YAML, unknown and missing keys, and wrong values to `source`. */
  constructor(source: SourceText) {
    const yaml = source.lines.join('\n')
    if (yaml.length > maxLength) {
      const message = `the manifest is longer than ${maxLength} characters`
      source.problem(startOfText, message, 'Move long text to the file of `agent.instructions`.')
      return
    }
    const { root, isComplete, positionOf } = readSettings(source, yaml, startOfText)
    // Broken YAML hides keys, so their absence means nothing.
    if (!root || !(isComplete || root.has('id'))) return
    this.#root = root
    this.#tree = readShape(root, manifestShape, {
      source: {
        what: 'the manifest',
        isPlainYaml: true,
        problem: (node, message, remedy) => source.problem(positionOf(node), message, remedy),
        notice: () => {},
        origin: (node) => ({ kind: 'file', layer: 'project', file: source.place, ...positionOf(node) }),
      },
      path: [],
    })
  }

  /** Whether keys can be compared with each other. */
  get isRead(): boolean {
    return this.#tree !== undefined
  }

  text = (key: string): string | undefined => this.get(key) as string | undefined
  texts = (key: string): readonly string[] => (this.get(key) ?? []) as readonly string[]
  number = (key: string): number | undefined => this.get(key) as number | undefined
  get(key: string): unknown {
    const found = this.#find(key)
    return found && sourcedToJson(found)
  }
  /** Where the value of a key is. Default: the beginning. */
  at = (key: string): Position => this.#find(key)?.origin ?? startOfText
  /** Whether a key of the manifest itself is written, even with a wrong value. */
  has = (key: string): boolean => this.#root?.has(key) ?? false

  #find = (key: string): Sourced | undefined => sourcedAt(this.#tree, key.split('.'))
}
