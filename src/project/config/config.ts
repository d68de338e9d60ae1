import type { Severity } from '../../contracts/index.ts'
import type { ConfigFile } from './config-places.ts'
import type { EnvVariable } from './files/env-file.ts'
import { type SectionName, sectionOf } from './sections.ts'
import { type LayerName, mergeAll, type Sourced, sourcedAt } from './sourced.ts'
import type { FileState, TrustStatus } from './trust/trust-records.ts'

/** One layer, with the parts that take effect. */
export interface Layer {
  readonly name: LayerName
  readonly settings: Sourced | undefined
  readonly variables: readonly VariableFile[]
}

/** A `.env` file of a layer. */
export interface VariableFile {
  readonly file: ConfigFile
  readonly state: 'read' | 'absent' | 'untrusted'
  /** Empty unless it was read. */
  readonly values: ReadonlyMap<string, EnvVariable>
}

/** A file with parts that take effect only after a person trusts it. */
export interface PendingFile extends FileState {
  readonly kind: 'configuration' | 'variables' | 'program of a hook' | 'OpenAPI document'
  readonly status: Exclude<TrustStatus, 'trusted'>
  /** The names of these parts: `providers`, `models.fast`, `variables LAB_URL, LAB_KEY`. */
  readonly withheld: readonly string[]
  /** The contents of each part, in the same order; of variables only addresses. */
  readonly contents: readonly (readonly string[])[]
  /** True if `withheld` does not name all of these parts. */
  readonly isPartial?: true
}

/** A file with settings that exists. */
export interface SettingsFile {
  readonly path: string
  /** Whether it belongs to the user, or is trusted in its current form. */
  readonly isTrusted: boolean
}

/** The effective configuration, and what was left out and why. */
export interface Config {
  /** Strongest first. */
  readonly layers: readonly Layer[]
  /** Strongest first. */
  readonly files: readonly SettingsFile[]
  /** Folders whose files all belong to the user or the machine: `~/.ai-agent`, `/etc/ai-agent`. */
  readonly ownFolders: readonly string[]
  readonly pending: readonly PendingFile[]
  /** `mcpServers` of files that nobody has trusted, strongest first. */
  readonly withheldServers?: readonly Sourced[]
  readonly diagnostics: readonly ConfigDiagnostic[]
}

/** A finding about the configuration that stops nothing. */
export interface ConfigDiagnostic {
  readonly code:
    | 'config_untrusted'
    | 'config_key_unused'
    | 'config_rule_idle'
    | 'config_part_missing'
    | 'config_not_read'
    | 'provider_left_out'
    | 'server_left_out'
    | 'variable_unused'
  readonly severity: Severity
  /** `file:line:col`, a file, or a variable. */
  readonly place: string
  readonly message: string
  readonly remedy: string
}

/** A section merged over all layers. `undefined` for sections that are combined by layer. */
export function settingsOf(config: Config, section: SectionName): Sourced | undefined {
  return sectionOf(section).merge === 'by-layer' ? undefined : mergeAll(sectionByLayer(config, section))
}

/** The section of each layer that has it, strongest first. */
export function sectionByLayer({ layers }: Config, section: SectionName): readonly Sourced[] {
  return layers.flatMap(({ settings }) => sourcedAt(settings, [section]) ?? [])
}

/** A text of the configuration, with its placeholders. */
export function configuredText(config: Config, [section, ...path]: readonly [SectionName, ...string[]]): string | undefined {
  const found = sourcedAt(settingsOf(config, section), path)
  return found?.kind === 'value' && typeof found.value === 'string' ? found.value : undefined
}

export const isTrustedFile = ({ files }: Config, path: string): boolean => files.some((file) => file.path === path && file.isTrusted)
