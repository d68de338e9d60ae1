import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { ExtensionProblem } from '../contracts/index.ts'
import {
  dataFolder,
  extensionConfigsOf,
  extensionFolders,
  modelProblems,
  type ProjectPlace,
  projectRecords,
  type ReadSetup,
  readSetup,
  sessionPlace,
  trustPlaceOf,
  withSessions,
} from '../project/index.ts'
import { type ExtensionSettings, readExtensionSettings } from './extension-settings.ts'
import { type KernelReport, readKernelReport } from './kernel-status.ts'
import { untrustedProblem } from './loader/extension-trust.ts'
import { displayPath, findExtensions, isUnreadable } from './loader/find-extensions.ts'
import { orderExtensions } from './loader/load-order.ts'
import { sandboxAt } from './project-extensions.ts'
import type { ExtensionManifest, FoundExtension } from './shared/kernel-types.ts'
import { type Quarantined, readSupervisorState, supervisorFolder } from './supervisor/index.ts'

/** `running`, `failed`: in the kernel that runs. `ready`: the next start loads it. */
export type ReadyState = 'running' | 'failed' | 'ready' | 'disabled' | 'invalid' | 'quarantined' | 'untrusted'

/** What is known of an extension without running its code. */
export interface InspectedExtension {
  readonly found: FoundExtension
  readonly settings: ExtensionSettings
  readonly state: ReadyState
  /** Where it would run. An agent without code runs in the kernel. */
  readonly runs: 'kernel' | 'sandbox' | 'nowhere'
  readonly quarantined?: Quarantined
  readonly problems: readonly ExtensionProblem[]
  /** Those of `problems` that a kernel has reported: the one that runs, or the last one. */
  readonly reported: readonly ExtensionProblem[]
  /** Those because of which a part of it does not work. Of one that is disabled: none. */
  readonly errors: readonly ExtensionProblem[]
}

interface Stored {
  readonly settings: ReadonlyMap<string, ExtensionSettings>
  readonly kernel: KernelReport | undefined
}

const nothingStored: Stored = { settings: new Map(), kernel: undefined }

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
  const read = await readSetup(place, { configFile: where.configFile })
  const configs = extensionConfigsOf(read.setup)
  const all = await findExtensions({ places: extensionFolders(place), workspace, trusted, configs })
  const { settings, kernel } = await withSessions(await sessionPlace(where, place), nothingStored, async (store) => {
    const records = projectRecords(store.records, workspace)
    return { settings: await readExtensionSettings(records), kernel: await readKernelReport(records, Date.now()) }
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
  const models = await wrongModels(all, place, read)
  const stateOf = (found: FoundExtension, isMisplaced: boolean, isHeld: boolean): ReadyState => {
    if (!isOn(found)) return 'disabled'
    if (!found.manifest || isMisplaced || isUnreadable(found)) return 'invalid'
    if (isHeld) return 'quarantined'
    return found.trusted || hasSandbox ? 'ready' : 'untrusted'
  }
  return all.map((found) => {
    const held = quarantined.find(({ id, hash }) => id === found.id && hash === found.hash)
    const misplaced = order.get(found.id) ?? []
    const unknown = models.get(found.id) ?? []
    const state = stateOf(found, misplaced.length > 0, held !== undefined)
    const problems = [...found.problems, ...misplaced, ...unknown, ...(state === 'untrusted' ? [untrustedProblem(found)] : [])]
    const reported = state === 'ready' ? reportedBy(kernel, found, problems) : []
    return {
      found,
      settings: settings.get(found.id) ?? {},
      state: state !== 'ready' ? state : unknown.length > 0 ? 'invalid' : stateIn(kernel, found),
      // An agent without its model costs nothing else.
      runs:
        state !== 'ready' || stateIn(kernel, found) === 'failed'
          ? 'nowhere'
          : found.trusted || !found.manifest?.entrypoint
            ? 'kernel'
            : 'sandbox',
      ...(held && { quarantined: held }),
      problems: [...problems, ...reported],
      reported,
      errors: isOn(found) ? [...misplaced, ...unknown] : [],
    }
  })
}

/** What the kernel knows of this content. */
const recordedOf = (kernel: KernelReport | undefined, { id, hash }: FoundExtension): KernelReport['extensions'][number] | undefined =>
  kernel?.extensions.find((each) => each.id === id && each.hash === hash)

function stateIn(kernel: KernelReport | undefined, found: FoundExtension): ReadyState {
  const state = kernel?.isRunning ? recordedOf(kernel, found)?.state : undefined
  return state === 'running' || state === 'failed' ? state : 'ready'
}

/** Without those that are known. Of the last kernel with their time. */
function reportedBy(
  kernel: KernelReport | undefined,
  found: FoundExtension,
  known: readonly ExtensionProblem[],
): readonly ExtensionProblem[] {
  const recorded = recordedOf(kernel, found)
  if (!recorded || (recorded.state !== 'running' && recorded.state !== 'failed')) return []
  const news = recorded.problems.filter(({ message }) => !known.some((each) => message.endsWith(each.message)))
  const time = new Date(recorded.at).toISOString()
  return kernel?.isRunning ? news : news.map((each) => ({ ...each, message: `${each.message} (in the last run, at ${time})` }))
}

/** Models of agents that no key and no server would make usable, by extension. */
async function wrongModels(
  all: readonly FoundExtension[],
  place: ProjectPlace,
  { setup, isConfigured }: ReadSetup,
): Promise<ReadonlyMap<string, readonly ExtensionProblem[]>> {
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
