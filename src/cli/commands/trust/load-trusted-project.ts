import { type FileState, type LoadProjectOptions, loadProject, type ProjectReport, withImports } from '../../../project/index.ts'
import type { Host } from '../../terminal/process-host.ts'
import { askForTrust } from './trust-question.ts'

interface TrustChoice {
  readonly host: Host
  /** Whether `--trust` was given. */
  readonly isTrusted: boolean
  /** `false`: trust is not stored, so nobody is asked either. */
  readonly storesTrust: boolean
}

/** Reads a project, asks for missing trust, and reads it again if it was given. Does not ask for a project that has errors anyway. */
export async function loadTrustedProject(
  options: LoadProjectOptions,
  { host, isTrusted, storesTrust }: TrustChoice,
): Promise<ProjectReport> {
  const { alsoTrusted = [] } = options
  const read = (more: readonly FileState[], importsModules = true): Promise<ProjectReport> =>
    loadProject({ ...options, alsoTrusted: [...alsoTrusted, ...more], importsModules })
  const first = await loadProject(options)
  const waiting = first.untrusted
  if (waiting.length === 0 || (!isTrusted && !storesTrust)) return first
  // Nothing is imported before a person trusts it.
  const asTrusted = await read(waiting.flatMap(withImports), isTrusted && !storesTrust)
  if (asTrusted.errors.length > 0) return isTrusted ? asTrusted : first
  if (isTrusted && !storesTrust) {
    // The files of hooks are known only once their configuration is trusted.
    const more = asTrusted.untrusted
    return more.length === 0 ? asTrusted : read([...waiting, ...more].flatMap(withImports))
  }
  return (await askForTrust(waiting, first.setup, { host, isGiven: isTrusted })) === 'given' ? first.reload() : first
}
