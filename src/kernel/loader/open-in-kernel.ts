import { pathToFileURL } from 'node:url'
import type { AnyExtension } from '../../contracts/index.ts'
import { lineIn, watchLoading } from '../../tools/modules/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { suggestName } from '../../yaml/messages.ts'
import { entryFile } from '../manifest/entry-file.ts'
import { extensionError } from '../shared/extension-failure.ts'
import type { OpenExtension, SupervisorPort } from '../shared/kernel-types.ts'
import { hashUnchanged } from './hash-folder.ts'

/** Opens trusted extensions inside this process. A file of a project runs only with the content that was trusted. */
export function openInKernel(supervisor: Pick<SupervisorPort, 'enter'>): OpenExtension {
  return async ({ id, folder, source, hash, manifest: { entrypoint } }) => {
    const opened = (instance: AnyExtension) => ({ runs: 'kernel' as const, instance, close: async () => {} })
    if (!entrypoint) return opened({})
    const { className } = entrypoint
    const path = entryFile(folder, entrypoint)
    if (source === 'project') watchLoading([{ files: hashUnchanged({ folder, hash }).files, isConfined: true }])
    const exports: { readonly [name: string]: unknown } = await supervisor
      .enter(id, 'import', () => import(pathToFileURL(path).href))
      .catch((error: unknown) => {
        throw extensionError(path, `it cannot be imported: ${messageOf(error)}${lineIn(error, path)}`, 'Fix the file.')
      })
    const Class = Object.hasOwn(exports, className) ? exports[className] : undefined
    if (typeof Class !== 'function') {
      const others = Object.keys(exports).filter((name) => name !== className)
      const remedy =
        others.length === 0 ? `Write \`export class ${className}\`.` : `It exports: ${others.join(', ')}. ${suggestName(className, others)}`
      throw extensionError(path, `it does not export the class \`${className}\``, remedy)
    }
    try {
      return opened(supervisor.enter(id, 'constructor', () => new (Class as new () => AnyExtension)()))
    } catch (error) {
      throw extensionError(path, `\`new ${className}()\` failed: ${messageOf(error)}${lineIn(error, path)}`, 'Fix the constructor.')
    }
  }
}
