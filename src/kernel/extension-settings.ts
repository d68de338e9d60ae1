import type { JsonObject, Records } from '../contracts/index.ts'

/** What people set for an extension, outside of its folder. */
export interface ExtensionSettings {
  /** Instead of `enabled` of the manifest. */
  readonly enabled?: boolean
  /** What `setup` stored. */
  readonly config?: JsonObject
  readonly secrets?: { readonly [name: string]: string }
}

const namespace = 'extension'

/** The settings of all extensions that have some, by id. */
export async function readExtensionSettings(records: Pick<Records, 'list'>): Promise<ReadonlyMap<string, ExtensionSettings>> {
  const stored = await records.list(namespace)
  return new Map(stored.map(({ key, value }) => [key, value as ExtensionSettings]))
}

/** Durable when it resolves. It applies from the next start. */
export async function changeExtensionSettings(records: Pick<Records, 'update'>, id: string, changes: ExtensionSettings): Promise<void> {
  await records.update(namespace, id, (before) => ({
    value: JSON.parse(JSON.stringify({ ...(before?.value as ExtensionSettings | undefined), ...changes })),
  }))
}
