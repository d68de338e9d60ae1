import { dirname, join } from 'node:path'
import { type LayerName, layerNames } from './sourced.ts'

/** The places of configurations, as absolute paths. */
export interface ConfigPlaces {
  /** The file of `--config`. It must exist. */
  readonly given?: string
  readonly workingDirectory: string
  /** The folder of the agent file. */
  readonly agentDirectory?: string
  /** `~/.ai-agent`. */
  readonly userFolder: string
  /** `/etc/ai-agent`. */
  readonly systemFolder: string
}

/** `settings`: `.ai-agent.json`; `servers`: `.mcp.json`; `variables`: `.ai-agent.env`. */
export type FileRole = 'settings' | 'servers' | 'variables'

export interface ConfigFile {
  readonly path: string
  readonly role: FileRole
  readonly layer: LayerName
  readonly isRequired: boolean
}

/** Layers of the user or the machine. The others come with a folder that may have been cloned. */
export const isOwnLayer = (layer: LayerName): boolean => layer === 'given' || layer === 'user' || layer === 'system'

/** All files, strongest first. A file of two layers belongs to the one that needs no trust, such as that of `--config`. */
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

/** The variables of `lab.json` are in `lab.env`. */
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

/** Paths in a file of the configuration are relative to its folder. */
export const folderOf = ({ file }: { readonly file: string }): string => dirname(file)
