import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { extensionError } from '../shared/extension-failure.ts'
import type { ExtensionManifest } from '../shared/kernel-types.ts'

/** `main:Class` means `main.js`, else `main.ts`. @throws TroupeError if there is neither. */
export function entryFile(folder: string, { file, className }: NonNullable<ExtensionManifest['entrypoint']>): string {
  const found = [`${file}.js`, `${file}.ts`].map((name) => join(folder, name)).find((path) => existsSync(path))
  if (found !== undefined) return found
  throw extensionError(
    folder,
    `there is neither ${file}.js nor ${file}.ts`,
    `Add the file, or correct \`entrypoint: ${file}:${className}\`.`,
  )
}
