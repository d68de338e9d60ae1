import { dirname, join } from 'node:path'
import { type LayerName, layerNames } from './sourced.ts'

/** Where configurations may stand; absolute paths. */
export interface ConfigPlaces {
  /** The file behind `--config`. It must be there. */
  readonly given?: string
  readonly workingDirectory: string
  /** The folder of the agent file. */
  readonly agentDirectory?: string
  /** `~/.ai-agent`. */
  readonly userFolder: string
  /** `/etc/ai-agent`. */
  readonly systemFolder: string
}

/** `settings`: `.ai-agent.json`; `servers`: `.mcp.json`, other programs' file; `variables`: `.ai-agent.env`. */
export type FileRole = 'settings' | 'servers' | 'variables'

export interface ConfigFile {
  readonly path: string
  readonly role: FileRole
  readonly layer: LayerName
  readonly isRequired: boolean
}

/** Whose layers are a person's own doing; the others come with a folder that somebody may have cloned. */
export const isOwnLayer = (layer: LayerName): boolean => layer === 'given' || layer === 'user' || layer === 'system'

/**
 * Every file that is looked for, strongest first. A file that two layers share belongs to the one that needs no trust, and
 * is read once: who names `./.ai-agent.json` by hand, or works in `~/.ai-agent`, is not asked about it.
 */
export function configFiles(places: ConfigPlaces): readonly ConfigFile[] {
  const claimed = new Set<string>()
  const owned = new Map<LayerName, readonly ConfigFile[]>()
  for (const layer of layerNames.toSorted((a, b) => Number(isOwnLayer(b)) - Number(isOwnLayer(a)))) {
    const files = filesOf(layer, places).filter(({ path }) => !claimed.has(path))
    for (const { path } of files) claimed.add(path)
    owned.set(layer, files)
  }
  return layerNames.flatMap((layer) => owned.get(layer) ?? [])
}

function filesOf(layer: LayerName, places: ConfigPlaces): readonly ConfigFile[] {
  switch (layer) {
    case 'given':
      return places.given === undefined ? [] : givenFiles(places.given)
    case 'project':
      return folderFiles(layer, places.workingDirectory)
    case 'agent':
      return places.agentDirectory === undefined ? [] : folderFiles(layer, places.agentDirectory)
    case 'user':
      return folderFiles(layer, places.userFolder)
    case 'system':
      return folderFiles(layer, places.systemFolder)
    default:
      return layer satisfies never
  }
}

/** The variables of `lab.json` stand in `lab.env`. No other file was named, so none is read. */
function givenFiles(path: string): readonly ConfigFile[] {
  return [
    { path, role: 'settings', layer: 'given', isRequired: true },
    { path: `${path.replace(/\.json$/i, '')}.env`, role: 'variables', layer: 'given', isRequired: false },
  ]
}

function folderFiles(layer: LayerName, folder: string): readonly ConfigFile[] {
  return [
    { path: join(folder, '.ai-agent.json'), role: 'settings', layer, isRequired: false },
    { path: join(folder, '.mcp.json'), role: 'servers', layer, isRequired: false },
    { path: join(folder, '.ai-agent.env'), role: 'variables', layer, isRequired: false },
  ]
}

/** What relative paths in a file of the configuration are relative to. */
export const folderOf = ({ file }: { readonly file: string }): string => dirname(file)
