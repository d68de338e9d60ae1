import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { ExtensionProblem } from '../contracts/index.ts'
import {
  dataFolder,
  extensionFolders,
  modelProblems,
  type ProjectPlace,
  readSetup,
  sessionFolder,
  trustPlaceOf,
  withSessions,
} from '../project/index.ts'
import { type ExtensionSettings, readExtensionSettings } from './extension-settings.ts'
import { untrustedProblem } from './loader/extension-trust.ts'
import { displayPath, findExtensions } from './loader/find-extensions.ts'
import { orderExtensions } from './loader/load-order.ts'
import { sandboxAt } from './project-extensions.ts'
import { projectRecords } from './project-records.ts'
import type { ExtensionManifest, FoundExtension } from './shared/kernel-types.ts'
import { type Quarantined, readSupervisorState, supervisorFolder } from './supervisor/index.ts'

/** `ready`: the next start loads it. */
export type ReadyState = 'ready' | 'disabled' | 'invalid' | 'quarantined' | 'untrusted'

/** What is known of an extension without running its code. */
export interface InspectedExtension {
  readonly found: FoundExtension
  readonly settings: ExtensionSettings
  readonly state: ReadyState
  /** Where it would run. An agent without code runs in the kernel. */
  readonly runs: 'kernel' | 'sandbox' | 'nowhere'
  readonly quarantined?: Quarantined
  readonly problems: readonly ExtensionProblem[]
  /** Those because of which a part of it does not work. Of one that is disabled: none. */
  readonly errors: readonly ExtensionProblem[]
}

interface Where {
  readonly dataDir?: string | undefined
  readonly configFile?: string | undefined
  /** Default: what people have trusted. */
  readonly trusted?: 'everything' | undefined
}

/** All extensions that `troupe up` would find in the current folder, by id. */
export async function inspectExtensions(where: Where, place: ProjectPlace): Promise<readonly InspectedExtension[]> {
  const { cwd: workspace, env } = place
  const trusted = where.trusted ?? (await trustPlaceOf(place).store.list())
  const all = await findExtensions({ places: extensionFolders(place), workspace, trusted })
  const settings = await withSessions(await sessionFolder(where, place), new Map<string, ExtensionSettings>(), async ({ records }) => {
    return new Map(await readExtensionSettings(projectRecords(records, workspace)))
  })
  const { quarantined } = readSupervisorState(supervisorFolder(dataFolder({ flag: where.dataDir, cwd: workspace, env }), workspace))
  const isOn = ({ id, manifest }: FoundExtension): boolean => settings.get(id)?.enabled ?? manifest?.enabled ?? true
  const { problems: order } = orderExtensions(
    all.flatMap(({ id, manifest }) =>
      manifest ? [{ id, dependsOn: manifest.dependsOn, usesTools: manifest.agent?.usesTools ?? [] }] : [],
    ),
    all.map(({ id }) => id),
  )
  const hasSandbox = all.every(({ trusted }) => trusted) || (await sandboxAt(place).unavailable()) === undefined
  const models = await wrongModels(all, where, place)
  const stateOf = (found: FoundExtension, isMisplaced: boolean, isHeld: boolean): ReadyState => {
    if (!isOn(found)) return 'disabled'
    if (!found.manifest || isMisplaced) return 'invalid'
    if (isHeld) return 'quarantined'
    return found.trusted || hasSandbox ? 'ready' : 'untrusted'
  }
  return all.map((found) => {
    const held = quarantined.find(({ id, hash }) => id === found.id && hash === found.hash)
    const misplaced = order.get(found.id) ?? []
    const unknown = models.get(found.id) ?? []
    const state = stateOf(found, misplaced.length > 0, held !== undefined)
    return {
      found,
      settings: settings.get(found.id) ?? {},
      state: state === 'ready' && unknown.length > 0 ? 'invalid' : state,
      // An agent without its model costs nothing else.
      runs: state !== 'ready' ? 'nowhere' : found.trusted || !found.manifest?.entrypoint ? 'kernel' : 'sandbox',
      ...(held && { quarantined: held }),
      problems: [...found.problems, ...misplaced, ...unknown, ...(state === 'untrusted' ? [untrustedProblem(found)] : [])],
      errors: isOn(found) ? [...misplaced, ...unknown] : [],
    }
  })
}

/** Models of agents that no key and no server would make usable, by extension. */
async function wrongModels(
  all: readonly FoundExtension[],
  { configFile }: Where,
  place: ProjectPlace,
): Promise<ReadonlyMap<string, readonly ExtensionProblem[]>> {
  const { setup, isConfigured } = await readSetup(place, { configFile })
  // Without the configuration, model aliases are unknown.
  if (!isConfigured) return new Map()
  const workspace = realpathSync(place.cwd)
  const found = all.map(async ({ id, folder, manifest }): Promise<[string, readonly ExtensionProblem[]]> => {
    const path = join(folder, 'manifest.yaml')
    const spot = { place: displayPath(path, workspace) }
    const name = manifest?.agent?.model
    return [id, name === undefined ? [] : await modelProblems(name, { path, spot }, setup)]
  })
  return new Map(await Promise.all(found))
}

/** What it is, by its manifest: code and an agent are its parts. */
export const partsOf = ({ entrypoint, agent, schedules, events }: ExtensionManifest): readonly string[] => [
  ...(entrypoint ? ['code'] : []),
  ...(agent ? [agent.integrationMode === 'handoff' ? 'agent (handoff)' : 'agent'] : []),
  ...(schedules.length > 0 ? ['schedules'] : []),
  ...(events.length > 0 ? ['events'] : []),
]
