import type { Severity } from '../../contracts/index.ts'
import type { ConfigFile } from './config-places.ts'
import type { EnvVariable } from './files/env-file.ts'
import { type SectionName, sectionOf } from './sections.ts'
import { type LayerName, mergeAll, type Sourced, sourcedAt } from './sourced.ts'
import type { FileState, TrustStatus } from './trust/trust-records.ts'

/** One layer, with what of it counts. */
export interface Layer {
  readonly name: LayerName
  readonly settings: Sourced | undefined
  readonly variables: readonly VariableFile[]
}

/** A `.env` file that was looked for. */
export interface VariableFile {
  readonly file: ConfigFile
  readonly state: 'read' | 'absent' | 'untrusted'
  /** Empty unless it was read. */
  readonly values: ReadonlyMap<string, EnvVariable>
}

/** A file with parts that wait for a person's trust. */
export interface PendingFile extends FileState {
  readonly kind: 'configuration' | 'variables' | 'program of a hook'
  readonly status: Exclude<TrustStatus, 'trusted'>
  /** `providers`, `models.fast`, `variables LAB_URL, LAB_KEY`. */
  readonly withheld: readonly string[]
  /** What each of them says, in the same order; of variables only addresses. */
  readonly contents: readonly (readonly string[])[]
  /** More waits than is named. */
  readonly isPartial?: true
}

/** A file with settings that is there. */
export interface SettingsFile {
  readonly path: string
  /** Whether it is a person's own, or trusted as it is. */
  readonly isTrusted: boolean
}

/** Everything that counts, and what does not and why. */
export interface Config {
  /** Strongest first. */
  readonly layers: readonly Layer[]
  /** Strongest first. */
  readonly files: readonly SettingsFile[]
  /** Folders in which whatever lies is a person's own: `~/.ai-agent`, `/etc/ai-agent`. */
  readonly ownFolders: readonly string[]
  readonly pending: readonly PendingFile[]
  readonly diagnostics: readonly ConfigDiagnostic[]
}

/** A section over all layers, each value from the strongest that has it. Not for sections in which every layer has a say. */
export function settingsOf(config: Config, section: SectionName): Sourced | undefined {
  if (sectionOf(section).merge === 'by-layer') return undefined
  return mergeAll(sectionByLayer(config, section))
}

/** What each layer that has the section says in it, strongest first. */
export function sectionByLayer({ layers }: Config, section: SectionName): readonly Sourced[] {
  return layers.flatMap(({ settings }) => sourcedAt(settings, [section]) ?? [])
}

/** A text of the configuration, as it is written. */
export function configuredText(config: Config, [section, ...path]: readonly [SectionName, ...string[]]): string | undefined {
  const found = sourcedAt(settingsOf(config, section), path)
  return found?.kind === 'value' && typeof found.value === 'string' ? found.value : undefined
}

/** Whether a file of settings is a person's own, or trusted as it is. */
export const isTrustedFile = ({ files }: Config, path: string): boolean => files.some((file) => file.path === path && file.isTrusted)

/** Something about the configuration that a person should know, though it stops nothing. */
export interface ConfigDiagnostic {
  readonly code:
    | 'config_untrusted'
    | 'config_section_unused'
    | 'config_key_unused'
    | 'config_rule_idle'
    | 'config_part_missing'
    | 'config_not_read'
    | 'provider_left_out'
    | 'variable_unused'
  readonly severity: Severity
  /** `file:line:col`, a file, or a variable. */
  readonly place: string
  readonly message: string
  readonly remedy: string
}
