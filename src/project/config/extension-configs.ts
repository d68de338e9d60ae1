import { type JsonObject, type Problem, TroupeError } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { settingsOf } from './config.ts'
import { isSecretName, secretName } from './hide-secrets.ts'
import { keysOf, placeOf, showPath, sourcedAt, sourcedToJson } from './sourced.ts'
import { resolveParts, type VariableSources } from './variables/resolve-placeholders.ts'

/** `extensions.ID` of the configuration. */
export interface ExtensionConfig {
  /** `file:line:column`. */
  readonly place: string
  /** As it is written, with placeholders: for people. */
  readonly written: JsonObject
  /** Absent if variables are missing: see `problems`. */
  readonly values?: JsonObject
  /** Values to redact, by name. */
  readonly secrets: { readonly [name: string]: string }
  readonly problems: readonly Problem[]
}

/** By id. What is missing for one extension affects no other. */
export function extensionConfigsOf(sources: VariableSources): ReadonlyMap<string, ExtensionConfig> {
  const section = settingsOf(sources.config, 'extensions')
  return new Map(
    keysOf(section).flatMap((id) => {
      const tree = sourcedAt(section, [id])
      if (!tree) return []
      const path = ['extensions', id]
      const base = { place: placeOf(tree.origin), written: sourcedToJson(tree) as JsonObject }
      try {
        const [values = {}] = resolveParts([{ path, tree }], sources).values as readonly JsonObject[]
        return [[id, { ...base, values, secrets: Object.fromEntries(secretsIn(values, path)), problems: [] }]]
      } catch (error) {
        if (!(error instanceof TroupeError)) throw error
        return [[id, { ...base, secrets: {}, problems: error.problems }]]
      }
    }),
  )
}

/** Texts below names such as `token`. Variables with such names are secrets in any case. */
function secretsIn(value: unknown, path: readonly string[]): readonly (readonly [name: string, secret: string])[] {
  if (typeof value === 'string') return path.slice(2).some(isSecretName) ? [[secretName(showPath(path)), value]] : []
  const inner = Array.isArray(value) || isRecord(value) ? Object.entries(value) : []
  return inner.flatMap(([key, each]) => secretsIn(each, [...path, key]))
}
