import { type ExtensionProblem, TroupeError } from '../../contracts/index.ts'
import { lineIn } from '../../tools/modules/index.ts'
import { messageOf } from '../../util/message-of.ts'
import type { FoundExtension } from './kernel-types.ts'

/** An error of an extension at a stage of its life, such as `initialize`, as problems. */
export function problemsOf({ id, folder, manifest }: FoundExtension, stage: string, error: unknown): readonly ExtensionProblem[] {
  if (error instanceof TroupeError && error.problems.length > 0) return error.problems
  const file = manifest?.entrypoint ? `${folder}/${manifest.entrypoint.file}` : folder
  const line = [`${file}.js`, `${file}.ts`].map((path) => lineIn(error, path)).find((text) => text !== '') ?? ''
  const remedy = (error instanceof TroupeError ? error.remedy : undefined) ?? `Fix it. To check it: troupe extensions validate ${id}`
  return [{ place: folder, message: `${stage} failed: ${messageOf(error)}${line}`, remedy }]
}

export const extensionError = (place: string, message: string, remedy: string): TroupeError =>
  new TroupeError('extension_failed', message, { remedy, problems: [{ place, message, remedy }] })
